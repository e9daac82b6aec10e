// Reads a JSON list of diagrams on stdin; fails, saying which, where mermaid cannot parse one.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(join(resolve(process.argv[2]), "package.json"));
const { JSDOM } = require("jsdom"); // mermaid cleans labels in a DOM
const { window } = new JSDOM("");
globalThis.window = window;
globalThis.document = window.document;
const entry = join(resolve(process.argv[2]), "node_modules/mermaid/dist/mermaid.core.mjs");
const mermaid = (await import(pathToFileURL(entry))).default;

let failed = 0;
for (const block of JSON.parse(readFileSync(0, "utf8"))) {
  try {
    await mermaid.parse(block);
  } catch (error) {
    failed += 1;
    console.log(`${error}\n${block}\n`);
  }
}
process.exit(failed ? 1 : 0);
