from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from gitrag.chunking import chunk
from gitrag.embedding.encoder import Encoder
from gitrag.embedding.onnx_model import build_fp32
from gitrag.embedding.sessions import has_gpu, onnxruntime
from gitrag.embedding.text import chunk_text
from gitrag.errors import ModelError

PUBLISHED = json.loads((Path(__file__).parents[2] / "fixtures/minilm_vectors.json").read_text("utf-8"))
MODULES = ("argparse", "asyncio/base_events", "http/client", "json/decoder", "shutil", "tarfile", "typing")
READ_BY_THE_PUBLISHED = 256


@pytest.fixture(scope="module")
def texts() -> list[str]:
    """200 chunks of the standard library, evenly spread over seven modules."""
    library = Path(sysconfig.get_path("stdlib"))
    chunks = [
        chunk_text(piece)
        for module in MODULES
        for piece in chunk((library / f"{module}.py").read_bytes(), "python")
    ]
    return [chunks[i * len(chunks) // 200] for i in range(200)]


@pytest.fixture(scope="module")
def encoder(model_dir: Path) -> Iterator[Encoder]:
    with Encoder.load(model_dir, threads=2) as encoder:
        yield encoder


@pytest.fixture(scope="module")
def fp32_session(published_dir: Path, tmp_path_factory: pytest.TempPathFactory):
    return open_fp32(published_dir, tmp_path_factory.mktemp("fp32") / "model.onnx", tuned=True)


def open_fp32(published_dir: Path, path: Path, *, tuned: bool):
    build_fp32(published_dir / "model.safetensors", path, tuned=tuned)
    options = onnxruntime().SessionOptions()
    options.add_session_config_entry(
        "session.intra_op.allow_spinning", "0"
    )  # other tests run beside this one
    return onnxruntime().InferenceSession(path, options, providers=["CPUExecutionProvider"])


def in_fp32(session, directory: Path, max_tokens: int) -> Encoder:
    """The encoder as it runs on a GPU, in padded float32 batches, on the CPU."""
    with Encoder.load(directory, threads=1, max_tokens=max_tokens) as encoder:
        return Encoder(encoder._tokenizer, session, 1, on_gpu=True)


def cosines(a, b):
    return np.einsum("ij,ij->i", a, b)


def test_fp32_before_tuning_equals_the_published_vectors(published_dir, tmp_path, model_dir):
    session = open_fp32(published_dir, tmp_path / "model.onnx", tuned=False)
    fp32 = in_fp32(session, model_dir, READ_BY_THE_PUBLISHED)
    np.testing.assert_allclose(fp32.encode(PUBLISHED["sentences"]), PUBLISHED["vectors"], atol=1e-4)


@pytest.mark.sweep(keep=0)
def test_int8_is_near_fp32_on_code(fp32_session, model_dir, encoder, texts):
    fp32 = in_fp32(fp32_session, model_dir, 128)
    some = sorted(set(texts))[::3]
    found = cosines(encoder.encode(some), fp32.encode(some))
    assert len(some) > 60
    assert found.mean() >= 0.99
    assert found.min() >= 0.97


def test_padding_does_not_count_in_fp32(fp32_session, model_dir):
    fp32 = in_fp32(fp32_session, model_dir, 128)
    together = fp32.encode(["a", "many more words than one " * 9, "three small words"])
    assert cosines(together, np.stack([fp32.encode_query("a")]))[0] > 0.999999


def test_the_card_s_example_is_ordered_as_published(encoder):
    person, very, dog, sunny = encoder.encode(
        [
            "That is a happy person",
            "That is a very happy person",
            "That is a happy dog",
            "Today is a sunny day",
        ]
    )
    assert person @ very > person @ dog > person @ sunny
    # The card shows 0.943, 0.695 and 0.257.
    np.testing.assert_allclose(
        [person @ very, person @ dog, person @ sunny], [0.943, 0.695, 0.257], atol=0.03
    )


def test_a_vector_does_not_depend_on_its_company(model_dir, encoder, texts):
    together = encoder.encode(texts[:8])
    np.testing.assert_array_equal(encoder.encode(texts[:8][::-1])[::-1], together)
    np.testing.assert_array_equal(np.stack([encoder.encode_query(text) for text in texts[:8]]), together)
    with Encoder.load(model_dir, threads=1) as alone:
        np.testing.assert_array_equal(alone.encode(texts[:8]), together)


def test_batches_come_in_order_and_are_read_as_they_are_needed(encoder):
    taken = []

    def words() -> Iterator[str]:
        for number in range(10):
            taken.append(number)
            yield f"word {number}"

    batches = encoder.encode_batches(words(), size=2)
    first = next(batches)
    assert taken == [0, 1, 2, 3]
    rest = list(batches)
    assert [len(batch) for batch in rest] == [2, 2, 2, 2]
    np.testing.assert_array_equal(
        np.concatenate([first, *rest]), encoder.encode([f"word {number}" for number in range(10)])
    )


def test_vectors_are_unit_length_float32(encoder):
    vectors = encoder.encode(["one", "two words", ""])
    assert vectors.dtype == np.float32
    assert vectors.shape == (3, 384)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert encoder.encode_query("one").shape == (384,)


def test_no_texts_give_no_vectors(encoder):
    assert encoder.encode([]).shape == (0, 384)


@pytest.mark.parametrize(
    "text", ["", " \n", "\x00\x01", "caf\udce9/\ud800", "…!?", "数据库连接", "🙂" * 300, "x" * 1_000_000]
)
def test_any_text_has_a_vector(encoder, text):
    assert np.isfinite(encoder.encode_query(text)).all()


def test_words_beyond_the_token_limit_do_not_count(model_dir, encoder):
    start = "word " * 126
    np.testing.assert_array_equal(encoder.encode_query(start + "zebra"), encoder.encode_query(start))
    with Encoder.load(model_dir, threads=1, max_tokens=256) as longer:
        assert longer.encode_query(start + "zebra") @ longer.encode_query(start) < 0.9999


@pytest.mark.skipif(has_gpu(), reason="this onnxruntime has a GPU provider")
def test_without_a_gpu_the_cpu_is_used(model_dir, encoder):
    with Encoder.load(model_dir, threads=2, gpu=True) as loaded:
        assert not loaded.on_gpu
        np.testing.assert_array_equal(loaded.encode_query("a"), encoder.encode_query("a"))


def test_a_model_cut_short_is_refused(model_dir, tmp_path):
    for path in model_dir.glob("*.[jo]*"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "model.int8.bin").write_bytes((model_dir / "model.int8.bin").read_bytes()[:-1])
    with pytest.raises(ModelError, match=r"model\.int8\.bin is damaged") as caught:
        Encoder.load(tmp_path)
    assert "gitrag model fetch" in caught.value.hint


def test_onnxruntime_reports_nothing_and_writes_nothing(model_dir: Path, tmp_path: Path):
    """Left to itself it writes a device's id into the user's cache before it sends anything."""
    held_back_by = {"CI", "ORT_DISABLE_TELEMETRY"}
    env = {name: value for name, value in os.environ.items() if name not in held_back_by}
    caches = {name: str(tmp_path) for name in ("HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME")}
    code = (
        "from pathlib import Path; from gitrag.embedding.encoder import Encoder\n"
        f"with Encoder.load(Path({str(model_dir)!r}), threads=1) as encoder: encoder.encode_query('door')"
    )
    subprocess.run([sys.executable, "-c", code], env=env | caches, check=True)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
