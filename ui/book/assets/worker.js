// Runs the project's own Python: loads it once, opens a page, answers one move after another.
import { keep, kept, later } from "./code.js";
import { started, unpacked } from "./python.js";

const here = new URL("./", import.meta.url).href;

const file = async (name, type) => new Response(await unpacked(new URL(`${name}.gz`, here)), { headers: { "content-type": type } });

let site = "", known = 0;

async function start() {
  const before = kept();
  const [wasm, script, library, numpy, app] = [
    file("pyodide.asm.wasm", "application/wasm"), file("pyodide.asm.js", "text/javascript"),
    ...["library", "numpy", "app"].map((name) => file(`python/${name}.zip`, "application/zip")),
  ];
  // Pyodide asks for its own files by name.
  const own = { "pyodide.asm.wasm": wasm, "library.zip": library }, fetched = globalThis.fetch;
  globalThis.fetch = (url, ...more) => own[String(url).split("/").pop()] ?? fetched(url, ...more);
  const { loadPyodide } = await import("./pyodide.mjs");
  (0, eval)(await (await script).text());
  const bytes = [numpy, app].map(async (archive) => (await archive).arrayBuffer());
  const { python, ...rest } = await started(loadPyodide, here, bytes, before);
  ({ site, known } = rest);
  later(python.FS, site, JSON.parse(python.FS.readFile(`${site}/later.json`, { encoding: "utf8" })));
  return python;
}

let page = null, rest = 0;
const ready = start();
const REST = 100;

onmessage = async ({ data }) => {
  clearTimeout(rest);
  try {
    const python = await ready;
    if (data.open) {
      const session = python.pyimport("ui.book.session");
      page = session.open_session(JSON.stringify(data.open));
      postMessage({ opened: true, answer: JSON.parse(page.answer()), ready: performance.getEntriesByType("resource").map(({ name }) => name) });
      known = await keep(python.FS, site, known);
    } else postMessage({ answer: JSON.parse(page.act(data.act, JSON.stringify(data.given))), act: data.act });
  } catch (error) {
    postMessage({ opened: Boolean(data.open), failed: String(error), act: data.act });
  }
  // While a lecturer speaks, what follows is drawn.
  if (page) rest = setTimeout(() => page.draw_ahead(), REST);
};
