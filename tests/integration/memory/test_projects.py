"""What a project is called, and which repository its memory is of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from gitrag.actions.core_context import mark, marked_files
from gitrag.errors import UsageError
from gitrag.git import Repository
from gitrag.memory import registry
from gitrag.memory.core_files import CoreFiles
from gitrag.memory.explorations import Explorations
from gitrag.memory.projects import Project, name_of, project_at, project_called, project_name
from tests.support.repository import GitRepository, Link


@pytest.mark.parametrize(
    ("given", "remote", "name"),
    [
        ("Shop", "git@example.com:team/till.git", "Shop"),
        (" ", "git@example.com:team/till.git", "till"),
        (None, "https://user:secret@example.com/team/Till.git/", "Till"),
        (None, "../elsewhere/till", "till"),
        (None, "", "market"),
    ],
)
def test_a_project_is_called_as_said_as_its_remote_or_as_its_directory(
    make_repository, git_environment, given, remote, name
):
    """In this order, so that clones of a repository share their memory."""
    own = make_repository({"a.py": "A = 1\n"}, name="market")
    if remote:
        own.git("remote", "add", "origin", remote)
    repo = Repository.discover(own.path, git_environment)
    assert project_name(given, repo, own.path) == name


def test_outside_a_repository_the_directory_names_it(tmp_path):
    """Explorations need no repository."""
    (tmp_path / "stall").mkdir()
    assert project_name(None, None, tmp_path / "stall") == "stall"


@pytest.fixture(autouse=True)
def _registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A registry of the test's own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def remembered(tmp_path: Path) -> Callable[..., Explorations]:
    """The user's explorations; memory of before there were keys where a project is given by its name."""
    return lambda: Explorations(tmp_path / "memory")


def here(git: GitRepository) -> Project:
    repo = Repository.discover(git.path, git.environment)
    return project_at(repo, git.path)


def key_of(git: GitRepository, stored: Sequence[str] = ()) -> str:
    return here(git).key(stored)


def test_clones_and_worktrees_of_a_remote_share_and_forks_do_not(make_repository, tmp_path: Path):
    git = make_repository({"a.py": "A = 1\n"})
    git.git("remote", "add", "origin", "https://github.com/orgA/api")
    clone = git.clone(tmp_path / "elsewhere")
    clone.git("remote", "set-url", "origin", "git@GitHub.com:orgA/api.git")
    tree = git.worktree(tmp_path / "tree")
    assert {key_of(git), key_of(clone), key_of(tree)} == {"github.com/orgA/api"}
    clone.git("remote", "set-url", "origin", "git@github.com:me/api.git")
    assert key_of(clone) == "github.com/me/api"
    git.git("remote", "rename", "origin", "upstream")
    assert key_of(git) == "github.com/orgA/api"
    git.git("config", "url.https://github.com/.insteadOf", "gh:")
    git.git("remote", "set-url", "upstream", "gh:orgA/api")
    assert (key_of(git), here(git).name) == ("github.com/orgA/api", "api")


def test_without_a_remote_place_and_first_commit_tell_repositories_apart(make_repository, tmp_path: Path):
    git = make_repository({"a.py": "A = 1\n"}, name="one/api")
    first = git.git("rev-parse", "HEAD")
    assert key_of(git) == f"{git.path}@{first}"
    assert key_of(git.worktree(tmp_path / "tree")) == key_of(git)
    git.commit({"a.py": "A = 2\n"})
    git.git("switch", "--quiet", "--orphan", "pages")
    git.commit({"index.html": "<p>"})
    assert key_of(git, [f"{git.path}@{first}"]) == f"{git.path}@{first}", "on a branch of another root, too"
    assert key_of(make_repository({"a.py": "A = 1\n"}, name="two/api")) != key_of(git)
    git.path.rename(tmp_path / "gone")
    again = make_repository({"b.py": "B = 1\n"}, name="one/api")
    assert here(again).own([f"{git.path}@{first}"]) == [], "another repository at the same place"


def test_memory_follows_a_repository_from_before_its_first_commit_to_its_remote(
    make_repository, remembered, tmp_path: Path
):
    git, core = make_repository(name="api"), CoreFiles(tmp_path / "memory")
    saved = remembered().save("Plan", {"goals": "x"}, project=here(git))
    assert saved.observation.identity.project == f"{git.path}@"
    git.commit({"a.py": "A = 1\n"})
    assert remembered().save("Plan", {"context": "y"}, project=here(git)).observation.revision == 2
    mark(core, here(git), "a.py", "first")
    git.git("remote", "add", "origin", "https://github.com/orgA/api")
    assert [each.title for each in remembered().all(project=here(git))] == ["Plan"]
    assert [each.summary for each in marked_files(core, here(git)).files] == ["first"]
    done = remembered().save("Plan", {"decisions": "z"}, project=here(git)).observation
    assert (done.revision, done.identity.project) == (3, "github.com/orgA/api")
    assert dict(done.sections) == {"goals": "x", "context": "y", "decisions": "z"}
    git.commit({"b.py": "B = 1\n"})
    mark(core, here(git), "b.py", "second")
    assert core.path.read_text() == (
        "github.com/orgA/api:\n- path: a.py\n  summary: first\n- path: b.py\n  summary: second\n"
    )


