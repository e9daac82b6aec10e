"""Files of parts in several languages: each part is cut by its own language, at the lines of the file."""

from __future__ import annotations

from textwrap import dedent

import pytest

from gitrag.chunking import chunk
from gitrag.chunking.containers import CONTAINERS, container_of, main_language, parts_of
from gitrag.chunking.occurrences import occurrences

DATABRICKS = """\
# Databricks notebook source
# MAGIC %md
# MAGIC # Rides

# COMMAND ----------

def clean(rides):
    return rides.dropna()

# COMMAND ----------

# MAGIC %sql
# MAGIC SELECT count(*) FROM rides
"""

PERCENT = """\
import math

# %% [markdown]
# # Rides
# What they cost.

# %% Fares
def fare(km):
    return 2 + km
"""

WORKFLOW = """\
on: push
jobs:
  test:
    steps:
      - uses: actions/checkout@v4
      - run: make lint
      - name: Test
        run: |
          retry() { "$@" || "$@"; }

          retry make test
        env: {A: b}
"""


def parts(text: str, language: str) -> list[str]:
    """Language and lines of each part, and of what its parser sees the first line that is not blank."""
    container = container_of(text, language)
    assert container is not None
    return [
        f"{part.language} {part.first + 1}-{part.stop}: {next(filter(str.strip, part.read), '').strip()}"
        for part in parts_of(text.split("\n"), container)
    ]


@pytest.mark.parametrize(
    ("language", "text", "found"),
    [
        (
            "python",
            DATABRICKS,
            [
                "markdown 1-4: # Rides",
                "ipython 5-9: def clean(rides):",
                "sql 10-14: SELECT count(*) FROM rides",
            ],
        ),
        (
            "scala",
            "// Databricks notebook source\nval a = 1\n// COMMAND ----------\n// MAGIC %sql SELECT 1\n",
            ["scala 1-2: val a = 1", "sql 3-5: SELECT 1"],
        ),
        (
            "sql",
            "-- Databricks notebook source\nSELECT 1\n-- COMMAND ------\n-- MAGIC %python\n-- MAGIC f()\n",
            ["sql 1-2: SELECT 1", "ipython 3-6: f()"],
        ),
        (
            "python",
            PERCENT,
            ["ipython 1-2: import math", "markdown 3-6: # Rides", "ipython 7-10: def fare(km):"],
        ),
        (
            "markdown",
            "# A\n\n```{code-cell} ipython3\nf()\n```\n\n```{note}\nx\n```\n\n```python\ng()\n```\n",
            ["ipython 3-5: f()"],
        ),
        (
            "markdown",
            "---\njupytext:\n  formats: md\n---\n\n```python\nf()\n```\n",
            ["ipython 6-8: f()"],
        ),
        ("rmarkdown", "````\n```{r}\nf()\n```\n````\n\n~~~{r}\ng()\n~~~\n", ["r 7-9: g()"]),
        (
            "html",
            '<p>\n<script type="application/json">\n{}\n</script>\n<script>f()</script>\n',
            ["javascript 5-5: f()"],
        ),
        (
            "vue",
            '<script>\nf()\n</script>\n<script lang="ts" setup>\ng()\n</script>\n<style>\na {}\n</style>\n',
            ["javascript 1-3: f()", "typescript 4-6: g()", "css 7-9: a {}"],
        ),
        ("yaml", WORKFLOW, ["bash 6-6: make lint", 'bash 9-11: retry() { "$@" || "$@"; }']),
        (
            "yaml",
            "build:\n  script:\n    - make all\n    - |\n      cd out\n      ls\n  image: x\n",
            ["bash 3-3: make all", "bash 5-6: cd out"],
        ),
        (
            "yaml",
            "- name: x\n  ansible.builtin.shell: systemctl restart web\n",
            ["bash 2-2: systemctl restart web"],
        ),
        ("yaml", 'command: ["sh", "-c"]\nargs:\n- exec serve\n', ["bash 3-3: exec serve"]),
        (
            "dockerfile",
            'FROM a\nRUN --mount=type=x apt update && \\\n  apt install b\nCMD ["x"]\nRUN <<EOF\nls\nEOF\n',
            ["bash 2-3: apt update && \\", "bash 5-7: ls"],
        ),
        (
            "make",
            "all: a.o\n\t@echo $$HOME\n\t-rm b\n\nb:\n\ttrue\n",
            ["bash 2-3: echo $HOME", "bash 6-6: true"],
        ),
    ],
)
def test_parts_of(language, text, found):
    assert parts(text, language) == found


