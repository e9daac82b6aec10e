from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitrag.words.bulk_files import Bulk, bulk, untranslated


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        # copies of other projects
        ("requests/packages/urllib3/util.py", Bulk.VENDORED),
        ("pip/_vendor/rich/text.py", Bulk.VENDORED),
        ("third_party/zlib/inflate.c", Bulk.VENDORED),
        ("web/node_modules/left-pad/index.js", Bulk.VENDORED),
        ("astropy/extern/configobj/validate.py", Bulk.VENDORED),
        ("deps/jemalloc/src/arena.c", Bulk.VENDORED),
        # a product's own packages
        ("packages/zod/src/index.ts", None),
        ("packages/six/six.py", None),
        ("pkg/kubelet/pods/status.go", None),
        ("ios/Pods/Door/Door.m", Bulk.VENDORED),
        ("subprojects/core/src/main/java/Door.java", None),
        ("subprojects/zlib/inflate.c", Bulk.VENDORED),
        ("python/packages/agents/src/agents/chat.py", None),
        ("src/deps/resolver.py", None),
        ("src/vendor.py", None),
        # made by programs
        ("priv/static/phoenix.mjs", Bulk.GENERATED),
        ("api/user_pb2.py", Bulk.GENERATED),
        ("api/user.pb.go", Bulk.GENERATED),
        ("src/__generated__/schema.ts", Bulk.GENERATED),
        ("public/app.min.js", Bulk.GENERATED),
        ("packages/client/dist/client.js", Bulk.GENERATED),
        ("dist/index.d.ts", Bulk.GENERATED),
        ("cmd/dist/build.go", None),
        ("package-lock.json", Bulk.GENERATED),
        ("single_include/json.hpp", Bulk.GENERATED),
        ("single_include/amalgamate.py", None),
        ("src/file-lock.ts", None),
        ("src/generator.py", None),
        # translations
        ("django/conf/locale/zh_Hans/formats.py", Bulk.TRANSLATION),
        ("pylint/de.po", Bulk.TRANSLATION),
        ("config/locales/en.yml", Bulk.TRANSLATION),
        ("lang/pt-BR/auth.php", Bulk.TRANSLATION),
        ("src/locale/be-tarask/_lib/distance/index.ts", Bulk.TRANSLATION),
        ("src/indexer/languages/go.rs", None),
        ("src/indexer/languages/cs.rs", None),
        ("src/i18n/index.ts", None),
        ("src/i18n/mod.rs", None),
        ("res/values-de/strings.xml", Bulk.TRANSLATION),
        ("res/values-sw600dp/dimens.xml", None),
        ("res/values/strings.xml", None),
        ("ios/pt-BR.lproj/Main.strings", Bulk.TRANSLATION),
        ("src/messages_de.properties", Bulk.TRANSLATION),
        ("src/log4j.properties", None),
        # codes that are words
        ("locales/no.yml", Bulk.TRANSLATION),
        ("locales/shop/it.json", Bulk.TRANSLATION),
        ("lang/is/auth.php", Bulk.TRANSLATION),
        ("src/messages_it.properties", Bulk.TRANSLATION),
        ("messages/no-NO.json", Bulk.TRANSLATION),
        ("res/values-in/strings.xml", Bulk.TRANSLATION),
        ("src/sign_in.properties", None),
        ("messages/log-in.yml", None),
        ("messages/in-progress.yml", None),
        ("src/i18n/how-to.json", None),
        ("resources/my/app.yaml", None),
        ("resources/prices/as-is.json", None),
        ("Door/Resources.resx", Bulk.TRANSLATION),
        # changelogs
        ("CHANGES.rst", Bulk.CHANGELOG),
        ("docs/release-notes/1.2.md", Bulk.CHANGELOG),
        ("doc/whatsnew/3/fragment.rst", Bulk.CHANGELOG),
        ("src/history/index.ts", None),
        ("src/changes.go", None),
        ("app/templates/history.html", None),
        # recorded, listed, seeded
        ("spec/cassettes/door.yml", Bulk.RECORDED),
        ("spec/fixtures/vcr_cassettes/door.yml", Bulk.RECORDED),
        ("tests/__recordings__/door/recording.har", Bulk.RECORDED),
        ("db/seeds/doors.csv", Bulk.RECORDED),
        ("db/seeds.rb", None),
        ("app/cassettes/door.yml", None),
        ("studio/recordings/settings.json", None),
        ("garden/seeds/tomato.json", None),
        ("spec/fixtures/cassettes/door.yml", Bulk.RECORDED),
        ("backups/shop.sql", Bulk.RECORDED),
        ("roles/backups/tasks/main.yml", None),
        ("data/english-wordlist.txt", Bulk.RECORDED),
        ("spell/de.dic", Bulk.RECORDED),
        ("src/dump.py", None),
        # fixtures
        ("tests/fixtures/order.json", Bulk.FIXTURE),
        ("parser/testdata/a.txt", Bulk.FIXTURE),
        ("src/__snapshots__/x.test.ts.snap", Bulk.FIXTURE),
        ("src/fixtures.py", None),
        ("", None),
    ],
)
def test_what_comes_in_numbers_is_told_by_its_path(path: str, expected: Bulk | None):
    assert bulk(path) == expected


def test_a_language_that_is_told_by_content_says_it_too():
    assert bulk("src/app_de.ts") is None
    assert bulk("src/app_de.ts", language="qt-translation") is Bulk.TRANSLATION
    assert bulk("src/app_de.ts", frozenset({"translations"}), "qt-translation") is None
    assert bulk("a/words.txt", language="word-list") is Bulk.RECORDED


def test_what_a_question_asks_for_is_like_any_other_file():
    path = "requests/packages/urllib3/util.py"
    assert bulk(path, frozenset("how does urllib3 retry".split())) is None
    assert bulk(path, frozenset("vendored code".split())) is None
    assert bulk(path, frozenset("how does requests retry".split())) is Bulk.VENDORED
    assert bulk("CHANGES.rst", frozenset({"changelog"})) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("src/locale/de/_lib/distance/index.ts", "src/locale/be-tarask/_lib/distance/index.ts"),
        ("config/locales/en.yml", "config/locales/pt-BR.yml"),
        ("lang/de/auth.php", "lang/fr/auth.php"),
        ("po/de.po", "po/uk.po"),
        ("app/locale/de/LC_MESSAGES/django.po", "app/locale/fr/LC_MESSAGES/django.po"),
    ],
)
def test_translations_of_a_text_have_the_same_path_but_for_the_language(one: str, other: str):
    assert untranslated(one) == untranslated(other) != one


def test_other_paths_stay_as_they_are():
    assert untranslated("src/de/door.ts") == "src/de/door.ts"
    assert untranslated("lang/de/auth.php") != untranslated("lang/de/mail.php")


@given(st.text(alphabet="abde/._-*"))
def test_any_path_can_be_read(path: str):
    bulk(path)
    assert untranslated(untranslated(path)) == untranslated(path)


@pytest.mark.parametrize("part", ["lang/en/", "messages/en/", "i18n/", "strings/en/a/", "vendor/a/"])
def test_a_path_of_four_thousand_characters_takes_no_time(part: str):
    """Who writes the tree writes its paths; three repetitions that share text would take minutes."""
    path = part * (4_000 // len(part)) + "x"
    bulk(path)
    assert untranslated(path) == path
