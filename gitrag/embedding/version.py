"""Identify a vector's computation in one string: model, precision, tokens read; likewise a draft's."""

from __future__ import annotations

from typing import Final

WEIGHTS_SHA256: Final = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TOKENIZER_SHA256: Final = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"

MAX_TOKENS: Final = 128
"""Word pieces read of a text, of the 256 the model accepts: code chunks ranked equally well with 64 to 128,
at two to three times the speed."""

GRAPH_VERSION: Final = "int8-2"
"""Raise when the graph or its quantisation changes the vectors."""

ENCODER_VERSION: Final = f"all-MiniLM-L6-v2/{WEIGHTS_SHA256[:8]}/{GRAPH_VERSION}/{MAX_TOKENS}"

DRAFT_VERSION: Final = 2
"""Raise when the table, or its use, changes the drafts."""
