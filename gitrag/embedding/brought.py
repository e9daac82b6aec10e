"""A model that the user brings in place of ours: a directory, or the address of a server that has one.

A static model (Model2Vec, https://github.com/MinishLab/model2vec, or sentence-transformers' StaticEmbedding)
has a row for each token, and the mean of a text's rows is its vector: it needs no drafts. A BERT in
safetensors is written as ONNX once; a model in ONNX is run as sentence-transformers says beside it. With
these, and with a server, a text is found by its words alone until it is embedded.

Its vectors become ones of 384, as everything that keeps vectors has them. Where a model has fewer, they are
turned in space, which keeps every cosine, and spreads what there is over all sign bits. Where it has more,
those directions are kept in which vectors of words are longest, and turned so, too: other libraries than ours
may find them in another order or the other way round, and vectors may be shared with who has those.

A server speaks OpenAI's protocol, as others have it too: ``POST …/embeddings``
(https://platform.openai.com/docs/api-reference/embeddings/create). The address is a user's own setting, the
key in the user's environment: no repository says whom texts are sent to.
"""

from __future__ import annotations

import json
import os
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit
from weakref import WeakValueDictionary

from gitrag.embedding.encoder import BATCH, Encoder, batches, cores, encodable, open_tokenizer
from gitrag.embedding.safetensors import read_tensors
from gitrag.embedding.sessions import open_model
from gitrag.embedding.version import (
    MAX_TOKENS,
    TABLE,
    encoder_version,
    is_address,
    own_cache,
    require_unchanged,
)
from gitrag.errors import ModelError
from gitrag.late import np
from gitrag.machine.files import replace
from gitrag.machine.receiving import ASKED_ENCODING, ReceivingError, opened, received, retrying
from gitrag.model import DIMENSIONS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
    Raw = Callable[[str], Vectors]
    "Returns a text's vector as the model has it."

MOST_DIMENSIONS = 8_192
"""More than models have: to find directions takes the cube of their number."""

_SAMPLE = 1_024
"""Words whose vectors say which directions of a large model are kept; at most a row of a static one each."""


