// Starts `gitrag lsp`, and puts what it answers into VS Code.

"use strict";

const { homedir } = require("node:os");
const vscode = require("vscode");
const { LanguageClient, RevealOutputChannelOn } = require("vscode-languageclient/node");
const { search, why } = require("./asking");

const PAUSE_MS = 200; // after the last key that is typed
const NOTHING = "Nothing is known: the line is in no repository, or not on the disk as it is here.";

let client;

async function activate(context) {
  const settings = () => vscode.workspace.getConfiguration("gitrag");
  client = new LanguageClient(
    "gitrag",
    "gitrag",
    // Windows looks for a program in the working directory first: it is to be no folder of a repository.
    { command: settings().get("command"), args: ["lsp"], options: { cwd: homedir() } },
    {
      documentSelector: [{ scheme: "file" }],
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      middleware: {
        provideCodeLenses: (document, token, next) => (settings().get("lenses") ? next(document, token) : []),
        provideHover: (document, position, token, next) =>
          settings().get("hovers") ? next(document, position, token) : undefined,
      },
    },
  );
  const output = vscode.window.createOutputChannel("gitrag: why");
  const register = (name, run) => context.subscriptions.push(vscode.commands.registerCommand(name, run));
  context.subscriptions.push(client, output);
  register("gitrag.search", openSearch);
  register("gitrag.why", () => showWhy(output));
  register("gitrag.calls", showCalls);
  register("gitrag.callers", async (uri, at) => { // of a lens
    const editor = await vscode.window.showTextDocument(vscode.Uri.parse(uri));
    const place = new vscode.Position(at.line, at.character);
    editor.selection = new vscode.Selection(place, place);
    await showCalls();
  });
  try {
    await client.start();
  } catch (error) {
    vscode.window.showErrorMessage(`gitrag does not start (${error.message}). pip install "gitrag[lsp]", or set gitrag.command.`);
  }
}

const deactivate = () => client && client.stop();

function openSearch() {
  const pick = vscode.window.createQuickPick();
  let waiting;
  let asked = new vscode.CancellationTokenSource();
  pick.placeholder = "What are you looking for? In words, a name, a message";
  pick.onDidChangeValue((query) => {
    clearTimeout(waiting);
    asked.cancel();
    const own = (asked = new vscode.CancellationTokenSource());
    waiting = setTimeout(async () => {
      pick.busy = true;
      try {
        const found = await search((method, params) => client.sendRequest(method, params, own.token), query);
        if (own === asked) pick.items = found.map((each) => ({ ...each, alwaysShow: true }));
      } catch (error) {
        if (own === asked) pick.items = [{ label: error.message, alwaysShow: true }];
      }
      if (own === asked) pick.busy = false;
    }, PAUSE_MS);
  });
  pick.onDidAccept(async () => {
    const [chosen] = pick.selectedItems;
    if (!chosen || !chosen.location) return;
    pick.hide();
    const { uri, range } = client.protocol2CodeConverter.asLocation(chosen.location);
    await vscode.window.showTextDocument(uri, { selection: range });
  });
  pick.onDidHide(() => {
    clearTimeout(waiting);
    asked.cancel();
    pick.dispose();
  });
  pick.show();
}

async function showWhy(output) {
  const editor = vscode.window.activeTextEditor;
  if (!editor) return;
  const uri = client.code2ProtocolConverter.asUri(editor.document.uri);
  output.clear();
  try {
    const said = await why((method, params) => client.sendRequest(method, params), uri, editor.selection.active.line);
    output.append(said || NOTHING);
  } catch (error) {
    output.append(error.message);
  }
  output.show(true);
}

const showCalls = () => vscode.commands.executeCommand("references-view.showCallHierarchy");

module.exports = { activate, deactivate };
