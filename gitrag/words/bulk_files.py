"""Files of which a page needs few: copies of other projects, generated, translated, logged, recorded. Pure.

They repeat what other files say, or one another, and there are many. Unlike `path_traits`, which are stored,
they are told from the paths and languages of a page, so that a new pattern needs no new index.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache

from gitrag.late import late_re


class Bulk(StrEnum):
    """A kind of file that comes in numbers."""

    VENDORED = "vendored"
    GENERATED = "generated"
    TRANSLATION = "translation"
    CHANGELOG = "changelog"
    RECORDED = "recorded"
    FIXTURE = "fixture"


_LANGUAGE_CODES = """
    aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de
    dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id
    ie ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu
    lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu
    rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to tr
    ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
""".split()
"""ISO 639-1."""

_WORDS = "am an as be he hi ho id in io is it my no or so to".split()
"""Codes that are English words too: what stands before them must be a folder, a dot, or a name of texts."""

_TEXTS = "app bundle common errors labels lang language locale message messages strings text translation ui"
_BEFORE = "|".join(
    rf"(?<={re.escape(before)})" for before in ["/", ".", *re.sub(r"(\w+)", r"\1_ \1-", _TEXTS).split()]
)
_LOCALE = (
    rf"(?:(?:{'|'.join(sorted(set(_LANGUAGE_CODES).difference(_WORDS)))})(?:[-_][A-Za-z0-9]{{2,8}})*"
    rf"|(?:{'|'.join(_WORDS)})(?:[-_](?:[A-Z]{{2}}|[A-Z][a-z]{{3}}|\d{{3}}|tarask))+"
    rf"|(?:{_BEFORE})(?:{'|'.join(_WORDS)}))"
)

_PACKAGED = "urllib3|chardet|charade|idna|six|certifi|oauthlib|simplejson|ordered_dict"
"""What Python packages copied into a folder named packages, a name that alone tells nothing."""

_LONGEST = 500
"""Characters of a path that are looked at, its last: some patterns take quadratic time."""

_DATA = r"\.(?:json5?|ya?ml|properties|php|strings|xml|toml|resx)$"

_MAYBE_TRANSLATED = late_re(
    r"\.(?:po|pot|xlf|xliff|arb|tmx|res[xw]|strings|stringsdict|xcstrings|properties)$|\.lproj/|(?:^|/)(?:values-"
    r"|(?i:locales?|i18n|l10n|translations?|langs?|languages?|messages|resources|strings)/)"
)
"""What every path of a translation has; its pattern, with each language six times, compiles in 15 ms."""

_PATTERNS: tuple[tuple[Bulk, re.Pattern[str], frozenset[str]], ...] = (
    (
        Bulk.VENDORED,
        late_re(
            r"(?:^|/)(?:_?vendor(?:s|ed)?|third[_-]?party|3rd[_-]?party|node_modules|bower_components"
            r"|jspm_packages|c?extern|externals|submodules|subprojects(?!/[^/]+/src/)|(?-i:Pods|Carthage|Godeps)"
            r")/(?P<folder>[^/]+)"
            r"|^(?:deps|dependencies)/(?P<top>[^/]+)/"
            rf"|/packages/(?P<package>{_PACKAGED})(?:/|\.py$)"
            r"|(?:^|/)(?P<script>jquery)[.-][^/]*\.js$",
            re.IGNORECASE,
        ),
        frozenset("vendor vendors vendored vendoring bundled third".split()),
    ),
    (
        Bulk.GENERATED,
        late_re(
            r"(?:^|/)(?:__generated__|_?generated|autogen(?:erated)?|priv/static)/"
            r"|(?:^|/)single[_-]?(?:include|header)s?/.*\.(?:h|hh|hpp|c|cc|cpp)$"
            r"|[._](?:pb2|pb2_grpc|generated|freezed|pb\.go|pb\.h|pb\.cc|g\.dart|designer\.cs)(?:\.\w+)?$"
            r"|[.-](?:min|bundle)\.(?:[mc]?js|css)$|(?:^|/)dist/.*\.(?:[mc]?js|d\.[mc]?ts|css|map)$"
            r"|(?:^|/)zz_generated[^/]*$"
            r"|(?:^|/)(?:package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|go\.sum|[^/]+\.lock)$",
            re.IGNORECASE,
        ),
        frozenset("generated generates generator minified bundle lock lockfile".split()),
    ),
    (
        Bulk.TRANSLATION,
        late_re(
            r"\.(?:po|pot|xlf|xliff|arb|tmx|res[xw]|strings|stringsdict|xcstrings)$"
            rf"|(?<=_){_LOCALE}\.properties$|(?:^|/){_LOCALE}\.lproj/|(?:^|/)values-(?:{_LOCALE}|{'|'.join(_WORDS)})(?:-r[A-Z]{{2}})?/[^/]*\.xml$"
            rf"|(?:^|/)(?i:locales?|i18n|l10n|translations?)/(?:.*[/._-])?(?P<locale>{_LOCALE})(?:/|\.\w+$)"
            rf"|(?:^|/)(?i:langs?|languages?|(?:messages|resources|strings)(?!/(?:.*/)?(?:{'|'.join(_WORDS)})/))/"
            rf"(?=.*{_DATA})(?:.*[/._-])?(?P<lang>{_LOCALE})(?:/|{_DATA})"
        ),
        frozenset("translation translations translated locale locales localization i18n l10n".split()),
    ),
    (
        Bulk.CHANGELOG,
        late_re(
            r"(?:^|/)(?:changelogs?|changes|history|news|release[-_.]?notes|whats[-_]?new)(?:[-_][^/.]*|\.\d[^/]*)?"
            r"(?:\.(?:mdx?|markdown|rst|txt|adoc|org))?$|(?:^|/)(?:changelogs?|release[-_.]?notes)[^/]*\.html?$"
            r"|(?:^|/)(?:changelogs?(?:\.d)?|release[-_]?notes|whats[-_]?new|newsfragments|\.changesets?)/"
            r".*\.(?:mdx?|rst|txt|adoc|ya?ml|feature|bugfix)$",
            re.IGNORECASE,
        ),
        frozenset("changelog changelogs release releases news".split()),
    ),
    (
        Bulk.RECORDED,
        late_re(
            r"\.(?:har|dic|aff)$|(?:^|/)(?:vcr\w*|__recordings__|(?:tests?|spec|.*fixtures)/(?:.*/)?(?:\w*cassettes?|recordings))/"
            r".*\.(?:ya?ml|json)$"
            r"|(?:^|/)(?:(?:db|data(?:base)?|prisma|sql|repo|tests?|spec|fixtures)/(?:.*/)?seeds?"
            r"|(?:seed|initial|sample)[-_]?data)/.*\.(?:sql|json|ya?ml|csv|tsv|xml)$"
            r"|(?:^|/)(?:[^/]*[._-])?(?:seeds?|dump|(?:seed|initial|sample)[-_]?data)\.(?:sql|json|ya?ml|csv)$"
            r"|(?:^|/)(?:dumps?|backups?)/.*\.sql$"
            r"|(?:^|/)(?:word[-_]?lists?|stop[-_]?words|dictionar(?:y|ies)|corpora)/.*\.(?:txt|lst|json|csv)$"
            r"|(?:^|/)[^/]*(?:word[-_]?list|stop[-_]?words|bad[-_]?words)s?[^/]*\.(?:txt|lst|json|csv)$",
            re.IGNORECASE,
        ),
        frozenset(
            """
            cassette cassettes recording recordings seed seeds dump dumps dictionary dictionaries wordlist
            wordlists stopword stopwords
            """.split()
        ),
    ),
    (
        Bulk.FIXTURE,
        late_re(
            r"(?:^|/)(?:_*fixtures?_*|testdata|test[-_]data|__snapshots__|golden)/|\.snap$",
            re.IGNORECASE,
        ),
        frozenset("fixture fixtures testdata snapshot snapshots golden".split()),
    ),
)

_BY_LANGUAGE = {
    "qt-translation": Bulk.TRANSLATION,
    "gettext": Bulk.TRANSLATION,
    "fluent": Bulk.TRANSLATION,
    "cassette": Bulk.RECORDED,
    "sql-dump": Bulk.RECORDED,
    "word-list": Bulk.RECORDED,
}
_ASKED_BY = {kind: asked_by for kind, _pattern, asked_by in _PATTERNS}


def bulk(path: str, asked: frozenset[str] = frozenset(), language: str = "") -> Bulk | None:
    """Return the kind of a file that comes in numbers; None for any other, and where it is asked for.

    Args:
        asked: The lower-case words of a question: "changelog" asks for changelogs, "urllib3" for the copy of
            that project.
    """
    kind, asked_by = _kind(path)
    if kind is None and (kind := _BY_LANGUAGE.get(language)):
        asked_by = _ASKED_BY[kind]
    return kind if asked.isdisjoint(asked_by) else None


@lru_cache(maxsize=20_000)
def _kind(path: str) -> tuple[Bulk | None, frozenset[str]]:
    """Return a path's kind, and the words that ask for it; a microsecond for a path seen before, else ten."""
    end = path[-_LONGEST:]
    for kind, pattern, asked_by in _PATTERNS:
        if kind is Bulk.TRANSLATION and not _MAYBE_TRANSLATED.search(end):
            continue
        if found := pattern.search(end):
            return kind, asked_by | {part.casefold() for part in found.groupdict().values() if part}
    return None, frozenset()


@lru_cache(maxsize=20_000)
def untranslated(path: str) -> str:
    """Return a path with the language of a translation left out: equal for translations of the same text."""
    maybe = len(path) <= _LONGEST and _MAYBE_TRANSLATED.search(path)
    for kind, pattern, _asked_by in _PATTERNS if maybe else ():
        if kind is Bulk.TRANSLATION and (found := pattern.search(path)):
            group = "locale" if found["locale"] else "lang" if found["lang"] else 0
            begin, end = found.span(group)
            if not group:  # by the ending: messages.de.po, or de/messages.po
                return re.sub(rf"(?:^|(?<=[/._-])){_LOCALE}(?=[/._-])", "*", path)
            return f"{path[:begin]}*{path[end:]}"
    return path