def fitted(vectors: Vectors, fit: Vectors) -> Vectors:
    """Return vectors (n, dimensions) as ones of 384, L2-normalised; zeros stay zeros.

    What is not finite becomes zeros: models in float16 overflow at some texts.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        found = vectors @ fit
        lengths = np.sqrt(np.einsum("ij,ij->i", found, found))
        made: Vectors = found / np.maximum(lengths, 1e-12)[:, None]
    made[~np.isfinite(lengths)] = 0
    return made


def sampled(words: Sequence[str]) -> Sequence[str]:
    """Return some words of many, from all over their order."""
    return words[:: max(len(words) // _SAMPLE, 1)][:_SAMPLE]


def fitting(dimensions: int, version: str, sample: Callable[[], Vectors]) -> Vectors:
    """Return the matrix (dimensions, 384) that vectors are fitted by: rows or columns are orthonormal.

    Args:
        version: Of the model, by which the matrix is kept in the user's cache.
        sample: Returns vectors of words, asked where there are too many dimensions.

    Raises:
        ValueError: There are more than `MOST_DIMENSIONS`, or the words' vectors have none that is longest.
    """
    if dimensions <= DIMENSIONS:
        drawn = np.random.default_rng(DIMENSIONS).standard_normal((DIMENSIONS, DIMENSIONS))
        turned: Vectors = np.linalg.qr(drawn)[0][:dimensions].astype(np.float32)
        return turned
    if dimensions > MOST_DIMENSIONS:
        raise ValueError(f"it has {dimensions} dimensions: {MOST_DIMENSIONS} are the most")
    kept = own_cache(f"{version.replace('/', '-')}.f4")
    if kept.is_file() and kept.stat().st_size == 4 * dimensions * DIMENSIONS:
        return np.fromfile(kept, "<f4").reshape(dimensions, DIMENSIONS)
    found = _directions(sample())
    with suppress(OSError):  # it is found again then
        kept.parent.mkdir(parents=True, exist_ok=True)
        replace(kept, found.astype("<f4").tobytes(), 0o600, durable=False)
    return found


def _directions(sample: Vectors) -> Vectors:
    """Return the 384 directions in which vectors (n, dimensions) are longest, turned, as columns."""
    lengths = np.sqrt(np.einsum("ij,ij->i", sample, sample))
    own = sample / np.maximum(lengths, 1e-12)[:, None]
    return _turned(np.linalg.eigh(own.T @ own)[1][:, -DIMENSIONS:])


def _turned(kept: NDArray[Any]) -> Vectors:
    """Return those directions in the same space that are nearest to drawn ones, whichever span it."""
    drawn = np.random.default_rng(DIMENSIONS).standard_normal((len(kept), DIMENSIONS))
    left, _, right = np.linalg.svd(kept.T @ drawn)
    turned: Vectors = (kept @ (left @ right)).astype(np.float32)
    return turned


_ROWS = ("embeddings", "embedding.weight")
"""What the rows of a static model are called in its file: by Model2Vec, by sentence-transformers."""

_STATIC = ("model.safetensors", "0_StaticEmbedding/model.safetensors")
_ONNX = ("onnx/model.onnx", "model.onnx", "onnx/model_quantized.onnx", "model_quantized.onnx")
_WEIGHTS = "model.safetensors"
_MODULES = {"Transformer", "Pooling", "Normalize"}
_STATIC_TOKENS = 512
_MOST_SAMPLED = 20_000
_BYTES_CAP = 1 << 20
_HINT = (
    "It needs tokenizer.json, and model.safetensors of a static model (Model2Vec) or of a BERT with its"
    " config.json, or onnx/model.onnx, which `optimum-cli export onnx` makes of others."
)

_open: WeakValueDictionary[tuple[str, str, int | None], Encoder] = WeakValueDictionary()
"""Those in use: several repositories, and several threads, have one."""

_opening: dict[tuple[str, str, int | None], threading.Lock] = {}
"""One for each: a server that keeps who asks waiting keeps no other model from being opened."""


def load_encoder(
    directory: Path, model: str = "", *, threads: int | None = None, gpu: bool = False
) -> Encoder:
    """Open a model of the user's, else ours in a directory.

    Raises:
        ModelError: It is missing, incomplete, or cannot be opened; its server does not answer.
    """
    return load_own(model, threads) if model else Encoder.load(directory, threads=threads, gpu=gpu)


def load_own(model: str, threads: int | None = None) -> Encoder:
    """Open a model of the user's, once for all that use it; errors as in `load_encoder`."""
    key = model, encoder_version(model), threads
    with _opening.setdefault(key, threading.Lock()):
        found = _open.get(key)
        if found is None:
            found = _open[key] = Served(model) if is_address(model) else Brought(model, threads)
        return found


def static_encoder(model: str) -> Encoder | None:
    """Open a model that is static, and so may draft; None where it is not, or cannot be opened."""
    with suppress(ModelError):
        if not is_address(model) and is_static(Path(model)):
            return load_own(model, 1)
    return None


def is_static(directory: Path) -> bool:
    """Tell whether a directory has a static model."""
    return _rows_of(directory) is not None


