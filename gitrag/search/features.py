"""What the ranker weighs: a row a feature, with what it is, its weights and what is said of it. Pure data.

`scripts/training/fit_ranker.py` fits the weights on annotated questions, `scripts/training/fit_hit_scores.py`
those of a hit's score, `scripts/training/fit_reports.py` those for bug reports, and
`scripts/training/fit_document_scores.py` those of documents; all validate on repositories left out, and print
the values to write here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

OWN_CODE = "it is the product's own code"
"""True of most hits: said only where little else is."""

_MEANING = "its meaning is near the question's"
_WORDS = "its text has the question's words"
_OTHER = "its text has code's words for the question's"
_RARE = "it has a name of the question that hardly another file has"
_QUOTED = "it has the question word for word, or filled in"
_PATH = "its path has the question's words"
_NAMES = "names in it have the question's words"
_DEFINES = "it defines what the question names"
_COMMITS = "commits about this changed it"
_TRACEBACK = "the traceback goes through it, or ends in its message"
_NAMED = "the report names it"
_W, _M = "words", "meaning"


class Feature(Struct, frozen=True):
    """Something that the ranker weighs.

    Attributes:
        weights: For each kind of question that of one unit; None where there is no such feature, 0 where it
            counts for nothing.
        said: What a user is told that counts for a file, the same of features that mean the same.
        against: What a user is told that counts against it.
        by: ``words`` or ``meaning``, where it tells by which of them a hit was found.
    """

    name: str
    what: str
    weights: tuple[float | None, ...] = ()
    said: str = ""
    against: str = ""
    by: str = ""


FEATURES = (
    Feature("cosine", "mean over its five best chunks", (7.732, 0.8), _MEANING, by=_M),
    Feature("cosine_sum", "a soft sum over all its chunks", (1.496, 1.0), _MEANING, by=_M),
    Feature("cosine_best", "how many of the 50 best chunks it has (log)", (0.221, 0.2), _MEANING, by=_M),
    Feature("agreed", "by its rank by words, and by its nearest chunk", (0.426, 0.0), _MEANING),
    Feature("title_cosine", "cosine of a report's title and the nearest chunk", (None, 4.0), _MEANING),
    Feature("bm25", "mean of its five best chunks, the best file's is 1", (-1.348, 0.924), _WORDS, by=_W),
    Feature("bm25_file", "as one document, the best file's is 1", (1.789, 2.242), _WORDS, by=_W),
    Feature("bm25_share", "its best chunk's, of what one could have", (4.582, 0.0), _WORDS, by=_W),
    Feature("everyday", "by code's words for the question's (`everyday`)", (1.25, 0.0), _OTHER, by=_W),
    Feature("title_bm25", "of the title's words alone, its best chunk's", (None, 0.5)),
    Feature("title_bm25_file", "of the title's words alone, as one document", (None, 1.5)),
    Feature("verbatim", "whether it has the question, or its template", (6.000, 4.0), _QUOTED, by=_W),
    Feature("quoted", "the share of a message that it has, in runs of three words", (None, 3.0), _QUOTED),
    Feature("rare_name", "whether it has a name that hardly another file has", (6.000, 0.0), _RARE, by=_W),
    Feature("file_name", "whether the question has all words of its name", (0.0, 0.5), _PATH, by=_W),
    Feature("file_name_share", "then the share that they are of the question", (2.376, 0.0), _PATH, by=_W),
    Feature("file_name_asked", "`file_name`, where it is asked as a question", (0.695, 0.0), _PATH, by=_W),
    Feature("title_file_name", "the share of the title that its name makes up", (None, 1.5), _PATH),
    Feature("file_name_part", "whether only some words of its name are", (-0.672, 0.0), by=_W),
    Feature("in_names", "the share found in its definitions' names", (0.0, 0.525), _NAMES, by=_W),
    Feature("title_in_names", "the same of the title", (None, 1.0), _NAMES),
    Feature("symbols", "how many names of a report it defines (log), by their places", (None, 0.7), _NAMES),
    Feature("title_symbols", "the same of the title", (None, 1.0), _NAMES),
    Feature("defines", "whether it defines a name of the question", (1.595, 0.0), _DEFINES, by=_W),
    Feature("defines_it", "whether that is the question", (5.000, 0.0), _DEFINES, by=_W),
    Feature("named", "whether the question names it: it is looked up, not ranked", (), _DEFINES, by=_W),
    Feature("history", "what messages of earlier changes say (`history`)", (0.781, 1.0), _COMMITS),
    Feature("like", "its part in earlier changes like this one", (0.341, 1.0), _COMMITS),
    Feature("meant", "by its rank by the two subjects nearest in meaning", (1.583, 0.0), _COMMITS),
    Feature("votes", "cosines of chunks nearest to each sentence of a report", (None, 4.0), _COMMITS),
    Feature("frame", "whether it has the deepest own frame, or an exception's text", (None, 2.5), _TRACEBACK),
    Feature("frames", "0.75 to the power of the own frames that are deeper", (None, 7.0), _TRACEBACK),
    Feature("mentions", "whether its path stands in the report", (None, 5.0), _NAMED),
    Feature("modules", "how much a dotted name leads to it", (None, 1.0), _NAMED),
    Feature("code", "whether it is code", (2.233, 4.0), OWN_CODE),
    Feature("top_share", "how much code its top directory has, at most 1", (1.140, 2.189), OWN_CODE),
    Feature(
        "test_or_doc",
        "whether it is one, unless it is asked for",
        (-2.738, -5.0),
        against="it is a test, an example or a document",
    ),
    Feature(
        "support",
        "whether it only does that, unless it is asked for",
        (-0.254, -1.330),
        against="it only supports the product: a script, a build file",
    ),
    Feature("prose", "whether it is, unless it is asked for", (-1.580, -3.0), against="it is prose"),
    Feature("size", "its number of chunks (log)", (-0.158, -0.15)),
)
"""Of a file (`evidence.gather`), with its weight for a question, and for a bug report.