def test_memory_of_no_project_is_no_repositorys(make_repository, remembered):
    git = make_repository({"a.py": "A = 1\n"})
    remembered().save("Plan", {"goals": "x"}, project="")
    assert remembered().save("Plan", {"goals": "y"}, project=here(git)).created
    assert len(remembered().all(project="")) == 1


def test_memory_of_a_name_alone_is_never_taken_for_a_repositorys(make_repository, remembered):
    """It may be of any repository called so; the user says whose it is."""
    git = make_repository({"a.py": "A = 1\n"}, name="api")
    git.git("remote", "add", "origin", "https://github.com/orgA/api")
    old = remembered().save("User auth", {"goals": "of A", "context": "old"}, project="api").observation
    new = remembered().save("User auth", {"goals": "of B"}, project=here(git))
    assert new.created
    assert f"gitrag explore adopt {old.observation_id}" in str(new)
    assert remembered().get(str(old.observation_id), "api") == old
    assert len(remembered().all(project=here(git))) == 2, "what is called so is listed"
    with pytest.raises(UsageError, match="something else in goals"):
        remembered().adopt(old.observation_id, here(git))
    assert remembered().get(str(old.observation_id), "api") == old
    other = remembered().save("Other", {"goals": "x"}, project="api").observation
    taken = remembered().adopt(other.observation_id, here(git))
    assert taken.identity.project == "github.com/orgA/api"
    remembered().save("Same", {"goals": "x"}, project=here(git))
    same = remembered().save("Same", {"goals": "x", "context": "y"}, project="api").observation
    assert dict(remembered().adopt(same.observation_id, here(git)).sections) == {"goals": "x", "context": "y"}
    assert [each.title for each in remembered().all(project="api")] == ["User auth"]


def test_marks_of_a_name_alone_are_its_only_repositorys(make_repository, tmp_path: Path):
    """People write them so by hand. They stay as they are."""
    git = make_repository({"a.py": "A = 1\n", "b.py": "B = 1\n"}, name="api")
    core = CoreFiles(tmp_path / "memory")
    git.git("remote", "add", "origin", "https://github.com/orgA/api")
    by_hand = "# mine\napi:  # the service\n- path: a.py  # core\n  summary: by hand\n- path: b.py\n"
    core.path.parent.mkdir()
    core.path.write_text(by_hand)
    marked = marked_files(core, here(git))
    assert [(each.project, each.path) for each in marked.files] == [("api", "a.py"), ("api", "b.py")]
    assert core.path.read_text() == by_hand
    other = make_repository({"a.py": "B = 1\n"}, name="other/api")
    for each in (git, other):
        registry.Registry().add(
            [registry.RegisteredPlace.of(Repository.discover(each.path, git.environment))]
        )
    for each, doubtful in ((git, ("a.py", "b.py")), (other, ("a.py",))):
        marked = marked_files(core, here(each))
        assert (marked.files, marked.doubtful) == ((), doubtful)
        assert "gitrag core adopt api" in marked.notes[0]
    mark(core, here(git), "a.py", None)
    assert core.path.read_text().startswith(by_hand)
    assert [each.path for each in core.adopt("api", key_of(other), ["a.py"])] == ["a.py"]
    assert core.path.read_text().startswith(by_hand), "it may be of others, too"
    assert [each.summary for each in marked_files(core, here(other)).files] == ["by hand"]


def test_only_repositories_that_may_be_called_alike_are_opened(make_repository, tmp_path: Path, monkeypatch):
    """At each start of a session all that are registered are asked, in whatever directory."""
    git, core = make_repository({"a.py": "A = 1\n"}, name="api"), CoreFiles(tmp_path / "memory")
    others = [make_repository({"a.py": "B = 1\n"}, name=name) for name in ("web", "other")]
    others[1].git("remote", "add", "origin", "https://github.com/orgB/api")
    for each in others:
        registry.Registry().add(
            [registry.RegisteredPlace.of(Repository.discover(each.path, git.environment))]
        )
    core.mark("api", "a.py", "x")
    project, opened, discover = here(git), [], Repository.discover
    monkeypatch.setattr(Repository, "discover", lambda start: opened.append(start) or discover(start))
    assert marked_files(core, project).doubtful == ("a.py",)
    assert opened == [others[1].path]


