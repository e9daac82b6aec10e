"""``gitrag doctor``: what it says is wrong, its advice mends."""

from __future__ import annotations

import json
import os
import shlex
import time

from gitrag.machine.locks import FileLock
from tests.support.command import wait_until


def checks(project):
    done = project.gitrag("doctor", "--json")
    found = {check["name"]: check for check in json.loads(done.out)}
    assert done.status == (1 if any(check["state"] == "fail" for check in found.values()) else 0)
    assert all(bool(check["mend"]) == (check["state"] != "ok") for check in found.values())
    return found


def test_following_the_advice_ends_with_nothing_to_mend(project):
    advised = []
    while wrong := [check for check in checks(project).values() if check["state"] != "ok"]:
        command, *args = shlex.split(wrong[0]["mend"])
        advised.append(wrong[0]["mend"])
        assert command == "gitrag"
        assert project.gitrag(*args).status == 0
        wait_until(lambda: not (project.store / "worker.holder").exists(), "the background is to end")
    assert advised[:2] == ["gitrag hooks install", "gitrag index"]
    assert set(advised[2:]) <= {"gitrag index embed --foreground"}


def test_it_is_a_line_a_check(indexed):
    indexed.git.commit({"later.py": "later = 1\n"})
    done = indexed.gitrag("doctor")
    indexed.git.git("reset", "--quiet", "--hard", "HEAD~1")
    assert done.status == 0
    assert "warn  freshness     behind HEAD; the next search catches up\n" in done.out
    assert "                    → gitrag index\n" in done.out
    lines = [line for line in done.out.splitlines() if not line.startswith(" ")]
    assert all(line[:6] in {"ok    ", "warn  ", "fail  "} for line in lines)
    assert [line[6:20].strip() for line in lines] == [
        "git",
        "packages",
        "grammars",
        "manual",
        "repository",
        "hooks",
        "git directory",
        "store",
        "freshness",
        "files",
        "lock",
        "worker",
        "model",
        "agents",
        "disk space",
    ]


def test_a_lock_is_wrong_only_where_it_is_held_for_long(indexed):
    lock = FileLock(indexed.store / "lock")
    assert lock.try_acquire()
    note = {"pid": os.getpid(), "purpose": "tests", "since": time.time()}
    (indexed.store / "lock.holder").write_text(json.dumps(note))
    checked = checks(indexed)["lock"]
    assert checked["state"] == "ok"
    assert checked["message"] == f"held by process {os.getpid()} (tests) at this moment; others wait for it"
    (indexed.store / "lock.holder").write_text(json.dumps(note | {"since": time.time() - 3600}))
    checked = checks(indexed)["lock"]
    assert (checked["state"], checked["mend"].split("   ")[0]) == ("warn", f"kill {os.getpid()}")
    lock.release()
    (indexed.store / "lock.holder").unlink()
    assert checks(indexed)["lock"]["message"] == "free"
