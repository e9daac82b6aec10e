"""Settings: who wins, what each place may say, and what a wrong value is answered with."""

from __future__ import annotations

from dataclasses import fields
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from gitrag.config.keys import KEYS, Config, find_key
from gitrag.config.loading import TEAM_FILE_BYTES, load, read_team
from gitrag.config.rules import duration, show_duration
from gitrag.errors import ConfigError
from gitrag.words.bounded_yaml import MOST_LEVELS


def loaded(git=None, team=None, env=None, flags=None):
    return load(git=git or {}, team=team, env=env or {}, flags=flags or {})


def refused(**places) -> str:
    with pytest.raises(ConfigError) as caught:
        loaded(**places)
    assert caught.value.hint
    return str(caught.value)


def test_every_field_is_a_setting_whose_default_its_own_rule_allows():
    assert [field.name for field in fields(Config)] == [*(key.name for key in KEYS), "origins", "warnings"]
    defaults = {key.name: getattr(Config(), key.name) for key in KEYS}
    assert loaded(flags=defaults).explain() == [
        replace(setting, origin="default" if defaults[setting.key] is None else "flag")
        for setting in Config().explain()
    ]


def test_without_sources_every_setting_has_its_default():
    assert loaded() == Config(origins=dict.fromkeys((key.name for key in KEYS), "default"))


def test_a_later_place_wins_over_an_earlier_one():
    places = {"git": {"gitrag.limit": "2"}, "team": b"limit: 3", "env": {"GITRAG_LIMIT": "4"}}
    assert loaded().limit == 8
    assert loaded(git=places["git"]).limit == 2
    assert loaded(git=places["git"], team=places["team"]).limit == 3
    assert loaded(**places).limit == 4
    config = loaded(**places, flags={"limit": 5})
    assert (config.limit, config.origins["limit"]) == (5, "flag")


def test_a_flag_that_was_not_given_changes_nothing():
    assert loaded(flags={"limit": None}).origins["limit"] == "default"


def test_every_setting_is_explained_with_its_origin():
    config = loaded(
        git={"gitrag.prepush": "block"},
        team=b"staleness_threshold: 4h\nexclude: [docs/**]\n",
        env={"GITRAG_MODEL_DIR": "/models"},
    )
    told = {setting.key: (setting.value, setting.origin) for setting in config.explain()}
    assert list(told) == [key.name for key in KEYS]
    assert told["pre_push"] == ("block", "git config gitrag.prePush")
    assert told["staleness_threshold"] == ("4h", ".gitrag.yaml")
    assert told["exclude"] == (["docs/**"], ".gitrag.yaml")
    assert told["model_dir"] == ("/models", "GITRAG_MODEL_DIR")
    assert told["limit"] == (8, "default")
    assert all(setting.help.endswith(".") for setting in config.explain())


@pytest.mark.parametrize("name", ["gitrag.prePush", "gitrag.prepush", "GITRAG.PREPUSH", "prepush"])
def test_git_config_names_are_read_in_any_case(name):
    assert loaded(git={name: "off"}).pre_push == "off"


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("MAX_FILE_BYTES", "512k", 512 * 1024),
        ("MAX_FILE_BYTES", "2MiB", 2 * 1024 * 1024),
        ("MAX_FILE_BYTES", "100", 100),
        ("CATCH_UP_S", "2.5", 2.5),
        ("THREADS", "4", 4),
        ("PRE_PUSH", "Block", "block"),
        ("STALENESS_THRESHOLD", "1h30m", timedelta(minutes=90)),
        ("STALENESS_THRESHOLD", "2d", timedelta(days=2)),
        ("EXCLUDE", "a/**, *.js", ("a/**", "*.js")),
        ("MODEL_DIR", "/opt/model", Path("/opt/model")),
    ],
)
def test_text_becomes_the_keys_type(key, text, value):
    assert getattr(loaded(env={f"GITRAG_{key}": text}), key.lower()) == value


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("MAX_FILE_BYTES", "0"),
        ("MAX_FILE_BYTES", "2g"),
        ("MAX_FILE_BYTES", "many"),
        ("LIMIT", "0"),
        ("LIMIT", "1k"),
        ("LIMIT", "8.5"),
        ("THREADS", "-1"),
        ("MIN_SCORE", "nan"),
        ("MIN_SCORE", "1.01"),
        ("CATCH_UP_S", "inf"),
        ("STALENESS_THRESHOLD", "30"),
        ("STALENESS_THRESHOLD", "4 hours"),
        ("STALENESS_THRESHOLD", "999999999d"),
        ("PRE_PUSH", "maybe"),
        ("MODEL_DIR", "relative/path"),
    ],
)
def test_a_wrong_value_is_refused_with_its_name_place_and_what_is_allowed(key, text):
    rule = next(each.rule for each in KEYS if each.variable == f"GITRAG_{key}")
    expected = f'{key.lower()} is "{text}" (GITRAG_{key}): it must be {rule.allowed}.'
    assert refused(env={f"GITRAG_{key}": text}) == expected


