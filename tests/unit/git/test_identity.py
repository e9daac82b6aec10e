"""What all ways to write a remote have in common, and what not."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitrag.git.configuration import ConfigEntry
from gitrag.git.identity import meant_url, of_url

BASE = Path("/home/me/work")


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/orgA/api",
        "https://github.com/orgA/api.git",
        "https://github.com/orgA/api/",
        "https://github.com/orgA//api.git/",
        "https://GitHub.com:443/orgA/api",
        "https://me@github.com/orgA/api",
        "https://me:p@ss@github.com/orgA/api",
        "http://github.com:80/orgA/api",
        "HTTPS://github.com/org%41/api",
        "ssh://git@github.com/orgA/api.git",
        "ssh://git@github.com:22/orgA/api.git",
        "ssh://git@ssh.github.com:443/orgA/api.git",
        "git+ssh://git@github.com/orgA/api",
        "git://github.com:9418/orgA/api",
        "git@github.com:orgA/api.git",
        "git@github.com:/orgA/api",
        "github.com:orgA/api",
    ],
)
def test_a_remote_is_the_same_however_it_is_written(url: str):
    assert of_url(url, BASE) == "github.com/orgA/api"


@pytest.mark.parametrize(
    ("url", "identity"),
    [
        ("https://github.com/orgB/api", "github.com/orgB/api"),
        ("https://github.com/orga/api", "github.com/orga/api"),
        ("https://gitlab.com/orgA/api", "gitlab.com/orgA/api"),
        ("https://git.corp:8443/x/api", "git.corp:8443/x/api"),
        ("ssh://git@[2001:DB8::1]:2222/x/api", "[2001:db8::1]:2222/x/api"),
        ("git@[2001:db8::1]:x/api", "[2001:db8::1]/x/api"),
        ("work:x/api.git", "work:/x/api"),
        ("ssh://work/x/api", "work:/x/api"),
        ("/srv/git/api.git", "/srv/git/api"),
        ("file:///srv/git/api/.git", "/srv/git/api"),
        ("file:///srv/a%20b", "/srv/a b"),
        ("../other/api", "/home/me/other/api"),
        ("./a:b", "/home/me/work/a:b"),
        ("/srv/\udcff", "/srv/\\xff"),
        ("", ""),
        ("https://github.com", ""),
        ("ext::sh -c 'secret'", ""),
        ("codecommit::eu-west-1://api", ""),
    ],
)
def test_remotes_are_told_apart(url: str, identity: str):
    assert of_url(url, BASE) == identity


def test_the_longest_rewriting_counts_as_in_git():
    rules = [
        ConfigEntry("global", "", "url.https://github.com/.insteadof", "gh:"),
        ConfigEntry("global", "", "url.git@github.com:orgA/.insteadof", "gh:orgA/"),
    ]
    assert meant_url("gh:orgA/api", rules) == "git@github.com:orgA/api"
    assert meant_url("gh:orgB/api", rules) == "https://github.com/orgB/api"
    assert meant_url("https://x/y", rules) == "https://x/y"
