"""What is for editors: the extension's own tests, by npm, and the picker in a Neovim without a screen."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.command import GITRAG, PATIENCE_S, Project
from tests.support.node import NODE_DIR

EDITORS = Path(__file__).parents[2] / "editors"


@pytest.mark.sweep(keep=0)
def test_the_extension_is_built_and_asks_the_real_server(indexed: Project, tmp_path: Path):
    modules = Path(NODE_DIR or "", "node_modules")
    if not (NODE_DIR and (modules / "vscode-languageclient").is_dir() and shutil.which("npm")):
        pytest.skip("npm, or what the extension is built with, is not here")
    shutil.copytree(
        EDITORS / "vscode", tmp_path / "vscode", ignore=shutil.ignore_patterns("node_modules", "dist")
    )
    (tmp_path / "vscode" / "node_modules").symlink_to(modules)
    environment = {**indexed.gitrag.environment, "GITRAG": str(GITRAG), "NO_UPDATE_NOTIFIER": "1"}
    done = subprocess.run(
        ["npm", "test", "--silent"],
        cwd=tmp_path / "vscode",
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "# pass 4" in done.stdout


CHOOSE = """
vim.ui.select = function(items, options, done)
  print(#items, options.prompt, options.format_item(items[1]))
  done(items[1])
  chosen = true
end
vim.cmd("Gitrag call again after a failure")
vim.wait(WAIT, function() return chosen end)
print(vim.fn.expand("%:t"), vim.fn.line("."))
vim.cmd("Gitrag! -- call again")
vim.wait(WAIT, function() return #vim.fn.getqflist() > 0 end)
print(vim.fn.getqflist({ title = 1 }).title, vim.fn.bufname(vim.fn.getqflist()[1].bufnr))
vim.notify = function(text) said = text end
vim.fn.chdir("/")
vim.cmd("Gitrag anything")
print(said)
"""

ASK = """
if not vim.lsp.enable then print("too old") return end
vim.cmd("edit client.py")
vim.wait(WAIT, function() return #vim.lsp.get_clients({ name = "gitrag", bufnr = 0 }) > 0 end)
local params = { textDocument = { uri = vim.uri_from_bufnr(0) }, position = { line = 3, character = 6 } }
for _, each in pairs(vim.lsp.buf_request_sync(0, "textDocument/hover", params, WAIT)) do
  print(each.result.contents.value)
end
"""


def in_neovim(project: Project, script: str, *commands: str) -> str:
    """Run Lua in a Neovim that has the plugin and nothing else; return what it printed."""
    nvim = shutil.which("nvim")
    if nvim is None:
        pytest.skip("Neovim is not here")
    environment = dict(project.gitrag.environment)
    environment["PATH"] = f"{GITRAG.parent}{os.pathsep}{environment['PATH']}"
    lua = project.path / ".git" / "steps.lua"
    lua.write_text(script.replace("WAIT", f"{PATIENCE_S * 400:.0f}"))
    plugin = str(EDITORS / "neovim/plugin/gitrag.lua")
    steps = [
        part for each in (*commands, f"luafile {plugin}", f"luafile {lua}", "qa!") for part in ("-c", each)
    ]
    done = subprocess.run(
        [nvim, "--headless", "-u", "NONE", "-i", "NONE", "-n", *steps],
        cwd=project.path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    return (done.stdout + done.stderr).replace("\r", "")


def test_neovims_picker_lists_and_opens_what_a_search_finds(ready: Project):
    said = in_neovim(ready, CHOOSE)
    first, opened, listed, outside = [line for line in said.splitlines() if line]
    assert "call again after a failure" in first
    assert "retry_with_backoff  client.py:1" in first
    assert opened.split() == ["client.py", "1"]
    assert listed.endswith("client.py")
    assert outside == "gitrag: this is no git repository"


def test_neovim_starts_the_server(ready: Project):
    said = in_neovim(ready, ASK, "filetype on", "let g:gitrag_lsp = v:true")
    if "too old" in said:
        pytest.skip("Neovim before 0.11 is set up by hand")
    assert "client.py:4  retry_with_backoff" in said
