"""A search index that lives in a git repository and is always right about it.

What is in ``__all__`` is the public API; everything else is private and may change.

    import gitrag

    with gitrag.open("path") as repo:
        answer = repo.search("where are retries")
        print(answer.hits[0].path, answer.hits[0].lines, answer.hits[0].score)

Each name is loaded when it is first asked for: the command line and the git hooks import this package too,
and need none of them.
"""

__version__ = "0.1.0"

__all__ = [
    "AddedDefinition",
    "Answer",
    "BusyError",
    "CallAnswer",
    "CallEdge",
    "CallNode",
    "CalledDefinition",
    "CheckAnswer",
    "DuplicatesAnswer",
    "Embedded",
    "FileLines",
    "GitragError",
    "GoverningDocument",
    "Hit",
    "IndexStatus",
    "Line",
    "NameReference",
    "NetworkError",
    "NotSetUpError",
    "Primed",
    "RelatedAnswer",
    "RelatedDocument",
    "RepositoryError",
    "ReviewAnswer",
    "SearchOptions",
    "SimilarChunk",
    "TouchedDocument",
    "Updated",
    "UsageError",
    "Workspace",
    "__version__",
    "open",
]

TYPE_CHECKING = False  # typing takes longer to load than this
if TYPE_CHECKING:
    from gitrag.api import (
        Workspace,
        open,  # noqa: A004 - the public name
    )
    from gitrag.api_types import (
        AddedDefinition,
        Answer,
        CallAnswer,
        CalledDefinition,
        CallEdge,
        CallNode,
        CheckAnswer,
        DuplicatesAnswer,
        Embedded,
        FileLines,
        GoverningDocument,
        Hit,
        IndexStatus,
        Line,
        NameReference,
        Primed,
        RelatedAnswer,
        RelatedDocument,
        ReviewAnswer,
        SearchOptions,
        SimilarChunk,
        TouchedDocument,
        Updated,
    )
    from gitrag.errors import (
        BusyError,
        GitragError,
        NetworkError,
        NotSetUpError,
        RepositoryError,
        UsageError,
    )
else:  # a type checker would take any name for public

    def __getattr__(name: str) -> object:
        """Load a public name (PEP 562)."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        own = "api" if name in ("Workspace", "open") else "errors" if name.endswith("Error") else "api_types"
        found: object = getattr(import_module(f"gitrag.{own}"), name)
        globals()[name] = found
        return found

    def __dir__() -> list[str]:
        """Name what is public too, loaded or not."""
        return sorted({*globals(), *__all__})