def test_a_wrong_value_in_git_config_says_how_to_remove_it():
    with pytest.raises(ConfigError) as caught:
        loaded(git={"gitrag.prepush": "x"})
    assert caught.value.hint == "`git config --unset gitrag.prePush` removes it."


def test_an_empty_variable_is_not_set():
    assert loaded(env={"GITRAG_LIMIT": ""}).origins["limit"] == "default"


def test_the_users_home_is_taken_from_the_given_environment():
    assert loaded(git={"gitrag.modeldir": "~/m"}, env={"HOME": "/home/a"}).model_dir == Path("/home/a/m")


def test_unknown_names_are_warned_about_with_the_nearest_known_one():
    config = loaded(
        git={"gitrag.prepsh": "warn"},
        team=b"limits: 3\nzzzz: 1\n",
        env={"GITRAG_THREDS": "2", "GITRAG_HOME": "/x", "GITRAG": "0", "OTHER": "1"},
    )
    assert config.warnings == (
        'git config gitrag.prepsh is no setting of gitrag: ignored. Did you mean "gitrag.prePush"?',
        '.gitrag.yaml: limits is no setting of gitrag: ignored. Did you mean "limit"?',
        ".gitrag.yaml: zzzz is no setting of gitrag: ignored.",
        'GITRAG_THREDS is no setting of gitrag: ignored. Did you mean "GITRAG_THREADS"?',
    )


def test_many_unknown_team_settings_are_counted_not_listed():
    config = loaded(team="".join(f"key{n}: 1\n" for n in range(1000)).encode())
    assert len(config.warnings) == 6
    assert config.warnings[-1] == ".gitrag.yaml: 995 more unknown settings ignored."


def test_what_only_the_user_may_set_is_ignored_in_the_teams_file():
    config = loaded(team=b"pre_push: off\nmodel_dir: /evil\nlimit: 3\n")
    assert (config.pre_push, config.model_dir, config.limit) == ("warn", None, 3)
    assert [warning.split(":")[0] for warning in config.warnings] == [
        ".gitrag.yaml sets pre_push, which only you may set",
        ".gitrag.yaml sets model_dir, which only you may set",
    ]


def test_the_team_may_raise_the_file_size_only_to_a_cap():
    assert loaded(team=b"max_file_bytes: 4m").max_file_bytes == 4 * 1024 * 1024
    assert "(.gitrag.yaml): it must be a size from 1 to 8 MiB" in refused(team=b"max_file_bytes: 9m")
    assert loaded(env={"GITRAG_MAX_FILE_BYTES": "9m"}).max_file_bytes == 9 * 1024 * 1024


@pytest.mark.parametrize("content", [b"", b"\n", b"# nothing\n", b"---\n", b"exclude:\n", b"exclude: []\n"])
def test_a_team_file_without_values_sets_nothing(content):
    assert loaded(team=content).exclude == ()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"limit: 3\nexclude: [a", ".gitrag.yaml, line 2, column 12: expected ',' or ']'"),
        (b"limit: 3\nlimit: 4", ".gitrag.yaml, line 2, column 1: 'limit' is set twice."),
        (b"- limit", "line 1, column 1: it must hold lines of the form `key: value`"),
        (b"exclude: [*.js]", "a value that begins with * needs quotes ('*.min.js')"),
        (b"a: &x 1\nexclude: *x", "line 2, column 10: aliases are not allowed"),
        (b"exclude:\n- !keep", "a value that begins with ! needs quotes"),
        (b"limit: !!python/object/apply:os.system [ls]", "tags are not allowed"),
        (b"limit: 3\n\xff", "is not UTF-8 text"),
        (b"limit: \x07", "is not UTF-8 text"),
        (b"[" * 1000, f"more than {MOST_LEVELS} levels deep"),
        (b"#" * (TEAM_FILE_BYTES + 1), "is larger than 65536 bytes"),
        (b"a: 1\n---\nb: 2", "line 2, column 1: but found another document"),
        (b"exclude: {a: b}", "exclude is"),
        (b"exclude: [a, [b]]", "exclude is"),
        (b"limit: [1]", "limit is"),
        (b"? [a]\n: b", "a key must be a word"),
    ],
)
def test_a_team_file_that_is_not_right_is_refused_with_its_place(content, problem):
    assert problem in refused(team=content)


def test_unfolding_aliases_cost_nothing():
    bomb = b"a: &a [x]\n" + b"".join(
        b"%c: &%c [%s]\n" % (n, n, b",".join([b"*%c" % (n - 1)] * 9)) for n in range(98, 110)
    )
    assert "aliases are not allowed" in refused(team=bomb)


def test_control_characters_never_reach_a_message():
    assert "\x1b" not in refused(env={"GITRAG_LIMIT": "\x1b[31m"})
    warning = loaded(team=b'"\\e[2J": 1').warnings[0]
    assert warning.startswith(".gitrag.yaml: \\x1b[2J is no setting")


@given(st.binary(max_size=200))
def test_any_team_file_is_read_or_refused(content):
    try:
        loaded(team=content)
    except ConfigError:
        return


@given(st.integers(0, 365 * 86400))
def test_a_duration_shown_reads_back(seconds):
    value = timedelta(seconds=seconds)
    assert duration(timedelta(days=365)).parse(show_duration(value)) == value


