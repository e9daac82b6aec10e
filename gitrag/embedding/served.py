"""The model of a server that speaks OpenAI's protocol: ``POST …/embeddings``.

https://platform.openai.com/docs/api-reference/embeddings/create; other servers have it too.
The address is a user's own setting, the key in the user's environment: no repository says whom texts are sent
to.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from gitrag.embedding.encoder import BATCH, Encoder, batches, encodable
from gitrag.embedding.fitting import MOST_DIMENSIONS, fitted, fitting, sampled
from gitrag.embedding.safetensors import read_tensors
from gitrag.embedding.version import TABLE, encoder_version
from gitrag.errors import ModelError
from gitrag.late import np
from gitrag.machine.receiving import ASKED_ENCODING, ReceivingError, opened, received, retrying

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

KEY_VARIABLE: Final = "GITRAG_MODEL_KEY"
"""Has what the server wants as ``Authorization: Bearer``; there is no setting for it."""

_CONNECT_TIMEOUT_S = 5.0
_READ_TIMEOUT_S = 60.0
_REFUSED = frozenset({401, 403})
_OF_A_TEXT = frozenset({400, 413, 422})
"""What servers answer where a text is too long for the model."""

_ANSWER_BYTES = 1024 * 1024
"""Largest answer for each text: 4,096 numbers are 90 kB."""

_SAID_CHARACTERS = 200
_LARGEST = 1e9
"""No number of a vector is as large, and none that is smaller has an infinite square in float32."""

_HINT = "gitrag.model names it: git config --global gitrag.model https://host/v1#model"


class Served(Encoder):
    """The model at an address, ``https://host/v1#name-of-the-model``; asked once when it is opened."""

    def __init__(self, model: str) -> None:
        self.model = model
        address, _, self._name = model.partition("#")
        self._url = f"{address}{'' if urlsplit(address).path else '/v1'}/embeddings"
        self._headers = {"Accept-Encoding": ASKED_ENCODING}
        self._key = os.environ.get(KEY_VARIABLE, "").strip()
        if self._key:
            self._headers["Authorization"] = f"Bearer {self._key}"
        if not (self._key.isascii() and self._key.isprintable()):  # an error about a header would show it
            raise ModelError(f"{KEY_VARIABLE} has a character that no key has.")
        self._asking = threading.Lock()  # its own: while it waits for its server, other models answer
        self._dimensions = 0
        self._dimensions = self._vectors(["a"]).shape[1]
        self._fit = fitting(self._dimensions, encoder_version(model), self._sample)
        super().__init__(None, self, 1, on_gpu=False)

    def encode_batches(self, texts: Iterable[str], *, size: int = BATCH) -> Iterator[Vectors]:
        """As of ours, a request for each batch."""
        for batch in batches(texts, size):
            yield fitted(self._vectors(batch), self._fit)

    def _encode_one(self, text: str) -> Vectors:
        vector: Vectors = self.encode([text])[0]
        return vector

    def _sample(self) -> Vectors:
        """Return the vectors of words: the pieces of our vocabulary, for a server does not show its own."""
        pieces = bytes(read_tensors(TABLE)["vocabulary"]).decode().split("\n")
        words = sampled(sorted(piece for piece in pieces if piece.isalpha()))
        found: Vectors = np.concatenate([self._vectors(batch) for batch in batches(words, BATCH)])
        return found

    def _vectors(self, texts: Sequence[str]) -> Vectors:
        """Ask for the vectors of texts, float32 (n, dimensions); what may pass is asked three times."""
        import httpx2

        body = {"model": self._name, "input": [encodable(text) or "-" for text in texts]}
        try:
            content = retrying()(self._ask, {**body, "encoding_format": "float"})
        except httpx2.HTTPStatusError as error:
            status = error.response.status_code
            key = f"{KEY_VARIABLE} has its key, where it wants one. " if status in _REFUSED else ""
            said = f"The model at {self._url} {error}."
            raise ModelError(said, f"{key}{_HINT}", of_text=status in _OF_A_TEXT) from error
        except (
            httpx2.HTTPError,
            httpx2.InvalidURL,
            ReceivingError,
            ImportError,
            OSError,
            ValueError,
        ) as error:
            # The last three: a proxy or certificates of the environment that httpx2 cannot use.
            why = str(error) or type(error).__name__
            raise ModelError(f"The model at {self._url} does not answer: {why}.", _HINT) from error
        try:
            return _vectors_of(json.loads(content), len(texts), self._dimensions)
        except (KeyError, TypeError, ValueError, IndexError, OverflowError, RecursionError) as error:
            raise ModelError(
                f"{self._url} answered with something else than vectors: {error}.", _HINT
            ) from error

    def _ask(self, body: dict[str, Any]) -> bytes:
        import httpx2

        timeout = httpx2.Timeout(_READ_TIMEOUT_S, connect=_CONNECT_TIMEOUT_S)
        # A proxy of the environment would have texts and key of what is meant for this machine, in plain.
        by_environment = self._url.startswith("https:")
        with httpx2.Client(headers=self._headers, timeout=timeout, trust_env=by_environment) as client:
            request = client.build_request("POST", self._url, json=body)
            try:
                # A redirect is not followed: whom texts and key are sent to says the setting alone.
                with opened(client, request, follow=False) as response:
                    content = b"".join(received(response, _ANSWER_BYTES * len(body["input"])))
            except httpx2.ReadTimeout as error:  # who asks has waited long enough: it is not asked again
                raise ReceivingError(f"said nothing for {_READ_TIMEOUT_S:g} s") from error
        if not response.is_success:
            what = ": ".join(filter(None, (f"answered {response.status_code}", self._said(content))))
            raise httpx2.HTTPStatusError(what, request=request, response=response)
        return content

    def _said(self, content: bytes) -> str:
        """Return the beginning of what a server says of an error, in one printable line without the key."""
        text = content.decode("utf-8", "replace")
        text = " ".join((text.replace(self._key, "***") if self._key else text)[:_SAID_CHARACTERS].split())
        return "".join(character for character in text if character.isprintable())


def _vectors_of(answer: Any, count: int, dimensions: int) -> Vectors:
    """Read an answer's vectors; ``dimensions`` is 0 where any number will do."""
    rows = sorted(answer["data"], key=lambda row: int(row["index"]))
    found = np.array([row["embedding"] for row in rows], np.float64)
    is_whole = found.size > 0 and bool((np.abs(found) < _LARGEST).all())
    if found.shape != (count, dimensions or min(found.shape[-1], MOST_DIMENSIONS)) or not is_whole:
        raise ValueError(f"{count} vectors of {dimensions or 'some'} numbers were asked for")
    return found.astype(np.float32)
