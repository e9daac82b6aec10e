"""Ask again in other words: a word is misspelt, or spelt as elsewhere; the model cannot read the language.

Only for words that occur nowhere in what was searched; where every word occurs, nothing is read here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from importlib import resources
from itertools import chain, combinations
from typing import TYPE_CHECKING

from gitrag.late import late_re, np
from gitrag.search.lookup import is_identifier
from gitrag.search.question import STOP_WORDS, Question, looks_like_code
from gitrag.search.wording import Occurrences
from gitrag.store.memo import Memo
from gitrag.words import terms
from gitrag.words.spelling import other_spellings
from gitrag.words.stems import stem

if TYPE_CHECKING:
    from gitrag.store.source import Source

_ENDINGS = (0, 0, 2, 2, 5, 5, 5, 7)
"""Letters that may follow a beginning, such as ``-ungen``, by the number of its own; the last for more."""

_COMPOUND = 5
"""Least letters of the first word of a German compound."""

_LINKS = ("", "s", "n", "e", "en", "es", "er")
"""What stands between the words of a German compound."""

LANGUAGES = ("German", "Spanish", "French", "Portuguese", "Chinese", "Japanese")


def translated(word: str, language: str) -> list[str]:
    """List what a word means in English, or the words of a run of Chinese or Japanese writing."""
    begins = _begins().get(language, {})
    word = terms.unaccented(word.lower())
    if language in ("Chinese", "Japanese"):
        return [begins[each] for each in _pattern(language).findall(word)]
    if len(word) > terms.LONGEST_SPLIT:
        return []
    longest = next((word[:size] for size in range(len(word), 0, -1) if word[:size] in begins), "")
    rest = word[len(longest) :]
    if language == "German" and len(longest) >= _COMPOUND:
        others = (translated(rest.removeprefix(link), language) for link in _LINKS if rest.startswith(link))
        return [begins[longest], *next(filter(None, others), [])]
    return (
        [begins[longest]] if longest and len(rest) <= _ENDINGS[min(len(longest), len(_ENDINGS) - 1)] else []
    )


@cache
def _begins() -> dict[str, dict[str, str]]:
    """Read by language how words begin, without marks, and what they mean."""
    text = resources.files("gitrag.words").joinpath("translations.tsv").read_text("utf-8")
    found: dict[str, dict[str, str]] = {language: {} for language in LANGUAGES}
    for line in text.splitlines()[2:]:
        english, *columns = line.split("\t")
        for language, own in zip(LANGUAGES, columns, strict=True):
            for begin in own.split():
                found[language].setdefault(terms.unaccented(begin.lower()), english)
    return found


@cache
def _pattern(language: str) -> re.Pattern[str]:
    longest_first = sorted(_begins()[language], key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest_first)))


_SHORTEST = 3
_LONGEST = 32
"""Letters of the longest word that is corrected; longer ones were pasted, and no word is near."""

_SHORTEST_OF_ALL_ERRORS = 5
"""Least length of a word in which any letter may be wrong; in a shorter one only a slip counts."""

_MARKS = {"a": "áàâãäå", "c": "ç", "e": "éèêë", "i": "íìîï", "n": "ñ", "o": "óòôõöø", "u": "úùûü"}
_USUAL_MARKS = frozenset("áãäçéíñóõöúü")
"""Letters whose marks people leave out, and those that may occur twice in a word."""

_PLURALS = (("s", ""), ("es", ""), ("ones", "ón"), ("anes", "án"), ("ões", "ão"), ("oes", "ão"))
"""Plurals of Spanish, Portuguese and French; English ones are stems (`gitrag/words/stems.py`)."""

_TWO_ERRORS = 8
"""Least length of a word in which two letters may be wrong."""

_MOST = 3
"""Misspelt words in one question; with more it is no English."""

_NO_ERRORS = frozenset(
    """
    airflow alembic ansible apache argon2 argon auth0 avro azure babel backblaze bazel bcrypt bitbucket
    blake bluetooth boost braintree cassandra celery ceph chacha clickhouse cloudflare cloudfront cmake cobra
    cockroach consul coredns couchbase couchdb datadog debian deno django docker dropbox dynamo dynamodb
    elastic elasticsearch electron envoy etcd excel fastapi fedora ffmpeg firebase firestore flask flink
    github gitlab golang gradle grafana graphql gunicorn hadoop hashicorp haskell helm heroku hibernate hive
    httpx influx influxdb istio jaeger jenkins jinja jquery jupyter kafka kanban kerberos keycloak kibana
    kotlin kubernetes lambda laravel ldap linux logstash lucene luigi mailgun mapbox mariadb markdown maven
    memcached memcache mercurial minio mongo mongodb mssql mysql nginx nosql numba numpy oauth oidc okta
    openapi opencv openid oracle pandas paypal pgbouncer phoenix pickle plotly postgis postgres postgresql
    presto prolog prometheus protobuf pulsar puppet pytest qdrant rabbitmq rails react redis redshift rocksdb
    samba scrypt selenium sentry serde slack smtp snappy snowflake socketio solana solr spark sqlalchemy
    sqlite stripe svelte swagger swift telegram tensorflow terraform thrift tornado totp twilio ubuntu
    unicorn uvicorn vault vercel webauthn webgl webpack webrtc websocket websockets wireguard xpath yarn
    zeromq zookeeper zstd
    """.split()
)
"""Names of products and protocols: one that a repository lacks is no misspelling of a word that it has."""

_FUNCTION_WORDS = {
    language: frozenset(words.split())
    for language, words in {
        "German": """
            als also am an auch auf aus bei das dem den der des die durch ein eine einem einen einer
            es für gibt hier ich im in ins ist kann können man mit nach nicht noch nur oder sich
            sind so und von warum was welche welcher welches wenn wer werden wie wir wird wo wurde
            zu zum zur über
            """,
        "French": """
            au aux avec ce ces cette comment dans des du elle en est et fait il la le les ne nous on
            ou où par pas pour pourquoi quand que quel quelle quels qui quoi se sont sur un une vous
            """,
        "Spanish": """
            al como con cuando cuál cuándo cómo del donde dónde el en es esta este está están hace
            hay la las los o para pero por que quién qué se son su sus un una unos y
            """,
        "Portuguese": """
            ao as com como da das do dos e em esta este está estão faz isso na nas no nos não o onde
            os ou para por qual quando que quem se são um uma à é
            """,
        "Italian": """
            che chi come con da dei del della delle di dove e gli il in la le lo ma nel nella non o
            per quale quando questa questo si sono un una vengono viene è
            """,
        "Dutch": """
            aan bij dat de deze die dit door een en er het hoe ik is kan kunnen met naar niet of op
            uit van voor waar waarom wanneer wat we welke wie wij worden wordt zijn
            """,
        "Polish": """
            co czy dla dlaczego do gdzie i jak jest kiedy która które który na nie od po przez się
            są ta ten to w z ze
            """,
        "Swedish": """
            av den det eller en ett från för hur inte jag kan med när och på som till var varför vem
            vi vilken är
            """,
        "Turkish": """
            bir bu değil hangi ile için kim mi ne neden nerede olarak var ve veya yok şu
            """,
    }.items()
}
"""Words that hold sentences together, by language."""

_ENGLISH = frozenset(
    """
    a about all also am an and are as at be by can come comment con da das data de den die do dove due e
    el else en er es est et fail for from has have his i if im in ins is it la le list lo man may me mi
    na no non not o of on op or out par per pro se si so some su sub that the then this to un up use var
    via w was we what when where which who why will with y you z
    """.split()
)
"""Words that questions in English have too, or names in code."""

_FEWEST = 2
"""Function words of a language, or letters of another script, that a question must have."""

_SCRIPTS = late_re(r"[\u0370-\u1fff\u2e80-\ua4cf\uac00-\ud7af\uf900-\ufaff]+")
"""Runs of letters other than Latin, which may stand beside an identifier without a space."""

_KANA, _HAN = late_re(r"[\u3040-\u30ff]"), late_re(r"[\u3400-\u9fff]")


def reword(
    source: Source,
    question: Question,
    occurrences: Sequence[Occurrences],
    is_known: Callable[[str], bool],
    memo: Memo | None = None,
) -> tuple[str, bool] | None:
    """Return what to ask instead of a question; None where it can stay.

    That has its misspelt words replaced, and British or American ones by those that occur; or, as is said
    beside it, the question is in a language that the model does not read: then it has the words that occur,
    or is the user's where nothing better is known.

    Args:
        occurrences: Where its terms occur, in each scope that was searched.
        is_known: Tells whether a lower-case word is one of the model's own vocabulary.
    """
    if not occurrences:
        return None
    written = np.any([each.written for each in occurrences], axis=0)
    there = {term for term, is_there in zip(question.words, written.tolist(), strict=True) if is_there}
    if len(there) == len(question.words) and question.text.isascii():
        return None
    words = list(dict.fromkeys(re.findall(r"\w+", question.meaning)))
    occurring = [word for word in words if not there.isdisjoint(terms.split_asked(word))]
    language = foreign_language(question.meaning, occurring)
    if question.report is not None:  # what it names is looked up as it is written
        return (question.text, True) if language else None
    wrong = {
        word: pieces for word in words if (pieces := _misspelt_pieces(word, question.words, there, is_known))
    }
    wrong = wrong if language or len(wrong) <= _MOST else {}
    spelt = {word: others for word in words if (others := _spelt_otherwise(word, there))}
    if not language and not wrong and not spelt:
        return None
    content_ids = np.unique(np.concatenate([each.files.content_id for each in occurrences])).tolist()
    if language:
        unmarked = _each_most_frequent(source, map(_marked, wrong), content_ids, memo)
        own = dict(zip(occurring, occurring, strict=True))
        own |= {word: other for word, other in zip(wrong, unmarked, strict=True) if other}
        english = {
            word: _translated(word, language) for word in words if word.lower() not in _ANY_FUNCTION_WORD
        }
        known = [*{*own.values(), *(each for glosses in english.values() for each in glosses)}]
        counts = source.contents_by_term(
            [terms.hashed(terms.whole(each)) for each in known], content_ids, memo
        )
        often = {each: counts.get(place, 0) for place, each in enumerate(known)}
        return _in_english(english, own, often) or question.text, True
    better = {
        word: corrected
        for word, pieces in wrong.items()
        if (corrected := _corrected(source, word, pieces, content_ids, is_known, memo))
    }
    there_so = _each_most_frequent(source, spelt.values(), content_ids, memo)
    better |= {word: other for word, other in zip(spelt, there_so, strict=True) if other}
    if not better:
        return None
    return re.sub(r"\w+", lambda found: better.get(found.group(), found.group()), question.text), False


def _in_english(
    english: Mapping[str, Sequence[str]], own: Mapping[str, str], often: Mapping[str, int]
) -> str:
    """Put a question to English, word by word.

    A word that is there is kept if it means nothing known, or is there as often as what it means: an
    application's translations have the words of other languages too, but seldom.

    Args:
        english: What its words mean.
        own: Those that occur, and how they are written there.
        often: How many contents have a word.
    """
    found: dict[str, None] = {}
    for word, glosses in english.items():
        if word in own and all(often[own[word]] >= often[each] for each in glosses):
            found[own[word]] = None
        found |= dict.fromkeys(glosses)
    return " ".join(found)


def _translated(word: str, language: str) -> list[str]:
    """Return what a word means; of an identifier what the writing around it does."""
    runs = _SCRIPTS.findall(word) or [word] * (not is_identifier(word))
    return [each for run in runs for each in " ".join(translated(run, language)).split()]


def foreign_language(text: str, known: Collection[str]) -> str:
    """Return the language of a question, empty if it is English, or in doubt.

    Its letters are not Latin, identifiers aside; or words of another language hold it together, none of
    English do, and most of the rest occur nowhere, or are words of that language: translations of an
    application's texts have them too.

    Args:
        known: Its words that occur in what is searched.
    """
    words = dict.fromkeys(
        word.lower() for word in re.findall(r"\w+", text) if word.isalpha() and not is_identifier(word)
    )
    english = sum(word in STOP_WORDS and word not in _ANY_FUNCTION_WORD for word in words)
    if _is_in_other_letters(text, () if english else known):
        return "Japanese" if _KANA.search(text) else "Chinese" if _HAN.search(text) else "another"
    occurring = {word.lower() for word in known}
    best = ("", 0)
    for language, own in _FUNCTION_WORDS.items():
        holding = [word for word in words if word in own]
        only_there = sum(word not in _ENGLISH for word in holding)
        rest = [word for word in words if word not in own]
        enough = only_there >= _FEWEST or (only_there and len(holding) >= _FEWEST and not english)
        if not (enough and rest and only_there > max(english, best[1])):
            continue  # most questions are English: the table of words is not read for them
        unknown = sum(word not in occurring or bool(translated(word, language)) for word in rest)
        if 2 * unknown >= len(rest):
            best = (language, only_there)
    return best[0]


def _is_in_other_letters(text: str, known: Collection[str]) -> bool:
    """Tell whether most letters are not Latin, those of identifiers and of words that occur left out."""
    words = [
        word for word in re.findall(r"[^\W\d_]+|\w+", _SCRIPTS.sub(r" \g<0> ", text)) if word not in known
    ]
    letters = [character for word in words if not looks_like_code(word) for character in word]
    other = sum(character.isalpha() and not _is_latin(character) for character in letters)
    return bool(other >= _FEWEST and 2 * other > len(letters))


_SHORT_PART = 3
"""Least letters of each word of a compound."""

_ANY_FUNCTION_WORD = frozenset().union(*_FUNCTION_WORDS.values())


def _is_latin(character: str) -> bool:
    return character.isascii() or unicodedata.name(character, "").startswith("LATIN")


def _spelt_otherwise(word: str, there: Collection[str]) -> list[str]:
    """List how a word that occurs nowhere is spelt in American English, or in British."""
    low = word.lower()
    may_be = word in {low, low.title()} and len(word) <= _LONGEST and low not in _NO_ERRORS
    is_there = any(form in there for form in terms.split_asked(word))
    return other_spellings(low) if may_be and not is_there else []


def _misspelt_pieces(
    word: str, asked: Collection[str], there: Collection[str], is_known: Callable[[str], bool]
) -> list[str]:
    """List what of a word may be misspelt: all of it, or the parts of an identifier that occurs nowhere."""
    pieces = terms.pieces(word)
    if len(word) > terms.LONGEST_SPLIT or terms.whole(word) in there:
        return []
    if not word.isascii():
        pieces = [word] if all(map(_is_latin, word)) else []
    if len(pieces) > 1 and any(map(str.isdigit, pieces)):
        return []
    return [piece for piece in pieces if _may_be_misspelt(piece, asked, there, is_known)]


def _corrected(
    source: Source,
    word: str,
    pieces: Sequence[str],
    content_ids: Sequence[int],
    is_known: Callable[[str], bool],
    memo: Memo | None,
) -> str | None:
    """Return a word with its misspelt parts corrected; an identifier only where what results occurs."""
    better = {piece: _correct(source, piece.lower(), content_ids, is_known, memo) for piece in pieces}
    if not all(better.values()):
        return None
    if pieces == [word]:
        return better[word]
    other = re.sub(
        "|".join(map(re.escape, sorted(pieces, key=len, reverse=True))),
        lambda found: _in_case_of(found.group(), better[found.group()] or ""),
        word,
    )
    there = source.contents_by_term([terms.hashed(terms.whole(other))], content_ids, memo)
    return other if there.get(0) else None


def _in_case_of(word: str, other: str) -> str:
    return other.upper() if word.isupper() else other.capitalize() if word[0].isupper() else other


def _may_be_misspelt(
    word: str, asked: Collection[str], there: Collection[str], is_known: Callable[[str], bool]
) -> bool:
    """Tell whether a word occurs nowhere, and is neither an English word nor a known name."""
    low = word.lower()
    if not _SHORTEST <= len(word) <= _LONGEST or not word.isalpha() or word not in {low, low.title()}:
        return False
    forms = terms.split_asked(word)
    if not set(forms) <= set(asked) or not set(forms).isdisjoint(there) or low in _NO_ERRORS:
        return False
    endings = ("s", "es", "ed", "d", "ing", "er", "ers", "ly", "able", "ion", "ions", "less", "ment")
    bases = {low, stem(low), f"{stem(low)}e"} | {low.removesuffix(ending) for ending in endings}
    return not any(map(is_known, bases))


def _is_compound(word: str, is_known: Callable[[str], bool]) -> bool:
    """Tell whether a word is two in one, as programs write them: ``backend``, ``timestamp``."""
    cuts = range(_SHORT_PART, len(word) - _SHORT_PART + 1)
    return any(
        max(place, len(word) - place) > _SHORT_PART and is_known(word[:place]) and is_known(word[place:])
        for place in cuts
    )


def _correct(
    source: Source,
    word: str,
    content_ids: Sequence[int],
    is_known: Callable[[str], bool],
    memo: Memo | None,
) -> str | None:
    """Return the word that is meant: the nearest in the names of what was searched, else in its texts."""
    if marked := _most_frequent(source, _marked(word), content_ids, memo):
        return marked
    most = 2 if len(word) >= _TWO_ERRORS else 1
    near = [
        (distance, not _is_slip(word, other), -often, other)
        for other, often, distance in source.words_like(word, content_ids, most)
        if _may_be_meant(word, other)
    ]
    if near:
        return min(near)[-1]
    if _is_compound(word, is_known):
        return None
    meant = (other for other in _one_error(word) if is_known(other) and _may_be_meant(word, other))
    return _most_frequent(source, meant, content_ids, memo)


def _most_frequent(
    source: Source, words: Iterable[str], content_ids: Sequence[int], memo: Memo | None
) -> str | None:
    """Return the word that most contents have; None where none has any."""
    return _each_most_frequent(source, [words], content_ids, memo)[0]


def _each_most_frequent(
    source: Source, words: Iterable[Iterable[str]], content_ids: Sequence[int], memo: Memo | None
) -> list[str | None]:
    """Do so for several sets of words, at the cost of one."""
    each = [{word: term for word in own if (term := terms.whole(word))} for own in words]
    places = {term: place for place, term in enumerate(dict.fromkeys(chain(*(own.values() for own in each))))}
    if not places:
        return [None] * len(each)
    counts = source.contents_by_term(list(map(terms.hashed, places)), content_ids, memo)
    often = [{form: counts.get(places[term], 0) for form, term in own.items()} for own in each]
    best = [max(own, key=lambda form: (own[form], -len(form), form), default="") for own in often]
    return [form if own.get(form) else None for form, own in zip(best, often, strict=True)]


def _may_be_meant(word: str, other: str) -> bool:
    """Tell whether another word may be what is meant by a word; of a short one only if letters slipped.

    That is, one is left out, one is doubled, or two are exchanged; of three letters the last one stands too.
    """
    stands = other[0] == word[0] and (len(word) > _SHORTEST or other[-1] == word[-1])
    return stands and (len(word) >= _SHORTEST_OF_ALL_ERRORS or _is_slip(word, other))


def _is_slip(word: str, other: str) -> bool:
    is_longer, undoubled = len(other) > len(word), re.sub(r"(.)\1", r"\1", word)
    return is_longer or other == undoubled or sorted(other) == sorted(word)


def _marked(word: str) -> list[str]:
    """List a word, and what it is the plural of, without marks, and with that of a letter, or of two."""
    word = word.lower()
    ones = [word, *(word.removesuffix(many) + one for many, one in _PLURALS if word.endswith(many))]
    bare = list(map(terms.unaccented, ones))
    return [other for other in (*ones, *bare, *chain(*map(_accented, bare))) if other != word]


def _accented(word: str) -> list[str]:
    """List a word with the mark of a letter, or of two."""
    marked = [(at, mark) for at, letter in enumerate(word) for mark in _MARKS.get(letter, "")]
    usual = [each for each in marked if each[1] in _USUAL_MARKS]
    found = []
    for marks in (*((each,) for each in marked), *combinations(usual, 2)):
        letters = list(word)
        for at, mark in marks:
            letters[at] = mark
        found.append("".join(letters))
    return list(dict.fromkeys(found))


def _one_error(word: str) -> list[str]:
    """List what a word may have been with one letter but the first wrong, missing, added or out of place."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    cuts = [(word[:place], word[place:]) for place in range(1, len(word) + 1)]
    edits = [
        *(left + right[1:] for left, right in cuts if right),
        *(left + right[1] + right[0] + right[2:] for left, right in cuts if len(right) > 1),
        *(left + letter + right[1:] for left, right in cuts if right for letter in letters),
        *(left + letter + right for left, right in cuts for letter in letters),
    ]
    return [edit for edit in dict.fromkeys(edits) if edit != word]