@pytest.mark.parametrize(
    ("language", "text", "name", "chunks"),
    [
        ("python", DATABRICKS, "clean", "function clean 5-8"),
        ("python", PERCENT, "fare", "function fare 7-9"),
        (
            "html",
            "<p>\nPay\n</p>\n<script>\nfunction payNow() {\n  send()\n}\n</script>\n",
            "payNow",
            "function payNow 4-8",
        ),
        ("yaml", WORKFLOW, "retry", "function retry 9-9"),
        ("markdown", "# A\n\n```{code-cell}\ndef f():\n    pass\n```\n", "f", "function f 3-6"),
    ],
)
def test_a_part_has_the_definitions_of_its_language(language, text, name, chunks):
    found = [each for each in chunk(text.encode(), language) if each.name == name]
    assert [f"{each.kind} {each.qualified_name} {each.line_start}-{each.line_end}" for each in found] == [
        chunks
    ]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("html", "<h1>Pay</h1>\n<script>\npay()\n</script>\n<p>by card</p>\n"),
        ("yaml", "jobs:\n  a:\n    run: make\n    env: {}\n"),
        ("dockerfile", "FROM a\nRUN make\nUSER b\n"),
        ("markdown", "# A\n\n```python\ndef f(): ...\n```\nShows f.\n"),
    ],
)
def test_a_part_without_definitions_stays_with_what_is_around(language, text):
    assert [(each.line_start, each.line_end) for each in chunk(text.encode(), language)] == [
        (1, text.count("\n"))
    ]


def test_a_letter_with_a_longer_small_form_moves_no_part():
    text = f"<p>{'İ' * 40}</p>\n<script>\nopen()\n</script>\n<script>\nclose()\n</script>\n"
    assert parts(text, "vue") == parts(text.replace("İ", "I"), "vue")


def test_what_a_name_does_is_read_from_its_part():
    text = "# notify is run\njobs:\n  a:\n    run: notify ops\n    env: notify\n"
    assert [(each.line, each.use) for each in occurrences(text, "yaml", "notify")] == [
        (1, "text"),
        (4, "used"),
        (5, "text"),
    ]


@pytest.mark.parametrize(
    ("language", "text", "main"),
    [
        ("rmarkdown", "```{r}\nf()\ng()\n```\n```{python}\nh()\n```\n", ("r", "\nf()\ng()\n\n\n\n\n")),
        ("vue", "<p/>\n<script>\nf()\n</script>", ("javascript", "\n        \nf()\n")),
        ("python", "f()\n", ("python", "f()\n")),
        ("notebook", "# Nothing run\n", ("", "")),
    ],
)
def test_calls_are_read_in_the_language_of_most_rows(language, text, main):
    assert main_language(text, language, {"r", "python", "javascript"}) == main


def test_most_languages_cost_nothing():
    assert not {"go", "rust", "java", "typescript", "javascript", "c", "cpp"} & CONTAINERS.keys()
    plain = dedent("""
        # COMMAND is not %% a notebook
        def f(): ...
    """)
    assert container_of(plain, "python") is None


HELM = """\
{{/*
Name of the chart, short enough
for a label.
*/}}
{{- define "web.name" -}}
{{- if .Values.name }}
{{ .Values.name }}
{{- end }}
{{- end }}

{{ define "web.labels" }}
app: {{ include "web.name" . }}
{{ end }}
"""

MACROS = """\
<ul>
</ul>
{# A field with its label. #}
{%- macro field(name, kind="text") -%}
  <input name="{{ name }}">
{%- endmacro %}
<p>{{ field("age") }}</p>
<script>
function send() { go() }
</script>
{% macro closed() %}{% endmacro %}
"""

PLAYBOOK = """\
- hosts: web
  vars:
    port: 80
  tasks:
    - name: Install Docker
      apt: name=docker state=present

    - name: "Start it on boot"
      # whatever happens
      service:
        name: docker
"""


ERB = """\
<% content_for :title, "Agents" %>
<% content_for :sidebar do %>
  <% if admin? %>
    <%= link_to "Edit" if x %>
  <% end %>
  <%= form_for agent do |f| %>
    <%= f.submit %>
  <% end -%>
<% end %>
<p>Agents</p>
"""
BLADE = """\
@extends('layout')

@section('title', 'Carts')

@push('scripts')
  <b>x</b>
@endpush

@section("content")
  @if ($empty) <p>Empty</p> @endif
@endsection
"""
EJS = """\
<% function row(item) { %>
  <% if (item.sold) { %>
    <s><%= item.name %></s>
  <% } else { %> <b><%= item.name %></b> <% } %>
<% } %>
<% items.forEach(function (item) { %>
  <% row(item) %>
<% }) %>
"""


