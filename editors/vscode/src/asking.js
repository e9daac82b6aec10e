// What the extension asks the server, and how it shows the answers; without VS Code, so that tests can run it.

"use strict";

/** Ask by meaning; `ask` sends a request of the protocol. */
async function search(ask, query) {
  const found = query.trim() ? await ask("workspace/symbol", { query }) : [];
  return (found || []).map((symbol) => ({
    label: symbol.name,
    description: `${symbol.containerName}:${symbol.location.range.start.line + 1}  ${symbol.data.score.toFixed(2)}`,
    detail: symbol.data.text.map((line) => line.trim()).join("  "),
    location: symbol.location,
  }));
}

/** Ask why a line is as it is; the empty text where the server says nothing. */
async function why(ask, uri, line) {
  const found = await ask("textDocument/hover", { textDocument: { uri }, position: { line, character: 0 } });
  return found ? found.contents.value : "";
}

module.exports = { search, why };
