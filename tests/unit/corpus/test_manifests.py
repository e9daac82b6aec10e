"""The modules that a workspace's manifest names."""

from __future__ import annotations

import pytest

from gitrag.corpus.manifests import MANIFEST_BYTES, detect

MAVEN = """<project><modules>
  <!-- <module>packages/old</module> -->
  <module>packages/api</module> <module> packages/web </module>
</modules></project>"""


def modules_of(files: dict[str, str | bytes]) -> list[tuple[str, str]]:
    found = detect(files, lambda path: data.encode() if isinstance(data := files[path], str) else data)
    assert not found[1]
    return [(module.name, module.directory) for module in found[0]]


@pytest.mark.parametrize(
    ("manifest", "text", "member"),
    [
        (
            "pyproject.toml",
            '[tool.uv.workspace]\nmembers = ["packages/*"]\nexclude = ["packages/old"]',
            "pyproject.toml",
        ),
        ("package.json", '{"workspaces": ["packages/*", "!packages/old"]}', "package.json"),
        ("package.json", '{"workspaces": {"packages": ["./packages/[aw]*"]}}', "package.json"),
        ("package.json", '{"workspaces": ["{packages,apps}/{api,w{eb,ww}}"]}', "package.json"),
        ("pnpm-workspace.yaml", "packages:\n  - 'packages/**'\n  - '!packages/old'\n", "package.json"),
        ("Cargo.toml", '[workspace]\nmembers = ["packages/api", "packages/web"]', "Cargo.toml"),
        ("go.work", "go 1.22\n\nuse (\n\t./packages/api // the API\n\t./packages/web\n)\n", "go.mod"),
        ("pom.xml", MAVEN, "pom.xml"),
    ],
    ids=["uv", "npm", "yarn", "braces", "pnpm", "Cargo", "Go", "Maven"],
)
def test_members_are_found(manifest, text, member):
    files = {f"packages/{name}/{member}": "" for name in ("api", "old", "web")}
    files |= {f"elsewhere/{member}": "", "packages/none/README.md": "", manifest: text}
    assert modules_of(files) == [("api", "packages/api"), ("web", "packages/web")]


def test_braces_that_mean_too_much_end():
    """Twelve braces of three are half a million patterns."""
    pattern = "{a,b,c}" * 12
    manifest = f'{{"workspaces": ["{pattern}", "packages/*"]}}'
    assert modules_of({"package.json": manifest, "packages/api/package.json": ""}) == [
        ("api", "packages/api")
    ]


def test_a_repository_without_a_workspace_has_no_modules():
    files = {"pyproject.toml": "[project]\nname = 'x'", "sub/pyproject.toml": "", "package.json": "{}"}
    assert modules_of(files) == []


def test_modules_of_the_same_name_are_named_by_their_paths():
    files = {
        "go.work": "use ./a/lib\nuse ./b/lib\nuse .\n",
        "go.mod": "",
        "a/lib/go.mod": "",
        "b/lib/go.mod": "",
    }
    assert modules_of(files) == [("a-lib", "a/lib"), ("b-lib", "b/lib")]


@pytest.mark.parametrize(
    ("manifest", "text"),
    [
        ("pyproject.toml", b"[tool.uv.workspace"),
        ("pyproject.toml", b"[tool.uv.workspace]\nmembers = 3"),
        ("package.json", b"{"),
        ("package.json", b"[" * 100_000),
        ("package.json", b'{"workspaces": [1]}'),
        ("pnpm-workspace.yaml", b"packages: &a [*a]"),
        ("Cargo.toml", b"\xff"),
        ("go.work", b"\xff"),
        ("pom.xml", b"<" * (MANIFEST_BYTES + 1)),
        ("package.json", None),
    ],
)
def test_a_broken_manifest_is_left_alone_with_a_note(manifest, text):
    files = {manifest: text, "a/package.json": b"{}"}
    found = detect(files, files.__getitem__)
    assert found[0] == ()
    assert len(found[1]) == 1
    assert found[1][0].startswith(f"{manifest} names no modules: ")
    assert len(found[1][0]) < 250


def test_patterns_cannot_leave_the_repository():
    files = {"package.json": '{"workspaces": ["../*", "/etc", "a/../../b", "."]}', "b/package.json": ""}
    assert modules_of(files) == []
