"""git runs nothing for gitrag that only the repository's own configuration names, and shows no file."""

from __future__ import annotations

import json
import os
import re
import subprocess
from fnmatch import fnmatch
from pathlib import Path

import pytest

from gitrag.git import Repository, configuration
from gitrag.git.untracked import Untracked
from gitrag.machine.environment import safe_environment
from tests.support.command import Gitrag, Project, user_environment
from tests.support.repository import GitRepository, create_repository
from tests.support.traces import A_FEW, EXPECTED, THE_OTHERS, Traces, run_everything

ATTRIBUTES = "* filter=evil diff=evil merge=evil\n*.py filter=\n"
FILES = {
    ".gitattributes": ATTRIBUTES,
    "client.py": "def retry_with_backoff():\n    '''Retry.'''\n",
    "docs/adrs/ADR-0001-retry.md": "# ADR-0001: Retry with backoff\n\n## Decision\n\nCalls are retried.\n",
}

RUN = {
    "alias": ["alias.status", "alias.log", "alias.config", "alias.grep"],
    "credential": ["credential.helper", "credential.https://github.com.helper", "credential..helper"],
    "diff": ["diff.external", "diff.evil.command", "diff.evil.textconv"],
    "editor": ["core.editor", "sequence.editor"],
    "filter": ["filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "filter..clean"],
    "gpg": ["gpg.program", "gpg.openpgp.program", "gpg.ssh.program", "gpg.ssh.defaultKeyCommand"],
    "hook": ["hook.evil.command"],
    "merge": ["merge.evil.driver", "mergetool.evil.cmd", "difftool.evil.cmd"],
    "monitor": ["core.fsmonitor"],
    "pager": [
        "core.pager",
        "pager.status",
        "pager.log",
        "pager.grep",
        "pager.diff",
        "interactive.diffFilter",
    ],
    "transport": ["core.sshCommand", "core.gitProxy", "core.askPass", "core.alternateRefsCommand"],
    "upload": ["remote.origin.uploadpack", "remote.origin.receivepack", "uploadpack.packObjectsHook"],
    "other": ["trailer.evil.command", "trailer.evil.cmd", "tar.evil.command", "browser.evil.cmd"],
    "recent": ["gc.recentObjectsHook"],
}
"""What git runs when it is configured, by kind."""

BESIDE = {
    "filter.evil.required": "true",
    "hook.evil.event": "post-index-change",
    "log.showSignature": "true",
    "diff.evil.cachetextconv": "false",
    "gpg.format": "openpgp",
    "remote.origin.url": "ext::{command}",
    "remote.origin.promisor": "true",
    "remote.origin.vcs": "evil",
    "remote.origin.fetch": "+refs/heads/*:refs/remotes/origin/*",
    "protocol.allow": "always",
    "submodule.recurse": "true",
    "status.submoduleSummary": "true",
}
"""What has to be set for some of them to be run."""


READ = (
    *("blame.ignoreRevsFile", "diff.orderFile", "mailmap.file", "commit.template", "init.templateDir"),
    *("core.attributesFile", "core.excludesFile", "gpg.ssh.allowedSignersFile", "gpg.ssh.revocationFile"),
    *("fsck.skipList", "fetch.fsck.skipList", "format.signatureFile", "http.sslCAInfo", "http.cookieFile"),
)
"""What git reads when it is configured."""

ASKED = (
    *(("status",), ("search", "retry"), ("why", "client.py:1"), ("impact", "HEAD^!")),
    *(("history", "first"), ("related", "--diff", "HEAD")),
)
"""Commands that have git compare, blame, list and look for what is ignored."""

NAMES_A_PLACE = re.compile(
    r"(?!advice\.|color\.|column\.|core\.quotePath|credential\.useHttpPath|fsck\.git).*"
    r"(file|path|dir|template|program|command|cmd|hook|driver|helper|tool|pager|editor|browser|viewer|external"
    r"|textconv|clean|smudge|process|worktree|skiplist|cert|key|cainfo|target|proxy|uri|vcs|askpass|fsmonitor"
    r"|uploadpack|receivepack|httpd|tunnel)",
    re.IGNORECASE,
)
"""Keys whose names say so; these families only sound like it."""


def set_all(git: GitRepository, traces: Traces, *where: str) -> None:
    for kind, keys in RUN.items():
        for key in keys:
            git.git("config", *where, key, traces.program(f"{kind}-{key}".replace("/", "_")))
    for key, value in BESIDE.items():
        git.git("config", *where, key, value.format(command=traces.program("url")))


def make(tmp_path, model_dir, object_format: str = "sha1") -> Project:
    environment = user_environment(tmp_path / "home", model_dir)
    git = create_repository(tmp_path / "project", environment, FILES, object_format=object_format)
    key = tmp_path / "signed"
    key.write_text("-----BEGIN PGP SIGNATURE-----\n\niHUE\n-----END PGP SIGNATURE-----\n")
    # a commit that has a signature, which `git log` would have checked
    body = git.git("cat-file", "commit", "HEAD")
    head, _, message = body.partition("\n\n")
    signature = "\n ".join(key.read_text().rstrip("\n").split("\n"))
    signed = git.git(
        *("hash-object", "-t", "commit", "-w", "--stdin"),
        stdin=f"{head}\ngpgsig {signature}\n\n{message}\n".encode(),
    )
    git.git("update-ref", "HEAD", signed)
    return Project(git, Gitrag(git.path, environment))


def touch(project: Project) -> None:
    """Leave git unsure of every file, and change one."""
    for path in FILES:
        content = project.git.file(path).read_text()
        project.git.file(path).write_text(content + "\n" * (path == "client.py"))


@pytest.mark.timeout(900)
@pytest.mark.sweep(keep=1)
@pytest.mark.parametrize(
    ("where", "object_format"),
    [("local", "sha1"), ("worktree", "sha1"), ("included", "sha1"), ("included", "sha256")],
)
def test_nothing_runs_that_the_repository_configures(tmp_path, model_dir, traces, some, where, object_format):
    project = make(tmp_path, model_dir, object_format)
    git = project.git
    for name in ("post-index-change", "post-commit", "reference-transaction", "fsmonitor-watchman"):
        git.hook(name, traces.script(f"hook {name}"))
    (git.path / ".git" / "hooks" / "post-commit").unlink()  # gitrag's own block is put in
    match where:
        case "local":
            set_all(git, traces)
        case "worktree":
            git.git("config", "extensions.worktreeConfig", "true")
            set_all(git, traces, "--worktree")
        case "included":
            set_all(git, traces, "--file", "shared.config")
            git.git("config", "include.path", "../shared.config")
    git.git("config", "core.hooksPath", ".git/hooks")
    touch(project)

    def seen(what: str) -> None:
        assert traces.found() == [], what

    if where == "local":
        commands = (*A_FEW, *some(THE_OTHERS, keep=8))
        run_everything(project, seen, commands=commands, commit=False)  # the test's own git would run them
        trackers = ("github", "gitlab", "gitea")
    else:  # it is read once, for whatever asks git
        for command in (("init",), *ASKED):
            assert project.gitrag(*command).status in EXPECTED, command
            seen(" ".join(command))
        trackers = ("github",)
    touch(project)
    for tracker in trackers:
        asked = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "gitrag.trackerCredentials"}
        remote = {"GIT_CONFIG_VALUE_0": "git"}
        project.gitrag("issues", "sync", "--tracker", tracker, env=asked | remote)
        seen(tracker)
    project.gitrag("related", "--diff", "HEAD~1..HEAD")
    seen("related --diff HEAD~1..HEAD")


