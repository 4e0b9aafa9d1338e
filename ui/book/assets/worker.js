// Runs the project's own Python: loads it once, opens a page, answers one move after another.
import { keep, kept, later, restore, unzip } from "./code.js";

const here = new URL("./", import.meta.url).href;

/** A file of the book, which is compressed whatever the host does. */
const file = async (name, type) => {
  const body = (await fetch(`${here}${name}.gz`)).body.pipeThrough(new DecompressionStream("gzip"));
  return new Response(body, { headers: { "content-type": type } });
};

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
  const python = await loadPyodide({ indexURL: here, lockFileURL: `${here}pyodide-lock.json`, stdLibURL: `${here}library.zip` });
  site = python.runPython("import site; site.getsitepackages()[0]");
  for (const archive of [numpy, app]) unzip(python.FS, site, await (await archive).arrayBuffer());
  later(python.FS, site, JSON.parse(python.FS.readFile(`${site}/later.json`, { encoding: "utf8" })));
  known = restore(python.FS, await before);
  // What Python knew of the folder is out of date; importlib's own way to say so loads a dozen modules more.
  python.runPython(`import os, sys
os.environ |= {"ROPE_LAB_BENCH": "off", "ROPE_LAB_MEASURE": "off", "ROPE_LAB_READINGS": "64"}
sys.dont_write_bytecode = False
sys.path_importer_cache.pop("${site}", None)`);
  return python;
}

/** Run a student's file, and tell what each stage gave as soon as it is known. */
function grade(python, { name, stages, source }) {
  python.FS.writeFile("/tmp/mine.py", source);
  const child = python.pyimport("rope_core.grade.child");
  postMessage({ began: true });
  for (const line of child.lines("/tmp/mine.py", name, 0, stages)) postMessage({ line });
  postMessage({ ended: true });
}

let page = null, rest = 0;
const ready = start();
const REST = 100;

onmessage = async ({ data }) => {
  clearTimeout(rest);
  try {
    const python = await ready;
    if (data.grade) grade(python, data.grade);
    else if (data.open) {
      const session = python.pyimport("ui.book.session");
      page = session.opened(JSON.stringify(data.open));
      postMessage({ opened: true, answer: JSON.parse(page.answer()), ready: performance.getEntriesByType("resource").map(({ name }) => name) });
      known = await keep(python.FS, site, known);
    } else postMessage({ answer: JSON.parse(page.act(data.act, JSON.stringify(data.given))), act: data.act });
  } catch (error) {
    postMessage({ opened: Boolean(data.open), failed: String(error), act: data.act });
  }
  // While a lecturer speaks, what follows is drawn.
  if (page) rest = setTimeout(() => page.ahead(), REST);
};
