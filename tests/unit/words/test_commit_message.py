"""What is read in the messages of commits."""

from __future__ import annotations

import pytest

from gitrag.words.commit_message import home_of, issues_in, read


@pytest.mark.parametrize(
    ("message", "subject", "reason"),
    [
        ("Retry\n", "Retry", ""),
        ("Retry\n\nIt was asked for.\n", "Retry", "It was asked for."),
        (
            "Retry\n\nA second call is made. It is needed because keys\nrotate hourly. Done.\n",
            "Retry",
            "It is needed because keys rotate hourly.",
        ),
        ("Retry\n\nSigned-off-by: A <a@b>\nCloses: #4\n", "Retry", ""),
        ("Retry\n\n- one\n- two, to avoid a storm\n", "Retry", "two, to avoid a storm"),
        ("Retry\n\n    code = because()\n\nText.\n", "Retry", "Text."),
        (
            "Merge pull request #12 from a/b\n\nAdd retries\n",
            "Add retries (Merge pull request #12 from a/b)",
            "",
        ),
        ("Merge branch 'x'\n", "Merge branch 'x'", ""),
        ("Merge branch 'x'\n\n# Conflicts:\n#\tf.txt\n", "Merge branch 'x'", ""),
        (
            "Retry\n\nReason: it broke because of the cache. More.\n",
            "Retry",
            "Reason: it broke because of the cache.",
        ),
        ("", "", ""),
    ],
)
def test_the_sentence_that_gives_a_reason_is_found(message: str, subject: str, reason: str):
    said = read(message)
    assert (said.subject, said.reason) == (subject, reason)


@pytest.mark.parametrize(
    ("text", "issues"),
    [
        ("Fix #12 and GH-7, see PROJ-345", ("12", "7", "PROJ-345")),
        ("See https://example.com/o/r/issues/9 and https://x.org/browse/AB-1", ("9", "AB-1")),
        ("See https://example.com/O/R/-/merge_requests/8.", ("8",)),
        ("See https://example.com/other/r/issues/9, https://example.com/r/issues/9", ()),
        ("of owner/name#4, ADR-0001, UTF-8, color #fff, a1#2", ()),
        ("#1 #1 #2", ("1", "2")),
        (" ".join(f"#{i}" for i in range(100)), tuple(map(str, range(8)))),
    ],
)
def test_issues_are_found_in_a_message(text: str, issues: tuple[str, ...]):
    assert issues_in(text, "o/r") == issues


def test_without_a_home_no_address_counts():
    assert issues_in("See https://example.com/o/r/issues/9 and #4") == ("4",)


@pytest.mark.parametrize(
    ("url", "home"),
    [
        ("git@host:Team/project.git", "team/project"),
        ("https://host/group/sub/project/", "sub/project"),
        ("/srv/git/project.git", "git/project"),
        ("", ""),
    ],
)
def test_the_home_of_a_repository_is_read_from_its_remote(url: str, home: str):
    assert home_of(url) == home


def test_a_long_reason_is_cut_and_a_long_message_read_in_linear_time():
    said = read("Do\n\n" + "word " * 1_000_000)
    assert len(said.reason) <= 300
    assert said.reason.endswith("…")