def test_a_key_is_found_in_any_places_spelling():
    assert {find_key(name).name for name in ("pre_push", "gitrag.prePush", "GITRAG_PRE_PUSH")} == {"pre_push"}
    with pytest.raises(ConfigError) as caught:
        find_key("pre_posh")
    assert caught.value.hint == 'Did you mean "pre_push"?'


def test_the_team_file_is_read_only_when_it_is_a_regular_file(tmp_path):
    assert read_team(tmp_path) is None
    file = tmp_path / ".gitrag.yaml"
    file.write_bytes(b"limit: 3\n")
    assert read_team(tmp_path) == b"limit: 3\n"
    file.rename(tmp_path / "elsewhere")
    file.symlink_to("elsewhere")
    with pytest.raises(ConfigError):
        read_team(tmp_path)
    file.unlink()
    file.mkdir()
    with pytest.raises(ConfigError):
        read_team(tmp_path)


def test_an_endless_team_file_is_not_read_to_its_end(tmp_path):
    with (tmp_path / ".gitrag.yaml").open("wb") as file:
        file.truncate(1 << 32)
    content = read_team(tmp_path)
    assert content is not None
    assert "is larger than" in refused(team=content)


# the search strategy


def strategy(text: str) -> tuple[str, str | None, str | None, tuple[str, ...]]:
    found = load(git={}, team=text.encode(), env={})
    return (
        found.search_strategy_mode,
        found.search_strategy_rag_mcp_tool,
        found.search_strategy_rag_reindex_tool,
        found.warnings,
    )


@pytest.mark.parametrize("text", ["", "search_strategy:\n", "search_strategy: {mode: grep}\n"])
def test_the_strategy_is_grep_where_nothing_is_said(text):
    """Agents without a search tool can always grep."""
    assert strategy(text) == ("grep", None, None, ())


def test_a_strategy_is_read_with_its_tools():
    """Agents read these keys to find the tools."""
    text = "search_strategy:\n  mode: hybrid\n  rag:\n    mcp_tool: search_code\n    reindex_tool: reindex\n"
    assert strategy(text) == ("hybrid", "search_code", "reindex", ())


@pytest.mark.parametrize("rag", ["", "  rag:\n", "  rag: {reindex_tool: reindex}\n"])
def test_hybrid_without_a_tool_is_grep_with_a_warning(rag):
    """Agents could not search at all otherwise."""
    mode, tool, _, warnings = strategy(f"search_strategy:\n  mode: hybrid\n{rag}")
    assert (mode, tool) == ("grep", None)
    assert warnings == ("search_strategy is hybrid but names no rag.mcp_tool: grep is used.",)


def test_an_unknown_mode_is_an_error_and_an_unknown_key_a_warning():
    with pytest.raises(ConfigError, match="one of grep, hybrid"):
        strategy("search_strategy: {mode: semantic}\n")
    assert "search_strategy_rag_tool is no setting" in strategy("search_strategy: {rag: {tool: x}}\n")[3][0]


@pytest.mark.parametrize(
    "value",
    [
        "off",
        "git",
        "git:up/stream",
        "file:///srv/packs",
        "https://host/a",
        "http://localhost:8/a",
        "s3://b/p",
        "gs://b",
    ],
)
def test_where_vectors_are_shared_is_one_of_a_few_forms(value):
    assert loaded(git={"gitrag.share": value}).share == value


@pytest.mark.parametrize(
    "value",
    [
        "on",
        "git:",
        "git:-x",
        "git:a b",
        "file://host/x",
        "file:///",
        "http://host/",
        "https://u:p@host/",
        "s3://",
        "x",
    ],
)
def test_other_forms_are_refused(value):
    assert "it must be off, git, git:REMOTE" in refused(git={"gitrag.share": value})


def test_the_team_suggests_where_and_is_told_until_the_user_decides():
    team = b"share: file:///a b\n"
    (told,) = loaded(team=team).warnings
    assert told == (
        ".gitrag.yaml suggests share file:///a b: not done. To do it, `git config --global gitrag.share"
        " 'file:///a b'`; to hear no more of it, `git config --global gitrag.share off`."
    )
    assert loaded(team=team).share == "off"
    assert loaded(team=team, git={"gitrag.share": "off"}).warnings == ()
    assert loaded(team=team, env={"GITRAG_SHARE": "git"}).share == "git"
    assert loaded(team=team, env={"GITRAG_SHARE": "git"}).warnings == ()


@pytest.mark.parametrize("name", ["gitrag.model", "gitrag.trackerUrl", "gitrag.share"])
@pytest.mark.parametrize(
    "address", ["https://u:hidden@host/v1#m", "https://hidden@host#m", "https://h?key=hidden#m"]
)
def test_a_refused_address_is_said_without_what_may_be_its_key(name, address):
    said = refused(git={name: address})
    assert "hidden" not in said
    assert "https://" in said


def test_the_models_key_is_a_variable_that_is_known():
    assert loaded(env={"GITRAG_MODEL_KEY": "secret"}).warnings == ()
