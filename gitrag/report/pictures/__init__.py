"""Calls as a picture on a page, to be moved, searched and clicked. Pure."""

from gitrag.report.pictures.page import PageParts, as_page, parts_of

__all__ = ["PageParts", "as_page", "parts_of"]
