"""Calls as pictures: an SVG, or a page with it that can be moved, searched and clicked. Pure."""

from gitrag.report.pictures.page import PageParts, as_page, parts_of
from gitrag.report.pictures.svg import as_svg

__all__ = ["PageParts", "as_page", "as_svg", "parts_of"]
