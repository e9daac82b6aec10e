"""What is read of a Jupyter notebook, and where."""

from __future__ import annotations

import json

import pytest

from gitrag.chunking import chunk, decode
from tests.support.notebooks import code, image, markdown, notebook, printed

HAZARD = "def weibull_hazard(k, t):\n    return k * t\n"


def read(text: str) -> str:
    return decode(text.encode("utf-8", "surrogatepass"), "notebook")


def shown(text: str) -> list[str]:
    return [line for line in read(text).split("\n") if line]


def test_each_line_of_a_cell_has_the_number_it_has_in_the_file():
    text = notebook(markdown("# Churn\n\nWhy they leave."), code(HAZARD + "\nprint(1)", printed("1\n")))
    file, lines = text.split("\n"), read(text).split("\n")
    assert len(lines) == len(file)
    said = [(line, file[row].strip()) for row, line in enumerate(lines) if line]
    assert said == [
        ("# %% cell 1 [markdown]", '"source": ['),
        ("# Churn", r'"# Churn\n",'),
        ("Why they leave.", '"Why they leave."'),
        ("# %% cell 2 [output]", '"outputs": ['),
        ("1", r'"1\n"'),
        ("# %% cell 2 [python]", '"source": ['),
        ("def weibull_hazard(k, t):", r'"def weibull_hazard(k, t):\n",'),
        ("    return k * t", r'"    return k * t\n",'),
        ("print(1)", '"print(1)"'),
    ]


@pytest.mark.parametrize("how", [{"indent": None}, {"indent": None, "sort_keys": False}])
def test_a_notebook_on_one_line_has_lines_of_its_own(how):
    """What Kaggle and Databricks export."""
    text = notebook(markdown("# Churn"), code(HAZARD, printed("1\n2\n")), **how)
    code_and_output = [*HAZARD.splitlines(), "# %% cell 2 [output]", "1", "2"]
    assert read(text).split("\n") == [
        "# %% cell 1 [markdown]",
        "# Churn",
        "# %% cell 2 [python]",
        *code_and_output,
    ]


def test_a_source_that_is_one_text_has_lines_of_its_own():
    cell = {"cell_type": "code", "source": HAZARD, "outputs": [], "metadata": {}}
    assert shown(notebook(cell)) == ["# %% cell 1 [python]", *HAZARD.splitlines()]


@pytest.mark.parametrize(
    ("cell", "line"),
    [
        (code("x = 1", image(60_000)), "<Figure>"),
        (code("x = 1", printed("\x1b[31mred\x1b[0m\n")), "red"),
        (code("x = 1", printed(" 5%|=    |\r90%|==== |\n")), "90%|==== |"),
        (markdown(f"![a plot](data:image/png;base64,{'iVBORw0K' * 5000})"), "![a plot](data:)"),
        (
            code("1/0", {"output_type": "error", "ename": "ZeroDivisionError", "evalue": "division by zero"}),
            "ZeroDivisionError",
        ),
    ],
    ids=["image", "colours", "progress bar", "image within Markdown", "error"],
)
def test_of_an_output_its_text_is_read(cell, line):
    text = notebook(cell)
    assert line in shown(text)
    assert len(read(text)) < 300


@pytest.mark.parametrize(
    ("cell", "kernel", "language"),
    [
        (code("x <- 1"), "R", "r"),
        (code("x = 1"), "julia", "julia"),
        (code("int x = 1;"), "C++17", "cpp"),
        (code("var x = 1;"), "C#", "csharp"),
        (code("%%bash\nls"), "python", "bash"),
        (code("%%sql\nSELECT 1"), "python", "sql"),
        (code("%%time\nfit()"), "python", "python"),
        (code("x = 1"), "", "python"),
        (code("x = 1"), "octave", "text"),
        (code("SELECT 1") | {"metadata": {"vscode": {"languageId": "sql"}}}, "csharp", "sql"),
        ({"cell_type": "raw", "metadata": {}, "source": ["x\n"]}, "python", "text"),
    ],
)
def test_a_cell_is_in_the_language_it_is_run_in(cell, kernel, language):
    assert shown(notebook(cell, language=kernel))[0] == f"# %% cell 1 [{language}]"


def test_line_ends_of_windows_within_a_cell_are_line_ends():
    text = notebook(code(HAZARD))
    assert read(text.replace(r"\n", r"\r\n")) == read(text)
    assert read("\ufeff" + text.replace("\n", "\r\n")) == read(text)


def test_a_notebook_of_format_3_is_read():
    cell = {"cell_type": "code", "input": ["def f():\n", "    pass"], "language": "python", "outputs": []}
    text = json.dumps({"nbformat": 3, "worksheets": [{"cells": [cell]}]}, indent=1)
    assert [(each.name, each.line_start) for each in chunk(text.encode(), "notebook")] == [("f", 8)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"cells": []}',
        '{"cells": {"a": 1}}',
        '{"cells": [[{"cell_type": "code"}, 7, null]]}',
        '{"cells": [{"source": ["x", 7, {"a": "b"}]}',
        '{"cells": ' + "[" * 100_000,
        "# Conflict\n<<<<<<< HEAD\n{}",
        '{"cells": [{"source": ["\\ud800\\u0000"]}]}',
    ],
    ids=range(10),
)
def test_what_is_no_notebook_is_still_text(text):
    for each in chunk(text.encode(), "notebook"):
        each.text.encode()


def test_what_was_read_can_be_read_again():
    """Callers cut the text that they were given."""
    text = notebook(markdown("# A"), code(HAZARD, printed("{1}\n")))
    assert read(read(text)) == read(text)
    assert chunk(read(text).encode(), "notebook") == chunk(text.encode(), "notebook")


def test_a_cell_is_under_its_heading_and_an_output_is_found_by_words():
    text = notebook(
        markdown("# Churn"), markdown("## Load"), code("frame = load()", printed("12 rows\n")), code(HAZARD)
    )
    told = {each.text.split("\n")[-1]: each for each in chunk(text.encode(), "notebook")}
    assert told["frame = load()"].qualified_name == "Churn > Load"
    assert told["    return k * t"].qualified_name == "weibull_hazard"
    assert [line for line, each in told.items() if each.words_only] == ["12 rows"]
