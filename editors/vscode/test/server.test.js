// The client's part against the real `gitrag lsp` (GITRAG names the program); VS Code itself is not run.

"use strict";

const assert = require("node:assert");
const { execFileSync, spawn } = require("node:child_process");
const { mkdtempSync, rmSync, writeFileSync, existsSync } = require("node:fs");
const { tmpdir } = require("node:os");
const { join } = require("node:path");
const { pathToFileURL } = require("node:url");
const { after, before, test } = require("node:test");
const { createProtocolConnection, StreamMessageReader, StreamMessageWriter } = require("vscode-languageserver-protocol/node");
const { search, why } = require("../src/asking");

const GITRAG = process.env.GITRAG || "gitrag";
const SOURCE = `def pay(items):
    """Charge the customer's card."""
    return sum(items)


def checkout(items):
    "😀"; return pay(items)
`;
const folder = mkdtempSync(join(tmpdir(), "gitrag-vscode-"));
const uri = pathToFileURL(join(folder, "shop.py")).href;
let server, connection;
const ask = (method, params) => connection.sendRequest(method, params);

before(async () => {
  const git = (...args) => execFileSync("git", ["-c", "user.name=A", "-c", "user.email=a@b", ...args], { cwd: folder });
  writeFileSync(join(folder, "shop.py"), SOURCE);
  git("init", "--quiet");
  git("add", ".");
  git("commit", "--quiet", "--message", "Sell things");
  execFileSync(GITRAG, ["index", "update", "--no-embed"], { cwd: folder, stdio: "pipe" });
  server = spawn(GITRAG, ["lsp"], { stdio: ["pipe", "pipe", "inherit"] });
  connection = createProtocolConnection(new StreamMessageReader(server.stdout), new StreamMessageWriter(server.stdin));
  connection.listen();
  const workspaceFolders = [{ uri: pathToFileURL(folder).href, name: "shop" }];
  await ask("initialize", { processId: process.pid, rootUri: null, capabilities: {}, workspaceFolders });
  await connection.sendNotification("initialized", {});
  const textDocument = { uri, languageId: "python", version: 1, text: SOURCE };
  await connection.sendNotification("textDocument/didOpen", { textDocument });
});

after(() => rmSync(folder, { recursive: true, force: true }));

test("a search has items that open at the definition", async () => {
  assert.deepStrictEqual(await search(ask, " "), []);
  const [first] = await search(ask, "charge the card");
  assert.strictEqual(first.label, "pay");
  assert.match(first.description, /^shop\.py:1 {2}0\.\d\d$/);
  assert.deepStrictEqual(first.location, {
    uri,
    range: { start: { line: 0, character: 4 }, end: { line: 0, character: 7 } },
  });
});

test("why is what the command says", async () => {
  const said = execFileSync(GITRAG, ["why", "shop.py:1", "--output", "text"], { cwd: folder, encoding: "utf8" });
  assert.strictEqual(await why(ask, uri, 0), said.trimEnd());
  assert.strictEqual(await why(ask, "untitled:1", 0), "");
});

test("what calls this has its place in UTF-16, and a lens its command", async () => {
  const textDocument = { uri };
  const [item] = await ask("textDocument/prepareCallHierarchy", { textDocument, position: { line: 0, character: 5 } });
  const [call] = await ask("callHierarchy/incomingCalls", { item });
  assert.strictEqual(call.from.name, "checkout");
  assert.deepStrictEqual(call.fromRanges[0].start, { line: 6, character: 17 });
  const lenses = await ask("textDocument/codeLens", { textDocument });
  const lens = await ask("codeLens/resolve", lenses[0]);
  assert.deepStrictEqual(lens.command, {
    title: "1 caller, 0 tests",
    command: "gitrag.callers",
    arguments: [uri, { line: 0, character: 4 }],
  });
});

test("the extension is built, and the server ends when it is asked to", async () => {
  assert.ok(existsSync(join(__dirname, "../dist/extension.js")));
  await ask("shutdown");
  await connection.sendNotification("exit");
  assert.strictEqual(await new Promise((done) => server.on("exit", done)), 0);
});