@pytest.mark.sweep(keep=1)
@pytest.mark.parametrize("kind", ["private", "nothing", "pipe"])
def test_no_file_that_the_repository_names_is_shown_or_needed(tmp_path, model_dir, kind):
    project = make(tmp_path, model_dir)
    project.git.commit({"client.py": "def retry_with_backoff(): pass\n", "docs/more.md": "# More\n"})
    place = tmp_path / "private"
    if kind == "private":
        place.write_text("machine swordfish! login\n*.md swordfish!\n")
    elif kind == "pipe":
        os.mkfifo(place)
    for key in READ:
        if not (kind == "pipe" and key in {"core.attributesFile", "core.excludesFile"}):  # refused, see below
            project.git.git("config", key, str(place))
    project.git.write({"client.py": "def retry_with_backoff(): pass\n\n\ndef later(): pass\n"})
    assert project.gitrag("index", "update", "--no-embed").status == 0

    for command in ASKED:
        done = project.gitrag(*command)
        assert done.status == 0, (command, done)
        assert "swordfish" not in done.out + done.err, (command, done)


def test_every_key_that_names_a_place_is_in_the_table():
    """Of the git that is here."""
    known = subprocess.run(["git", "help", "-c"], capture_output=True, text=True, check=True).stdout.split()
    held = re.findall(r"``([^` ]+)``", str(configuration.__doc__).replace("``, ``", "`` ``"))
    named = {key for key in known if "." in key and NAMES_A_PLACE.fullmatch(key)}
    named |= {*READ, *(key for keys in RUN.values() for key in keys)}

    assert len(named) > 80
    assert {key for key in named if not any(fnmatch(key.lower(), each.lower()) for each in held)} == set()


