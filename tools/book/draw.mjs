// Draws the pages by the Python and from the archives that the reader's browser gets, so that both draw the same.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";

const [pyodide, root, folder, ...names] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${pyodide}/pyodide.mjs`));
const python = await loadPyodide({ indexURL: `${pyodide}/`, env: { ROPE_LAB_BENCH: "off", ROPE_LAB_MEASURE: "off" } });
const site = python.runPython("import site; site.getsitepackages()[0]");
for (const name of ["numpy", "app"])
  python.unpackArchive(new Uint8Array(gunzipSync(readFileSync(`${folder}/assets/python/${name}.zip.gz`))), "zip", { extractDir: site });
for (const path of Object.keys(JSON.parse(python.FS.readFile(`${site}/later.json`, { encoding: "utf8" }))))
  python.FS.writeFile(`${site}/${path}`, readFileSync(`${folder}/assets/python/${path}`));
for (const [place, of] of [["/project", root], ["/book", folder]]) {
  python.FS.mkdirTree(place);
  python.FS.mount(python.FS.filesystems.NODEFS, { root: of }, place);
}
try {
  // Only what builds the book comes from the project's own folder.
  python.runPython("import sys; sys.path.append('/project')");
  python.pyimport("tools.book.site").draw("/book", names);
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