class Brought(Encoder):
    """The model of a directory."""

    def __init__(self, model: str, threads: int | None = None) -> None:
        self.model = model
        directory = Path(model)
        require_unchanged(model)
        rows = _rows_of(directory)
        try:
            if rows is not None:
                tokenizer = open_tokenizer(_tokenizer_of(directory), _STATIC_TOKENS)
                self._raw, dimensions = _static(tokenizer, rows)
            else:
                graph = _graph_of(directory, encoder_version(model))
                most = _read(directory / "config.json").get("max_position_embeddings") or MAX_TOKENS
                tokenizer = open_tokenizer(_tokenizer_of(directory), min(int(most), MAX_TOKENS))
                self._raw, dimensions = _in_onnx(directory, graph, tokenizer)
            prompts = dict(_read(directory / "config_sentence_transformers.json").get("prompts") or {})

            def sample() -> Vectors:
                if rows is not None:
                    table = next(rows[name] for name in _ROWS if name in rows)
                    return table[:: max(len(table) // _MOST_SAMPLED, 1)].astype(np.float32)
                words = sorted(word for word in tokenizer.get_vocab() if word.isalpha())
                return np.stack([self._raw(word) for word in sampled(words)])

            self._fit = fitting(dimensions, encoder_version(model), sample)
            require_unchanged(model)  # nor while it was read
        except ModelError as error:  # its hint is about ours
            raise ModelError(str(error), _HINT) from error
        except Exception as error:  # onnxruntime's have no common base class
            raise ModelError(f"The model in {directory} cannot be read: {error}.", _HINT) from error
        self._query = str(prompts.get("query") or "")
        self._document = str(prompts.get("document") or prompts.get("passage") or "")
        super().__init__(tokenizer, self, 1 if rows else threads or cores(), on_gpu=False)

    def encode_query(self, text: str) -> Vectors:
        """As of ours, behind what the model wants before a question."""
        return super().encode_query(self._query + text)

    def encode_batches(self, texts: Iterable[str], *, size: int = BATCH) -> Iterator[Vectors]:
        """As of ours, behind what the model wants before a text."""
        return super().encode_batches((self._document + text for text in texts), size=size)

    def _encode_one(self, text: str) -> Vectors:
        try:
            vector: Vectors = fitted(self._raw(encodable(text))[None], self._fit)[0]
        except MemoryError:
            raise
        except Exception as error:  # onnxruntime's have no common base class
            said = f"The model in {self.model} cannot be run: {error}."
            raise ModelError(said, _HINT, of_text=True) from error
        return vector


def _graph_of(directory: Path, version: str) -> Path:
    """Return the ONNX graph of a model: its own, or the one that is made of a BERT's weights, and kept.

    Raises:
        ModelError: It has none, or it is none that can be run.
        ValueError: What is beside it asks for what cannot be done.
    """
    modules = _read(directory / "modules.json", list)
    if further := [
        name for each in modules if (name := str(each["type"]).rpartition(".")[2]) not in _MODULES
    ]:
        raise ValueError(f"it has a layer of kind {further[0]}")
    for name in _ONNX:
        if (directory / name).is_file():
            return directory / name
    config = _read(directory / "config.json")
    if not (directory / _WEIGHTS).is_file() or config.get("model_type") != "bert":
        raise ModelError(f"{directory} has no model that gitrag can run.")
    for key, wanted in (("hidden_act", "gelu"), ("position_embedding_type", "absolute")):
        if config.get(key, wanted) != wanted:
            raise ValueError(f"{key} in config.json is {config[key]}, not {wanted}")
    kept = own_cache(f"{version.replace('/', '-')}.onnx")
    if not kept.is_file():
        from gitrag.embedding.onnx_model import build_states

        layers, heads = int(config["num_hidden_layers"]), int(config["num_attention_heads"])
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
            made = Path(folder) / kept.name
            build_states(
                directory / _WEIGHTS, made, layers, heads, float(config.get("layer_norm_eps", 1e-12))
            )
            made.replace(kept)
    return kept


def _static(tokenizer: Any, tensors: dict[str, NDArray[Any]]) -> tuple[Raw, int]:
    """Return what takes the mean of the rows of a text's tokens, weighted where the model says so."""
    rows = next(tensors[name] for name in _ROWS if name in tensors)
    weights, places = tensors.get("weights"), tensors.get("mapping")
    known = max(tokenizer.get_vocab().values(), default=-1) + 1
    if any(each is not None and (each.ndim != 1 or len(each) < known) for each in (weights, places)):
        raise ValueError(f"its weights or its mapping are not one for each of {known} tokens")
    if places is not None and (places.dtype.kind not in "iu" or places.min(initial=0) < 0):
        raise ValueError("its mapping has negative rows, or none at all")
    unknown = {tokenizer.token_to_id(name) for name in ("[UNK]", "<unk>", "[PAD]")}

    def raw(text: str) -> Vectors:
        tokens = np.array(
            [each for each in tokenizer.encode(text, add_special_tokens=False).ids if each not in unknown],
            np.int64,
        )
        own = tokens if places is None else places[tokens]
        found = rows[own[own < len(rows)]].astype(np.float32)
        if weights is not None:
            found *= weights[tokens[own < len(rows)]].astype(np.float32)[:, None]
        return found.mean(axis=0) if len(found) else np.zeros(rows.shape[1], np.float32)

    return raw, int(rows.shape[1])


def _in_onnx(directory: Path, model: Path, tokenizer: Any) -> tuple[Raw, int]:
    """Return what runs a model, and pools what it says of each token as is said beside it."""
    session = open_model(model)
    inputs = {each.name for each in session.get_inputs()}
    if unknown := inputs - {"input_ids", "attention_mask", "token_type_ids"}:
        raise ValueError(f"it wants {', '.join(sorted(unknown))}")
    outputs = [each.name for each in session.get_outputs()]
    output = "sentence_embedding" if "sentence_embedding" in outputs else outputs[0]
    pooling = _read(directory / "1_Pooling/config.json")
    asked = [key for key, value in pooling.items() if key.startswith("pooling_mode_") and value]
    if asked not in ([], ["pooling_mode_cls_token"], ["pooling_mode_mean_tokens"]):
        raise ValueError("1_Pooling/config.json asks for neither the first token nor the mean alone")
    takes_first = asked == ["pooling_mode_cls_token"]

    def raw(text: str) -> Vectors:
        ids = np.array([tokenizer.encode(text).ids], np.int64)
        given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        found = session.run([output], {name: given[name] for name in inputs})[0][0]
        if found.ndim == 2:
            found = found[0] if takes_first else found.mean(axis=0)
        vector: Vectors = found.astype(np.float32)
        return vector

    first = raw("a")
    if not np.isfinite(first).all():
        raise ValueError("its vectors are no numbers")
    return raw, len(first)


def _rows_of(directory: Path) -> dict[str, NDArray[Any]] | None:
    """Return the tensors of a static model; None where there is none."""
    for name in _STATIC:
        if (directory / name).is_file():
            tensors = read_tensors(directory / name)
            if any(tensors[each].ndim == 2 for each in _ROWS if each in tensors):
                return tensors
    return None


def _tokenizer_of(directory: Path) -> Path:
    places = (directory / "tokenizer.json", directory / "0_StaticEmbedding/tokenizer.json")
    return next((each for each in places if each.is_file()), places[0])


def _read(path: Path, kind: Callable[[], Any] = dict) -> Any:
    """Return an object of JSON, or a list; an empty one where there is no file."""
    if not path.is_file():
        return kind()
    with path.open("rb") as file:
        found = json.loads(file.read(_BYTES_CAP))
    return found if isinstance(found, type(kind())) else kind()


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

_SERVERS_HINT = "gitrag.model names it: git config --global gitrag.model https://host/v1#model"


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
            raise ModelError(said, f"{key}{_SERVERS_HINT}", of_text=status in _OF_A_TEXT) from error
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
            raise ModelError(f"The model at {self._url} does not answer: {why}.", _SERVERS_HINT) from error
        try:
            return _vectors_of(json.loads(content), len(texts), self._dimensions)
        except (KeyError, TypeError, ValueError, IndexError, OverflowError, RecursionError) as error:
            raise ModelError(
                f"{self._url} answered with something else than vectors: {error}.", _SERVERS_HINT
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
