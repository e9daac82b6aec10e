"""The shipped table against the real model and its tokenizer."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer

import gitrag
from gitrag.chunking import chunk, language_of
from gitrag.embedding.draft import MAX_PIECES, TABLE, Drafter, WordPieces
from gitrag.embedding.encoder import Encoder
from gitrag.embedding.safetensors import read_tensors
from gitrag.embedding.text import chunk_text, path_text
from gitrag.errors import ModelError

ROOT = Path(gitrag.__file__).parent
ODD = [
    "",
    " ",
    "日本語のテキスト: 検索インデックスを更新する",
    "Où est la bibliothèque? 图书馆在哪里?",
    "naïve café İstanbul ΣΊΣΥΦΟΣ straße ½ ﬁ 한국어 ไทย हिन्दी",
    "a\u200bb\u00adc\u00a0d\u2028e\ufefff\x00g\x0bh\x7fi\ufffdj",
    "“quoted” \u2013 dash… → arrow \u00d7 😀 emoji\u3000wide",
    "x" * 99 + " " + "x" * 100 + " " + "y" * 101,
    "tabs\tand\r\nlines\x85next",
    "broken \udc80\udcff surrogates",
]


@pytest.fixture(scope="module")
def drafter() -> Drafter:
    return Drafter.load()


@pytest.fixture(scope="module")
def texts() -> list[str]:
    """Some 100 chunks of this package, and paths of it."""
    files = [path for path in sorted(ROOT.rglob("*")) if path.suffix in {".py", ".scm", ".md"}][::4]
    chunks = [
        chunk_text(piece)
        for path in files
        for piece in chunk(path.read_bytes(), language_of(path.name))
        if chunk_text(piece)
    ]
    spread = [chunks[i * len(chunks) // 100] for i in range(100)]
    return spread + [path_text(path.relative_to(ROOT.parent).as_posix()) for path in files[::3]]


def test_pieces_are_the_tokenizers(model_dir, texts):
    tokenizer = Tokenizer.from_file(str(model_dir / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_PIECES + 2)
    pieces = WordPieces(bytes(read_tensors(TABLE)["vocabulary"]).decode().split("\n"))
    for text in [*ODD, *texts]:
        encodable = text.encode("utf-8", "replace").decode("utf-8")
        assert pieces.cut(text, MAX_PIECES) == tokenizer.encode(encodable).ids[1:-1], text


@pytest.mark.sweep(keep=0)  # that they lead to the right files is held by tests/golden/test_own.py
def test_drafts_are_close_to_the_models_vectors(model_dir, drafter, texts):
    with Encoder.load(model_dir, threads=2) as encoder:
        cosines = (drafter.draft(texts) * encoder.encode(texts)).sum(axis=1)
    # Twelve draws of such texts: means .840 to .855, 5th percentiles .722 to .777; of another text .15.
    assert cosines.mean() > 0.82
    assert np.quantile(cosines, 0.05) > 0.66


def test_drafts_have_unit_length_whatever_the_text(drafter):
    drafts = drafter.draft(ODD)
    assert (drafts.shape, drafts.dtype) == ((len(ODD), 384), np.float32)
    np.testing.assert_allclose(np.linalg.norm(drafts, axis=1), 1, atol=1e-5)


def test_nothing_has_the_models_own_vector(model_dir, drafter):
    with Encoder.load(model_dir, threads=1) as encoder:
        np.testing.assert_allclose(drafter.draft([""])[0], encoder.encode_query(""), atol=1e-3)


def test_a_text_has_one_draft_whatever_comes_with_it(drafter, texts):
    together = drafter.draft(texts)
    alone = np.concatenate([drafter.draft([text]) for text in texts])
    np.testing.assert_allclose(alone, together, atol=1e-6)
    np.testing.assert_allclose(drafter.draft(texts[::-1])[::-1], together, atol=1e-6)
    np.testing.assert_array_equal(Drafter.load().draft(texts), together)


def test_no_texts_have_no_drafts(drafter):
    assert drafter.draft([]).shape == (0, 384)


def test_drafting_needs_no_part_of_the_model():
    code = (
        "import sys; from gitrag.embedding.draft import Drafter; Drafter.load().draft(['def f(): pass']);"
        "print(*{'onnxruntime', 'onnx', 'tokenizers', 'scipy', 'torch'} & set(sys.modules))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == ""


def test_a_damaged_table_is_refused(tmp_path):
    (tmp_path / "t").write_bytes(TABLE.read_bytes()[:5_000_000])
    with pytest.raises(ModelError, match="safetensors"):
        Drafter.load(tmp_path / "t")