@pytest.mark.parametrize(
    ("language", "text", "found"),
    [
        ("go-template", HELM, ["function web.name 1-9", "function web.labels 11-13"]),
        ("html", MACROS, ["function field 3-6", "function send 8-10", "function closed 11-11"]),
        ("html", ERB, ["section sidebar 2-9"]),
        ("html", BLADE, ["section scripts 5-7", "section content 9-11"]),
        ("html", EJS, ["function row 1-5"]),
        ("html", "<% content_for :a, 'b' %>\n<% if x %>\nc\n<% end %>\n", []),
        (
            "html",
            "<% content_for :a do %>\n<%# form_for b do |f| %>\n<% end %>\n<p>\n<% end %>\n",
            ["section a 1-3"],
        ),
        ("html", "<% content_for :a do %>\n<% b.each { |c| %>\n<% } %>\n<% end %>\n", ["section a 1-4"]),
        ("html", "<% function a() { %>\n<% if (b) return; %>\n<% } %>\n", ["function a 1-3"]),
        ("html", "@section('a')\nme@show.org, @@stop\n@endsection\n", ["section a 1-3"]),
        ("html", "<% content_for :a do %>\nb\n<%= f { %>\n<% end %>\n<% } %>\n", None),
        ("html", '{{#*inline "row"}}\n<td>\n{{/inline}}\n', ["function row 1-3"]),
        ("yaml", PLAYBOOK, ["section Install Docker 5-6", "section Start it on boot 8-11"]),
        ("yaml", "steps:\n- name: Test\n  run: make test\n", ["section Test 2-3"]),
        ("yaml", "env:\n- name: POD\n  value: x\nports:\n- name: http\n  port: 80\n", []),
        ("html", "{% macro never(closed) %}\n" * 3 + "{{ end }}{{ end }}\n{% endblock %}\n", None),
    ],
)
def test_what_templates_and_playbooks_name_is_a_chunk(language, text, found):
    chunks = chunk(text.encode(), language)
    named = [f"{each.kind} {each.name} {each.line_start}-{each.line_end}" for each in chunks if each.name]
    assert found is None or named == found
    lines = text.split("\n")
    covered = {row for each in chunks for row in range(each.line_start, each.line_end + 1)}
    assert covered >= {row for row, line in enumerate(lines, 1) if line.strip()}


def test_a_comment_above_says_what_a_template_does():
    (first, _) = chunk(HELM.encode(), "go-template")
    assert first.docstring == "Name of the chart, short enough for a label."
    assert first.signature == '{{- define "web.name" -}}'


MIGRATION = """\
func up(tx *Tx) error {
\treturn tx.Exec(`
create table if not exists play_list
(
  id int primary key,
  name varchar(255)
);
`)
}
"""

SCHEMA = """\
<?php
function one($db) {
  $db->exec('CREATE TABLE `dbo`.`users` (
    id INT,
    name TEXT)');
}
"""


@pytest.mark.parametrize(
    ("language", "text", "found"),
    [
        ("go", MIGRATION, ["function up 1-2", "class up.play_list 3-9"]),
        ("php", SCHEMA, ["function one 2-2", "class one.users 3-6"]),
        ("python", 'A = """\nCREATE VIEW late AS\nSELECT 1\nFROM t;\n"""\nB = 1\n', ["class late 2-4"]),
        ("python", 'def f(db):\n    db.execute("CREATE TABLE t (a INT)")\n', ["function f 1-2"]),
        ("python", "# CREATE TABLE t (\n#  a INT\n# )\ndef f():\n    pass\n", ["function f 1-5"]),
        (
            "python",
            'def f(db):\n    db.run("CREATE TABLE t AS SELECT 1")\n    a = 1\n    b = 2\n    return g(a)\n',
            ["function f 1-5"],
        ),
        (
            "python",
            'def f():\n    """Do.\n\n    Create view layer as told\n    and so on,\n    for all.\n    """\n',
            ["function f 1-7"],
        ),
        (
            "python",
            "A = '''\nCREATE VIEW v AS\nSELECT 1\nFROM t\n'''\n\ndef f():\n    pass\n",
            ["class v 2-5", "function f 7-8"],
        ),
        (
            "javascript",
            "a = ['create view v as select 1']\n\nfunction f() {\n  return 1\n}\n\nfunction g() {}\n",
            ["function f 3-5", "function g 7-7"],
        ),
    ],
)
def test_a_table_that_a_string_creates_is_a_chunk(language, text, found):
    chunks = [each for each in chunk(text.encode(), language) if each.name]
    assert [
        f"{each.kind} {each.qualified_name} {each.line_start}-{each.line_end}" for each in chunks
    ] == found
