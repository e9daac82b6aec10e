"""``gitrag share`` as a user meets it: what it prints, and how it ends."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.command import Gitrag, Project, as_plain_user, program, user_environment
from tests.support.repository import GitRepository, create_repository
from tests.support.sharing import Person, poisoned, sources


@pytest.fixture(scope="module")
def made(tmp_path_factory, model_dir) -> Path:
    """A place with a bare repository and two clones of it, ``ann``'s embedded and ``bob``'s not."""
    place = tmp_path_factory.mktemp("share")
    environment = user_environment(place / "home", model_dir)
    create_repository(place / "origin.git", environment, bare=True)
    ann = create_repository(place / "ann", environment, sources(0, 10))
    ann.git("remote", "add", "origin", "../origin.git")
    ann.git("push", "--quiet", "origin", "main")
    bob = ann.clone(place / "bob")
    bob.git("remote", "set-url", "origin", "../origin.git")
    for clone in (ann, bob):
        Gitrag(clone.path, environment)("index", "update", "--no-embed")
    Gitrag(ann.path, environment)("index", "embed", "--foreground")
    return place


@pytest.fixture
def project(made, tmp_path, model_dir) -> Project:
    """A clone, embedded, of a bare repository."""
    shutil.copytree(made / "origin.git", tmp_path / "origin.git")
    return copied(made, tmp_path, "ann", user_environment(tmp_path / "home", model_dir))


@pytest.fixture
def bob(made, tmp_path, project) -> Project:
    """Another clone, indexed, without a vector."""
    return copied(made, tmp_path, "bob", project.git.environment)


def copied(made: Path, place: Path, name: str, environment: dict[str, str]) -> Project:
    shutil.copytree(made / name, place / name)
    git = GitRepository(place / name, environment)
    git.git("remote", "set-url", "origin", str(place / "origin.git"))
    return Project(git, Gitrag(git.path, environment | {"GITRAG_SHARE": "git"}))


def test_what_one_has_embedded_the_other_pulls(project, bob):
    at = f"origin ({project.path.with_name('origin.git')})"
    done = bob.gitrag("share", "pull")
    assert (done.status, done.out) == (1, f"No vectors are shared at {at} yet.\n")
    done = project.gitrag("share", "push")
    assert (done.status, done.out) == (0, "Pushed 20 vectors (8.1 kB); 0 were there\n")
    done = bob.gitrag("share", "pull")
    assert done.status == 0
    assert re.fullmatch(
        r"Pulled 20 vectors from 1 pack \([6-9]\.\d kB received; 20 texts computed here and compared\)\n",
        done.out,
    )
    assert bob.gitrag("share", "status").out.splitlines() == [
        f"at       {at}",
        "packs    1 of 20 vectors, 8.1 kB",
        "checked  1 of them: made here, or half of the texts are here and a sample is right",
        "here     0 texts without a vector, 0 of them have one there",
        "pushing  by hand",
    ]
    done = bob.gitrag("share", "verify", "--all")
    assert done.out == "Checked 1 pack of 20 vectors: 20 texts computed here and compared\n"
    assert bob.gitrag("share", "gc").out == "Nothing to tidy up.\n"
    assert bob.gitrag("share", "push").out == "Pushed 0 vectors (0 B); 0 were there\n"
    found = json.loads(bob.gitrag("share", "pull", "--json").out)
    assert (found["texts"], found["left"], found["refused"]) == (0, 0, [])


def test_each_failure_is_one_line_with_its_status(project, tmp_path):
    def fails(status: int, *args: str, share: str = "git") -> str:
        done = project.gitrag("share", *args, env={"GITRAG_SHARE": share})
        assert done.status == status, done
        assert (len(done.said), done.out) == (2, ""), done
        return done.said[0]

    assert fails(78, "push", share="off") == "No vectors are shared: the setting share is off."
    assert fails(78, "pull", share="git:upstream").startswith("The repository has no remote upstream")
    assert fails(78, "push", share=f"file://{tmp_path}/none") == f"There is no directory {tmp_path}/none."
    assert fails(2, "push", share="ftp://host/").startswith('share is "ftp://host/" (GITRAG_SHARE)')
    assert fails(78, "push", share="https://127.0.0.1:9/x") == "https://127.0.0.1:9/x can only be read."
    assert fails(75, "pull", share="https://127.0.0.1:9/x").startswith(
        "https://127.0.0.1:9/x cannot be used: HTTP error: error sending request"
    )
    project.git.git("remote", "set-url", "origin", "https://127.0.0.1:9/x.git")
    assert "unable to access" in fails(75, "pull")
    project.gitrag("index", "remove")
    assert fails(78, "pull").startswith("No gitrag collections found")


def test_a_directory_one_may_not_write_to_is_said(project, tmp_path):
    (tmp_path / "packs").mkdir(mode=0o555)
    done = project.gitrag(
        "share", "push", env={"GITRAG_SHARE": (tmp_path / "packs").as_uri()}, wrapper=as_plain_user()
    )
    assert done.status == 78
    assert done.said[0] == f"Cannot write to {tmp_path}/packs: Permission denied."
    assert list((tmp_path / "packs").iterdir()) == []


def test_damaged_packs_are_named_with_their_origin_and_put_right(project, bob, tmp_path):
    (tmp_path / "packs").mkdir()
    shared = {"GITRAG_SHARE": (tmp_path / "packs").as_uri()}
    project.gitrag("share", "push", env=shared)
    (rows,) = (tmp_path / "packs").glob("*.rows")
    rows.write_bytes(bytes(rows.stat().st_size))
    done = bob.gitrag("share", "pull", env=shared)
    assert done.status == 1
    name = rows.name.removesuffix(".rows")[-12:]
    warning = (
        f"warning: Pack {name} from {tmp_path}/packs is damaged: its vectors are not those that belong to its"
        " keys (fetched 2 times): left out this time."
    )
    hint = "hint: Who has computed its vectors can put it right: gitrag share verify, then share push"
    assert done.said == [warning, hint]
    assert done.out.startswith("Pulled 0 vectors from 0 packs")
    assert bob.gitrag("share", "gc", env=shared).out == "Nothing to tidy up.\n"
    done = project.gitrag("share", "verify", env=shared)
    assert (done.status, done.said) == (1, [warning, hint])
    assert project.gitrag("share", "push", env=shared).out == (
        "Pushed 20 vectors (8.1 kB, 1 damaged pack replaced); 0 were there\n"
    )
    assert bob.gitrag("share", "pull", env=shared).status == 0


def test_packs_that_are_refused_are_named_with_their_origin(project, bob, tmp_path):
    (tmp_path / "packs").mkdir()
    shared = {"GITRAG_SHARE": (tmp_path / "packs").as_uri()}
    mallory = Person(project.git, shared["GITRAG_SHARE"])
    pack = poisoned(mallory, 1.0)
    mallory.put(pack)
    done = bob.gitrag("share", "pull", env=shared)
    name = pack.index.name[-12:]
    assert done.status == 1
    assert re.fullmatch(
        rf"warning: Pack {name} from {tmp_path}/packs has other vectors than the model gives here: of 20"
        r" texts that were compared 20, the worst with a cosine of -?0\.\d\d: refused, nothing of it is"
        r" used\.",
        done.said[0],
    )
    assert done.out.startswith("Pulled 0 vectors from 0 packs")
    assert f"Pack {name} from" in bob.gitrag("share", "status", env=shared).err
    assert bob.gitrag("share", "gc", env=shared).out == "1 refused pack to remove\n"
    assert bob.gitrag("share", "gc", "--apply", env=shared).out == "1 refused pack removed\n"
    assert [path.name for path in (tmp_path / "packs").iterdir()] == ["packs.txt"]


def test_what_is_embedded_in_the_foreground_is_pulled_first(project, bob):
    project.gitrag("share", "push")
    done = bob.gitrag("index", "embed", "--foreground")
    assert done.status == 0
    assert "Pulled 20 vectors from origin" in done.err
    assert done.out.startswith("Embedded 0 texts in")
    eve = project.path.with_name("eve")
    project.git.git("clone", "--quiet", str(project.path.with_name("origin.git")), eve)
    alone = Gitrag(eve, {**project.gitrag.environment, "GITRAG_SHARE": f"file://{eve}/none"})
    alone("index", "update", "--no-embed")
    done = alone("index", "embed", "--foreground")
    assert (done.status, "There is no directory" in done.err) == (0, True), done
    assert done.out.startswith("Embedded 20 texts in"), "what is away keeps nobody from embedding"


@pytest.mark.sweep(keep=1)
@pytest.mark.parametrize("name", ["github.yml", "gitlab.yml"])
def test_the_files_for_ci_push_what_is_new(project, bob, name):
    """Every line of theirs that calls gitrag, in a clone as CI has it, twice."""
    root = Path(__file__).parents[2]
    lines = [line.strip() for line in (root / "docs" / "share" / name).read_text().splitlines()]
    script = [line.removeprefix("- ").removeprefix("run: ") for line in lines if "gitrag " in line]
    script = [line for line in script if line.startswith("gitrag ")]
    assert len(script) == 3
    for turn in range(2):
        clone = project.path.with_name(f"ci{turn}")
        origin = project.path.with_name("origin.git").as_uri()
        project.git.git("clone", "--quiet", "--depth=1", origin, clone)
        bin_ = f"{program(project.gitrag.environment).parent}:{project.gitrag.environment['PATH']}"
        done = subprocess.run(
            ["sh", "-e", "-c", "\n".join(script)],
            cwd=clone,
            env={**project.gitrag.environment, "PATH": bin_},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert f"Pushed {20 * (turn == 0)} vectors" in done.stdout
    assert bob.gitrag("share", "pull").out.startswith("Pulled 20 vectors")


@pytest.mark.parametrize("name", ["github.yml", "gitlab.yml"])
def test_the_files_for_ci_tell_their_token_to_their_own_host_alone(name, tmp_path):
    text = (Path(__file__).parents[2] / "docs" / "share" / name).read_text()
    (lines,) = re.findall(r"( *git config --global .*\\\n.*)\n", text)
    environment = user_environment(tmp_path / "home", tmp_path) | {
        "GITHUB_SERVER_URL": "https://forge.example",
        "GITHUB_TOKEN": "secret",
        "CI_SERVER_PROTOCOL": "https",
        "CI_SERVER_HOST": "forge.example",
        "CI_SERVER_PORT": "443",
        "GITRAG_TOKEN": "secret",
        "GIT_TERMINAL_PROMPT": "0",
    }
    subprocess.run(["sh", "-e", "-c", lines], env=environment, check=True, cwd=tmp_path)

    def told(url: str) -> str:
        asked = f"url={url}\n\n"
        done = subprocess.run(
            ["git", "credential", "fill"],
            input=asked,
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout

    assert "password=secret" in told("https://forge.example/me/project.git")
    for url in (
        "https://evil.example/me/project.git",
        "https://forge.example.evil.example/x",
        "http://forge.example/x",
    ):
        assert "secret" not in told(url)