def test_what_a_submodule_configures_is_not_run(tmp_path, model_dir, traces):
    """git runs itself in submodules, where it is not told otherwise."""
    project = make(tmp_path, model_dir)
    inner = create_repository(tmp_path / "inner", project.git.environment, FILES)
    project.git.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.path, "sub")
    project.git.commit()
    project.git.git("config", "diff.submodule", "diff")
    project.git.git("config", "submodule.sub.ignore", "none")
    sub = GitRepository(project.path / "sub", project.git.environment)
    for key in ("core.fsmonitor", "diff.external", "filter.evil.clean"):
        sub.git("config", key, traces.program(key))
    for place in (sub.path, project.path):
        (place / "client.py").write_text(f"{FILES['client.py']}\n")

    for command in (("index", "update", "--no-embed"), *ASKED):
        assert project.gitrag(*command).status == 0, command
    known: Untracked[None] = Untracked(Repository.discover(project.path, project.git.environment))
    for _ in range(2):  # of an index seen for the second time
        known.remember([], 1 << 62)
    assert known.is_known
    assert traces.found() == []


@pytest.mark.sweep(keep=3)
@pytest.mark.parametrize(
    ("key", "command"),
    [
        ("core.fsmonitor", ("status",)),
        ("filter.evil.clean", ("hash-object", "docs/adrs/ADR-0001-retry.md")),
        ("filter.evil.process", ("hash-object", "docs/adrs/ADR-0001-retry.md")),
        ("filter..clean", ("hash-object", "client.py")),
        ("credential..helper", ("credential", "fill")),
        ("gpg.program", ("-c", "log.showSignature=true", "log", "-1")),
        ("diff.external", ("diff",)),
        ("diff.evil.command", ("diff",)),
        ("diff.evil.textconv", ("diff",)),
        ("credential.helper", ("credential", "fill")),
        ("core.hooksPath", ("update-index", "--refresh")),
    ],
)
def test_what_is_configured_would_run(tmp_path, model_dir, traces, key, command):
    """What the test above looks for happens when git is called as it is."""
    git = make(tmp_path, model_dir).git
    program = traces.program("post-index-change")
    git.write({"client.py": "def retry_with_backoff(): pass\n"})
    git.git("config", key, str(Path(program).parent) if key == "core.hooksPath" else program)

    git.git(*command, stdin=b"url=https://github.com\n\n", check=False)

    assert traces.found() == ["post-index-change"]


@pytest.mark.parametrize("shadowed", [False, True])
def test_what_the_user_configures_runs(tmp_path, model_dir, traces, shadowed):
    """Also where the repository names something else."""
    project = make(tmp_path, model_dir)
    git = project.git
    filtered = f"{traces.script('filter')}; tr a-z A-Z"
    git.git("config", "--global", "filter.evil.clean", filtered)
    git.git("config", "--global", "core.fsmonitor", traces.script("monitor"))
    if shadowed:
        git.git("config", "filter.evil.clean", traces.script("evil"))
        git.git("config", "filter.evil.required", "true")
        git.git("config", "core.fsmonitor", traces.script("evil"))
    touch(project)

    assert project.gitrag("index", "update", "--no-embed").status == 0

    assert traces.found() == ["filter", "monitor"]
    found = project.gitrag("search", "RETRY_WITH_BACKOFF", "--output", "json", "--full")
    assert "RETRY_WITH_BACKOFF" in project.gitrag("search", "RETRY_WITH_BACKOFF", "--output", "json").out, (
        found
    )


def test_an_include_that_comes_with_a_pull_counts_at_once(tmp_path, model_dir, traces):
    """Of a process that has asked git before."""
    from gitrag.git import Repository
    from gitrag.git.overlay import overlay

    project = make(tmp_path, model_dir)
    git = project.git
    git.git("config", "include.path", "../shared.config")
    repository = Repository.discover(git.path, git.environment)
    overlay(repository)
    git.write({"shared.config": f"[core]\n\tfsmonitor = {traces.script('monitor')!r}\n"})
    git.git("config", "--file", "shared.config", "filter.evil.clean", traces.script("filter"))
    touch(project)

    assert {change.path for change in overlay(repository).changes} == {"client.py", "shared.config"}
    assert traces.found() == []


