// Starts a Python with the project's files in it. Knows no address: a frame without a network starts one as well.
const decode = (bytes) => new TextDecoder().decode(bytes);

/** A file that is compressed whatever the host does: one that says so in a header has had the browser unpack it already. */
export async function unpacked(url) {
  const answer = await fetch(url).catch(({ message }) => { throw new Error(`${message}: ${url}`); });
  if (!answer.ok) throw new Error(`${answer.status} ${url}`);
  const [start, whole] = answer.body.tee(), reader = start.getReader(), { value = [] } = await reader.read();
  reader.cancel();
  return value[0] === 0x1f && value[1] === 0x8b ? whole.pipeThrough(new DecompressionStream("gzip")) : whole;
}

/** Write a file. Its time is always the same: by that and its size Python knows what it was compiled to. */
function put(FS, path, bytes) {
  FS.mkdirTree(path.slice(0, path.lastIndexOf("/")));
  FS.writeFile(path, bytes);
  FS.utime(path, 0, 0);
}

/** Write the files of a zip, none of them compressed, below a folder. */
function unzip(FS, folder, buffer) {
  const view = new DataView(buffer), ENTRY = 0x04034b50, HEAD = 30;
  let at = 0;
  while (view.getUint32(at, true) === ENTRY) {
    const [size, letters, more] = [view.getUint32(at + 18, true), view.getUint16(at + 26, true), view.getUint16(at + 28, true)];
    const start = at + HEAD + letters + more;
    put(FS, `${folder}/${decode(new Uint8Array(buffer, at + HEAD, letters))}`, new Uint8Array(buffer, start, size));
    at = start + size;
  }
}

/** Put it back; return how many files it has. */
function restore(FS, buffer) {
  if (!buffer) return 0;
  const [letters] = new Uint32Array(buffer, 0, 1), list = JSON.parse(decode(new Uint8Array(buffer, 4, letters)));
  let at = 4 + letters;
  for (const [path, size] of list) put(FS, path, new Uint8Array(buffer, (at += size) - size, size));
  return list.length;
}

/** Start Python from a folder's address and from archives; `before`: what an earlier visit compiled. */
export async function started(loadPyodide, base, archives, before) {
  const python = await loadPyodide({ indexURL: base, lockFileURL: `${base}pyodide-lock.json`, stdLibURL: `${base}library.zip` });
  const site = python.runPython("import site; site.getsitepackages()[0]");
  for (const archive of archives) unzip(python.FS, site, await archive);
  const known = restore(python.FS, await before);
  // What Python knew of the folder is out of date; importlib's own way to say so loads a dozen modules more.
  python.runPython(`import os, sys
os.environ |= {"ROPE_LAB_BENCH": "off", "ROPE_LAB_MEASURE": "off", "ROPE_LAB_READINGS": "64"}
sys.dont_write_bytecode = False
sys.path_importer_cache.pop("${site}", None)`);
  return { python, site, known };
}
