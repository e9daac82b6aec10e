"""A model that the user brings in place of ours: a directory with a static model, or with one in ONNX.

A static model (Model2Vec, https://github.com/MinishLab/model2vec, or sentence-transformers' StaticEmbedding)
has a row for each token, and the mean of a text's rows is its vector: it needs no drafts. A model in ONNX is
run as sentence-transformers says beside it; until a text is embedded, only its words are searched for.

Whatever a model's dimensions, its vectors become ones of 384. Where it has fewer, they are turned in space,
which keeps every cosine, and spreads what there is over all sign bits. Where it has more, those directions
are kept in which vectors of its own words are longest, and turned so, too: other libraries than ours may find
them in another order or the other way round, and vectors may be shared with who has those.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gitrag.embedding.encoder import BATCH, Encoder, cores, encodable, open_tokenizer
from gitrag.embedding.safetensors import read_tensors
from gitrag.embedding.sessions import open_model
from gitrag.embedding.version import MAX_TOKENS, chosen, encoder_version
from gitrag.errors import ModelError
from gitrag.late import np
from gitrag.machine.files import replace
from gitrag.model import DIMENSIONS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
    Raw = Callable[[str], Vectors]
    """Returns a text's vector as the model has it."""

_ROWS = ("embeddings", "embedding.weight")
"""What the rows of a static model are called in its file: by Model2Vec, by sentence-transformers."""

_STATIC = ("model.safetensors", "0_StaticEmbedding/model.safetensors")
_ONNX = ("onnx/model.onnx", "model.onnx", "onnx/model_quantized.onnx", "model_quantized.onnx")
_STATIC_TOKENS = 512
_SAMPLE = 1_024
"""Words whose vectors say which directions of a large model are kept; at most a row of a static one each."""

_MOST_SAMPLED = 20_000
_BYTES_CAP = 1 << 20
_HINT = (
    "It needs tokenizer.json, and model.safetensors of a static model (Model2Vec) or onnx/model.onnx, which"
    " `optimum-cli export onnx` makes of others."
)


def load_encoder(directory: Path, *, threads: int | None = None, gpu: bool = False) -> Encoder:
    """Open the model that was chosen, else ours in a directory.

    Raises:
        ModelError: It is missing, incomplete, or cannot be opened.
    """
    if chosen():
        return Brought(Path(chosen()), threads)
    return Encoder.load(directory, threads=threads, gpu=gpu)


def is_static(directory: Path) -> bool:
    """Tell whether a directory has a static model."""
    return _rows_of(directory) is not None


class Brought(Encoder):
    """The model of a directory."""

    def __init__(self, directory: Path, threads: int | None = None) -> None:
        rows = _rows_of(directory)
        models = [directory / name for name in _ONNX if (directory / name).is_file()]
        if rows is None and not models:
            raise ModelError(f"{directory} has no model that gitrag can run.", _HINT)
        try:
            tokenizer = open_tokenizer(_tokenizer_of(directory), _STATIC_TOKENS if rows else MAX_TOKENS)
            if rows is not None:
                self._raw, dimensions = _static(tokenizer, rows)
            else:
                self._raw, dimensions = _in_onnx(directory, models[0], tokenizer)
            prompts = _read(directory / "config_sentence_transformers.json").get("prompts") or {}
            self._fit = self._fitting(dimensions, rows, tokenizer)
        except ModelError as error:  # its hint is about ours
            raise ModelError(str(error), _HINT) from error
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
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
        vector: Vectors = self._raw(encodable(text)) @ self._fit
        length = float(np.sqrt(vector @ vector))
        return vector / max(length, 1e-12)

    def _fitting(self, dimensions: int, rows: dict[str, NDArray[Any]] | None, tokenizer: Any) -> Vectors:
        """Return the matrix (dimensions, 384) that vectors are fitted by: rows or columns are orthonormal."""
        if dimensions <= DIMENSIONS:
            drawn = np.random.default_rng(DIMENSIONS).standard_normal((DIMENSIONS, DIMENSIONS))
            turned: Vectors = np.linalg.qr(drawn)[0][:dimensions].astype(np.float32)
            return turned
        if rows is not None:
            table = next(rows[name] for name in _ROWS if name in rows)
            return _directions(table[:: max(len(table) // _MOST_SAMPLED, 1)].astype(np.float32))
        import platformdirs

        kept = Path(platformdirs.user_cache_dir("gitrag")) / f"{encoder_version().replace('/', '-')}.f4"
        if kept.is_file() and kept.stat().st_size == 4 * dimensions * DIMENSIONS:
            return np.fromfile(kept, "<f4").reshape(dimensions, DIMENSIONS)
        words = sorted(word for word in tokenizer.get_vocab() if word.isalpha())
        sampled = words[:: max(len(words) // _SAMPLE, 1)][:_SAMPLE]
        found = _directions(np.stack([self._raw(word) for word in sampled]))
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


def _static(tokenizer: Any, tensors: dict[str, NDArray[Any]]) -> tuple[Raw, int]:
    """Return what takes the mean of the rows of a text's tokens, weighted where the model says so."""
    rows = next(tensors[name] for name in _ROWS if name in tensors)
    weights, places = tensors.get("weights"), tensors.get("mapping")
    known = tokenizer.get_vocab_size()
    if any(each is not None and (each.ndim != 1 or len(each) < known) for each in (weights, places)):
        raise ValueError(f"its weights or its mapping are not one for each of {known} tokens")
    if places is not None and places.min(initial=0) < 0:
        raise ValueError("its mapping has negative rows")
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
    takes_first = bool(pooling.get("pooling_mode_cls_token"))
    if pooling and not takes_first and not pooling.get("pooling_mode_mean_tokens"):
        raise ValueError("1_Pooling/config.json asks for neither the first token nor the mean")

    def raw(text: str) -> Vectors:
        ids = np.array([tokenizer.encode(text).ids], np.int64)
        given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        found = session.run([output], {name: given[name] for name in inputs})[0][0]
        if found.ndim == 2:
            found = found[0] if takes_first else found.mean(axis=0)
        vector: Vectors = found.astype(np.float32)
        return vector

    return raw, len(raw("a"))


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


def _read(path: Path) -> dict[str, Any]:
    """Return an object of JSON; an empty one where there is no file."""
    if not path.is_file():
        return {}
    with path.open("rb") as file:
        found = json.loads(file.read(_BYTES_CAP))
    return found if isinstance(found, dict) else {}