Those for a question are fitted on two kinds at once: annotated ones (436, 22 repositories, 17 languages), and
everyday ones to 52 applications and libraries; beside them features and commits' messages of 31 repositories.
Each repository by weights fitted on the others, NDCG@10 is 0.918 on source folders and 0.912 on whole
repositories of the first kind, and 0.401 on applications of the second. `everyday` was fitted later, alone.

Those for a report are set by hand: with them a changed file is first for 0.74 of 62 reports on five
repositories, among three for 0.90, among ten for 0.97; of 130 on a repository that was kept aside, without
history, 0.67, 0.80 and 0.89. Fitted to few reports they hold up less well: on repositories left out of the
62, 0.57, 0.86 and 0.95.
"""

FACTS = (
    Feature("bias", "1", (-4.06, -5.27, -6.79, -5.03, -5.87, -2.53)),
    Feature(
        "coverage", "the largest share of the question's idf that one file covers", (0.51, 0.98, 1.79, 2.30)
    ),
    Feature(
        "missing",
        "the share that no file of the product's own code has; of documents, that none has",
        (-2.91, -2.72, -2.40, -3.75, None, -2.09),
    ),
    Feature(
        "unknown_name", "whether the question is one word that names no definition", (-3.26, -3.52, 0, 0)
    ),
    Feature(
        "said", "how much of the question its first chunk says (`other_words`)", (4.42, 5.47, 1.97, 3.45)
    ),
    Feature("said_missing", "how much of the words that the source lacks", (-1.01, -0.85, 0, 0)),
    Feature("rank", "ln(1 + its place)", (-0.54, -0.92, -1.10, -1.23)),
    Feature("gap", "its sum less the first file's", (0.43, 0.38, 0.14, 0.17)),
    Feature("behind", "exp(gap / 4)", (0.15, 0.96, 1.05, 0.97)),
    Feature("named", "how surely a report names it, or something that it has", (None, None, 2.15, 2.19)),
    Feature("outside", "`test_or_doc`", (-3.18, -4.30, -2.87, -2.94)),
    Feature("cosine", "that of its nearest chunk", (0.84, None, 4.84, None, 6.17)),
    Feature(
        "above",
        "that less the median of the nearest 1,000, other collections included; of documents the mean of the"
        " best three parts less the median over the documents",
        (4.13, None, 0.40, None, 10.28),
    ),
    Feature(
        "verbatim",
        "whether it has the question word for word, or a name that hardly another file has",
        (4.00, 4.00, 4.00, 4.00, 4.0, 4.0),
    ),
    Feature(
        "alone", "of documents, whether hardly another has a word asked about", (None,) * 4 + (1.11, 0.0)
    ),
    Feature(
        "words", "of documents the highest BM25 of a part, as a share of the idf", (None,) * 4 + (0.96, 1.87)
    ),
    Feature(
        "lead",
        "of documents `words` and `cosine` together, less the same of the best other one",
        (None,) * 4 + (2.27, 4.69),
    ),
)
"""Of a hit (`ranking.hit_facts`, `document_scores.facts`), with its weight in a logistic regression on
whether it answers: a question, a report, and of documents, each with vectors and where none is known.

- question: fitted on the pages of 1,918 questions to 76 repositories, of annotated, everyday and absent ones.
  On repositories left out the expected calibration error over all hits is 0.021, 0.95 of the absent
  features get no hit above 0.5, and of the targets on a page 0.99 (annotated), 0.92 (everyday) and 0.96
  (features) score at least 0.02. Without vectors 0.017, 0.98, 0.98, 0.84 and 0.96.
- report: on 62 reports, each asked of its own repository and of another one; ``verbatim`` is set, for pasted
  code. On repositories left out the error is 0.019, and of the reports on another repository 0.98 have no hit
  above 0.3. Without vectors 0.009 and 0.97.
- document: on 108 sentences and questions to four repositories, 36 of them about what no document there
  decides; ``verbatim`` is set, since next to none of them quotes a text. On each of these left out in turn,
  0.989 have a document that decides the matter among the first three, 0.880 with a score of 0.3 or more; of
  those without one, 0.911 have nothing above 0.5; the error is 0.013. Without vectors 0.914, 0.657, 0.857 and
  0.020.
"""


def _weights(table: Iterable[Feature], kind: int) -> dict[str, float]:
    """Return the weights for a kind of question, by feature; a name that has none is an error."""
    return {
        each.name: weight for each in table for weight in each.weights[kind : kind + 1] if weight is not None
    }


WEIGHTS, REPORT_WEIGHTS = (_weights(FEATURES, kind) for kind in range(2))
HIT, HIT_BY_WORDS, HIT_OF_REPORT, HIT_OF_REPORT_BY_WORDS, DOCUMENT, DOCUMENT_BY_WORDS = (
    _weights(FACTS, kind) for kind in range(6)
)
BY: Mapping[str, str] = {each.name: each.by for each in FEATURES}
