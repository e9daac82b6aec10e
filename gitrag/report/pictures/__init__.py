"""Calls as pictures: an SVG, or a page with it that can be moved, searched and clicked. Pure."""

from gitrag.report.pictures.page import as_page
from gitrag.report.pictures.svg import as_svg

__all__ = ["as_page", "as_svg"]
