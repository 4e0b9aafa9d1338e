// Formulas to HTML: reads a JSON list of {latex, display}, writes the list of their HTML.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { default: katex } = await import(pathToFileURL(process.argv[2]));
const asked = JSON.parse(readFileSync(0, "utf-8"));
process.stdout.write(JSON.stringify(asked.map(({ latex, display }) => katex.renderToString(latex, { displayMode: display, strict: "ignore" }))));
