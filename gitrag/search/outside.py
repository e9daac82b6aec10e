"""Which files are outside the product: as paths say (`words/path_traits.py`), unless most of it were."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitrag.chunking.languages import is_code, is_prose
from gitrag.late import np
from gitrag.words.path_traits import OUTSIDE_THE_PRODUCT, Trait

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gitrag.store.scopes import Files

_MOST = {Trait.TEST: 0.95, Trait.EXAMPLE: 2 / 3, Trait.DOCUMENT: 2 / 3, Trait.SUPPORT: 2 / 3}
"""Share of the code above which a name says nothing. Tests may be most of a repository; where most of the
other code is below examples/ or website/, that is the product: a collection of examples, a site."""


def traits_of(files: Files) -> NDArray[np.uint8]:
    """Return each file's traits, uint8, without those that most of the code has."""
    return files.memo.get("traits", lambda: _traits(files))


def is_product_code(files: Files) -> NDArray[np.bool_]:
    return np.asarray(files.among(is_code) & ((traits_of(files) & OUTSIDE_THE_PRODUCT) == 0))


def is_beside_the_product(files: Files) -> NDArray[np.bool_]:
    """Tell which files are prose; none where prose is the product: a book, a site."""
    return files.memo.get("prose", lambda: _prose(files))


def _prose(files: Files) -> NDArray[np.bool_]:
    prose = files.among(is_prose)
    own = (traits_of(files) & OUTSIDE_THE_PRODUCT) == 0
    written, code = (
        int(np.where(own & each, files.length, 0).sum()) for each in (prose, files.among(is_code))
    )
    return np.asarray(prose & (written <= _MOST[Trait.DOCUMENT] * (written + code)))


def _traits(files: Files) -> NDArray[np.uint8]:
    code = np.where(files.among(is_code), files.length, 0).astype(np.int64)
    untested = np.where(files.traits & Trait.TEST, 0, code)
    void = 0
    for trait, most in _MOST.items():
        own = code if trait is Trait.TEST else untested
        if own[(files.traits & trait) > 0].sum() > most * own.sum():
            void |= trait
    return files.traits & np.uint8(255 ^ void)
