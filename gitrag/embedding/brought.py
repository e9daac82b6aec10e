"""A model that the user brings in place of ours: a directory, or the address of a server that has one.

A static model (Model2Vec, https://github.com/MinishLab/model2vec, or sentence-transformers' StaticEmbedding)
has a row for each token, and the mean of a text's rows is its vector: it needs no drafts. A BERT in
safetensors is written as ONNX once; a model in ONNX is run as sentence-transformers says beside it. With
these, and with a server (`gitrag/embedding/served.py`), a text is found by its words alone until it is
embedded. Its vectors become ones of 384 (`gitrag/embedding/fitting.py`).
"""

from __future__ import annotations

import json
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from gitrag.embedding.encoder import BATCH, Encoder, cores, encodable, open_tokenizer
from gitrag.embedding.fitting import fitted, fitting, sampled
from gitrag.embedding.safetensors import read_tensors
from gitrag.embedding.sessions import open_model
from gitrag.embedding.version import MAX_TOKENS, encoder_version, is_address, own_cache, require_unchanged
from gitrag.errors import ModelError
from gitrag.late import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
    Raw = Callable[[str], Vectors]
    """Returns a text's vector as the model has it."""

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
    from gitrag.embedding.served import Served

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
