// Runs compiled.py in Pyodide itself, on a folder of this machine: what the browser loads is compiled by the Python that runs it.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [pyodide, script, folder] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${pyodide}/pyodide.mjs`));
const python = await loadPyodide({ indexURL: `${pyodide}/` });
python.FS.mkdirTree("/folder");
python.FS.mkdirTree("/site");
python.FS.mount(python.FS.filesystems.NODEFS, { root: folder }, "/folder");
try {
  python.runPython(readFileSync(script, "utf-8"));
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