def test_a_clone_of_the_same_remote_makes_no_name_doubtful(make_repository, tmp_path: Path):
    git, core = make_repository({"a.py": "A = 1\n"}, name="api"), CoreFiles(tmp_path / "memory")
    git.git("remote", "add", "origin", "https://github.com/orgA/api")
    clone = git.clone(tmp_path / "api-2")
    clone.git("remote", "set-url", "origin", "git@github.com:orgA/api")
    registry.Registry().add([registry.RegisteredPlace.of(Repository.discover(clone.path, git.environment))])
    core.mark("api", "a.py", "old")
    mark(core, here(git), "a.py", "new")
    old = "api:\n- path: a.py\n  summary: old\n"
    assert core.path.read_text() == f"{old}github.com/orgA/api:\n- path: a.py\n  summary: new\n"
    assert [each.summary for each in marked_files(core, here(clone)).files] == ["new"]


def test_a_name_with_marks_on_files_that_are_not_here_may_be_anothers(make_repository, tmp_path: Path):
    """What the registry does not know of still has its marks: they are neither shown, renamed nor lost."""
    git, core = make_repository({"README.md": "B\n"}, name="api"), CoreFiles(tmp_path / "memory")
    git.git("remote", "add", "origin", "https://github.com/orgB/api")
    core.mark("api", "orgA.py", "of A")
    core.mark("api", "README.md", "of A")
    before = core.all("api")
    marked = marked_files(core, here(git))
    assert (marked.files, marked.missing, marked.doubtful) == ((), (), ("README.md",))
    assert mark(core, here(git), "README.md", None).summary == ""
    assert core.all("api") == before


@pytest.mark.parametrize("path", ["../a.py", "/etc/passwd", "sub", "a.py/", "link.py", "x" * 300])
def test_what_is_no_file_of_the_repository_is_not_offered(make_repository, tmp_path: Path, path: str):
    git = make_repository(
        {"a.py": "A = 1\n", "sub/b.py": "B = 1\n", "link.py": Link("/etc/passwd")}, name="api"
    )
    core = CoreFiles(tmp_path / "memory")
    core.mark(key_of(git), path, "x")
    core.mark(key_of(git), "sub/b.py", "x")
    assert [each.path for each in marked_files(core, here(git)).files] == ["sub/b.py"]
    bare = make_repository(bare=True, name="bare.git")
    git.git("push", "--quiet", bare.path, "HEAD")
    bare.git("symbolic-ref", "HEAD", "refs/heads/" + git.git("branch", "--show-current"))
    core.mark(key_of(bare), "sub/b.py", "x")
    core.mark(key_of(bare), "gone.py", "x")
    marked = marked_files(core, here(bare))
    assert ([each.path for each in marked.files], marked.missing) == (["sub/b.py"], ("gone.py",))


def test_a_name_or_a_key_means_a_project(tmp_path: Path):
    """A user types names; where several projects have one, the message lists the keys."""
    own = project_at(None, tmp_path / "stall")
    keys = ["github.com/orgA/api", "github.com/orgB/api", "github.com/orgA/web", "team/shop"]
    assert project_called(" ", own, keys) == project_called("stall", own, keys) == own
    assert project_called("web", own, keys).key(keys) == "github.com/orgA/web"
    assert project_called("github.com/orgB/api", own, keys).key(keys) == "github.com/orgB/api"
    assert project_called("new", own, keys).key(keys) == "new"
    assert project_called("team/shop", own, keys).name == "team/shop"
    for stored, number in ((keys, 2), (["api", *keys], 3)):  # a name alone may be of either
        with pytest.raises(UsageError, match=f"{number} projects") as refused:
            project_called("api", own, stored)
        assert "github.com/orgA/api, github.com/orgB/api" in refused.value.hint


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("github.com/orgA/api", "api"),
        ("work:/till", "till"),
        ("/srv/git/api", "api"),
        ("/home/me/api@", "api"),
        ("/home/me/api@" + "0" * 40, "api"),
        ("/home/me/api/.bare@" + "0" * 40, "api"),
        ("/srv/api.git@" + "0" * 40, "api"),
        ("me@home", "me@home"),
        ("a/b", "a/b"),
        ("", ""),
    ],
)
def test_a_key_tells_the_name(key: str, name: str):
    assert name_of(key) == name


def test_an_export_says_which_repository_it_is_of(make_repository, remembered, tmp_path: Path):
    git = make_repository({"a.py": "A = 1\n"}, name="api")
    git.git("remote", "add", "origin", "https://github.com/orgA/api")
    remembered().save("Plan", {"goals": "x"}, project=here(git))
    remembered().export(tmp_path / "out")
    assert "\nproject: api\nrepository: github.com/orgA/api\n" in (tmp_path / "out/1-plan.md").read_text()
    assert remembered().import_(tmp_path / "out").same == 1
