"""Notebooks as Jupyter writes them."""

from __future__ import annotations

import json
from typing import Any


def notebook(*cells: dict[str, Any], language: str = "python", **how: Any) -> str:
    """A notebook of some cells; ``how`` goes to ``json.dumps``, by default Jupyter's own form."""
    held = {
        "cells": list(cells),
        "metadata": {"kernelspec": {"display_name": language, "language": language, "name": language}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(held, **({"indent": 1, "sort_keys": True, "ensure_ascii": False} | how)) + "\n"


def markdown(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": text.splitlines(keepends=True)}


def code(text: str, *outputs: dict[str, Any]) -> dict[str, Any]:
    source = text.splitlines(keepends=True)
    return {
        "cell_type": "code",
        "execution_count": 9,
        "metadata": {},
        "outputs": list(outputs),
        "source": source,
    }


def printed(text: str) -> dict[str, Any]:
    return {"name": "stdout", "output_type": "stream", "text": text.splitlines(keepends=True)}


def image(size_bytes: int) -> dict[str, Any]:
    data = {"image/png": "iVBORw0K" * (size_bytes // 8) + "\n", "text/plain": ["<Figure>"]}
    return {"data": data, "metadata": {}, "output_type": "display_data"}
