// Reads lines, each a JSON list of diagrams, and answers each with a line: a JSON list of what mermaid cannot parse.
import { createInterface } from "node:readline";
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

for await (const line of createInterface({ input: process.stdin })) {
  const failed = [];
  for (const block of JSON.parse(line)) {
    try {
      await mermaid.parse(block);
    } catch (error) {
      failed.push(`${error}\n${block}`);
    }
  }
  process.stdout.write(`${JSON.stringify(failed)}\n`);
}
process.exit(0); // jsdom has timers