def test_doctor_names_what_is_not_run(tmp_path, model_dir, traces):
    project = make(tmp_path, model_dir)
    project.git.git("config", "filter.evil.clean", traces.script("filter"))
    project.git.git("config", "core.fsmonitor", "true")  # git's own

    said = project.gitrag("doctor").out

    assert "filter.evil.clean" in said
    assert "core.fsmonitor" not in said


def test_who_gets_a_token_is_not_for_the_repository_to_say(tmp_path, model_dir):
    project = make(tmp_path, model_dir)
    settings = {"trackerUrl": "http://127.0.0.1:9", "trackerCredentials": "git", "modelDir": "/elsewhere"}
    for key, value in settings.items():
        project.git.git("config", f"gitrag.{key}", value)

    done = project.gitrag("config", "--json")

    rows = {row["git_config"]: row["value"] for row in json.loads(done.out)}
    assert all(rows[f"gitrag.{key}"] != value for key, value in settings.items())
    assert done.err.count("of the repository's own git configuration is ignored") == 3


def test_a_working_tree_elsewhere_is_refused(tmp_path, model_dir):
    project = make(tmp_path, model_dir)
    (tmp_path / "victim").mkdir()
    (tmp_path / "victim" / "secret.py").write_text("SECRET = 'swordfish'\n")
    project.git.git("config", "core.worktree", str(tmp_path / "victim"))

    done = project.gitrag("search", "swordfish")

    assert (done.status, done.out) == (78, "")
    assert "has no .git that leads back" in done.err


def test_a_git_directory_of_another_repository_is_refused(tmp_path, model_dir):
    project = make(tmp_path, model_dir)
    victim = create_repository(tmp_path / "victim", user_environment(tmp_path / "home", model_dir), FILES)
    (project.path / ".git" / "commondir").write_text(f"{victim.path}/.git\n")

    done = project.gitrag("index", "update", "--no-embed")

    assert (done.status, done.out) == (78, "")
    assert "of which it is no worktree" in done.err
    assert not (victim.path / ".git" / "gitrag").exists()


@pytest.mark.parametrize(("key", "kind"), [("core.attributesFile", "fifo"), ("core.excludesFile", "device")])
def test_rule_files_without_end_are_refused(tmp_path, model_dir, key, kind):
    project = make(tmp_path, model_dir)
    rules = tmp_path / "rules"
    if kind == "fifo":
        os.mkfifo(rules)
    else:
        rules.symlink_to("/dev/zero")
    project.git.git("config", key, str(rules))

    done = project.gitrag("search", "retry")

    assert (done.status, done.out) == (78, "")
    assert f"{key.lower()} names {rules}, which is not a file" in done.err

    project.git.git("config", key, os.devnull)
    assert project.gitrag("index", "update", "--no-embed").status == 0


@pytest.mark.sweep(keep=2)
@pytest.mark.parametrize("name", ["", "worker.marks", "worker.holder", "log", "lock"])
def test_links_in_the_store_are_not_followed(tmp_path, model_dir, name):
    project = make(tmp_path, model_dir)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "run").write_text("#!/bin/sh\n")
    (outside / "run").chmod(0o755)
    link = project.store / name if name else project.store
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(outside / "run" if name else outside)

    for command in (("init",), ("index", "update", "--no-embed"), ("status",), ("hook", "run", "worker")):
        project.gitrag(*command)

    assert [path.name for path in outside.iterdir()] == ["run"]
    assert (outside / "run").read_text() == "#!/bin/sh\n"
    assert (outside / "run").stat().st_mode & 0o777 == 0o755


def test_libraries_are_not_loaded_relative_to_the_repository():
    given = {"LD_LIBRARY_PATH": ":/lib:x", "LD_PRELOAD": "libfake.so ./evil.so /lib/a.so", "PATH": "/bin"}
    kept = safe_environment(given)
    assert kept == {"LD_LIBRARY_PATH": "/lib", "LD_PRELOAD": "libfake.so:/lib/a.so", "PATH": "/bin"}


def test_settings_of_the_environment_are_kept(tmp_path, model_dir):
    """`git -c`, and what the caller counts out, still reach git."""
    project = make(tmp_path, model_dir)
    counted = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "gitrag.prePush", "GIT_CONFIG_VALUE_0": "block"}

    assert project.gitrag("config", "pre_push", env=counted).out.strip() == "block"
    done = subprocess.run(
        ["git", "-c", "gitrag.prePush=off", "-c", "alias.x=!gitrag config pre_push", "x"],
        cwd=project.path,
        env={**project.gitrag.environment, "PATH": f"{_bin()}:{project.gitrag.environment['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "off"


def _bin() -> str:
    from tests.support.command import GITRAG

    return str(GITRAG.parent)
