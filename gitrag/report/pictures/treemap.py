"""Place files in nested rectangles whose areas are their lines. Pure.

Squarified treemaps (Bruls, Huizing and van Wijk, 2000): of each row the worst ratio of sides is kept low.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

WIDTH, HEIGHT = 1600.0, 900.0
"""Size of the whole, in pixels."""

HEADER = 17.0
"""Height of a folder's name above what is in it."""

_PADDING = 2.0
_LEAST = 3.0
"""Least side of a rectangle that is drawn: of smaller ones nothing could be seen, or clicked."""

_LEAST_TITLED = 34.0
"""Least sides of a folder whose name is drawn."""


class Area(Struct, frozen=True):
    """A file or a folder in a map; x and y are its left upper corner, in pixels.

    Attributes:
        is_titled: Whether there is room above what is in it for its name.
    """

    path: str
    is_folder: bool
    is_titled: bool
    size: int
    x: float
    y: float
    width: float
    height: float


class _Folder(Struct):
    folders: dict[str, _Folder]
    files: dict[str, int]
    size: int = 0


Box = tuple[float, float, float, float]


def treemap(sizes: Mapping[str, int]) -> list[Area]:
    """Place files, and the folders around them, outermost first.

    Args:
        sizes: The files' lines, by path; a file has one at least.
    """
    root = _Folder({}, {})
    for path, lines in sizes.items():
        *folders, name = path.split("/")
        here = root
        here.size += max(lines, 1)
        for each in folders:
            here = here.folders.setdefault(each, _Folder({}, {}))
            here.size += max(lines, 1)
        here.files[name] = max(lines, 1)
    found: list[Area] = []
    waiting: list[tuple[str, _Folder, Box]] = [("", root, (0.0, 0.0, WIDTH, HEIGHT))]
    while waiting:
        path, folder, box = waiting.pop()
        items = [(name, inner.size, inner) for name, inner in folder.folders.items()]
        rows: list[tuple[str, int, _Folder | None]] = [
            *items,
            *((n, s, None) for n, s in folder.files.items()),
        ]
        rows.sort(key=lambda row: (-row[1], row[0]))
        for (name, size, inner), (x, y, wide, high) in zip(
            rows, squarified([size for _, size, _ in rows], box), strict=True
        ):
            if min(wide, high) < _LEAST:
                continue
            own = f"{path}/{name}" if path else name
            is_titled = inner is not None and wide >= _LEAST_TITLED and high >= _LEAST_TITLED
            found.append(Area(own, inner is not None, is_titled, size, x, y, wide, high))
            if inner is not None:
                top = HEADER if is_titled else _PADDING
                inside = (x + _PADDING, y + top, wide - 2 * _PADDING, high - top - _PADDING)
                if min(inside[2:]) >= _LEAST:
                    waiting.append((own, inner, inside))
    return found


def squarified(sizes: Sequence[int], box: Box) -> list[Box]:
    """Divide a rectangle by sizes, largest first, into rectangles as near to squares as they go.

    Args:
        box: Left, top, width, height.
    """
    x, y, width, height = box
    total = sum(sizes)
    found: list[Box] = []
    start = 0
    while start < len(sizes) and width > 0 and height > 0 and total > 0:
        scale = width * height / total
        side = min(width, height)
        end = start + 1
        row = sizes[start]
        while end < len(sizes):
            longer = row + sizes[end]
            if _worst(sizes[start], sizes[end], longer, side, scale) > _worst(
                sizes[start], sizes[end - 1], row, side, scale
            ):
                break
            row, end = longer, end + 1
        thickness = row * scale / side
        offset = 0.0
        for size in sizes[start:end]:
            length = side * size / row
            if width >= height:
                found.append((x, y + offset, thickness, length))
            else:
                found.append((x + offset, y, length, thickness))
            offset += length
        if width >= height:
            x, width = x + thickness, width - thickness
        else:
            y, height = y + thickness, height - thickness
        total -= row
        start = end
    return found + [(x, y, 0.0, 0.0)] * (len(sizes) - len(found))


def _worst(largest: int, smallest: int, row: int, side: float, scale: float) -> float:
    """Return the worst ratio of sides in a row of areas laid along a side."""
    area = row * scale
    return max(side * side * largest * scale / area**2, area**2 / (side * side * smallest * scale))
