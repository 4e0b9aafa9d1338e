// Files that are fetched when Python reads them, and what it compiled, which this browser keeps for the next visit.
const STORE = "rope-lab VERSION";
const PLACE = new URL("python/compiled", import.meta.url).href;

/** Have Python find files below a folder, by path and size, that are fetched when it reads one: a worker may wait for that. */
export function later(FS, folder, sizes) {
  for (const [path, length] of Object.entries(sizes)) {
    let bytes = null;
    const cut = path.lastIndexOf("/"), node = FS.createLazyFile(`${folder}/${path.slice(0, cut)}`, path.slice(cut + 1), "", true, false);
    node.contents = { length, get: (at) => (bytes ??= waited(new URL(`python/${path}`, import.meta.url), FS))[at] };
  }
}

function waited(url, FS) {
  const request = new XMLHttpRequest(), EIO = 29;
  try {
    request.open("GET", url, false);
    request.responseType = "arraybuffer";
    request.send();
  } catch { /* no network: its status is 0 */ }
  if (request.status !== 200) throw new FS.ErrnoError(EIO);
  return new Uint8Array(request.response);
}

function* compiled(FS, folder) {
  for (const name of FS.readdir(folder)) {
    const path = `${folder}/${name}`;
    if (name.endsWith(".pyc")) yield path;
    else if (!name.includes(".") && FS.isDir(FS.stat(path).mode)) yield* compiled(FS, path);
  }
}

/** What an earlier visit kept, as a buffer; null where there is nothing, or a browser that keeps nothing here. */
export async function kept() {
  try {
    const answer = await (await caches.open(STORE)).match(PLACE);
    return answer ? await answer.arrayBuffer() : null;
  } catch {
    return null;
  }
}

/** Keep what Python has compiled below a folder, where that is more files than were `known`; return how many they are. */
export async function keep(FS, folder, known) {
  const files = [...compiled(FS, folder)].map((path) => [path, FS.readFile(path)]);
  if (files.length <= known) return known;
  const list = new TextEncoder().encode(JSON.stringify(files.map(([path, bytes]) => [path, bytes.length])));
  const blob = new Blob([new Uint32Array([list.length]), list, ...files.map(([, bytes]) => bytes)]);
  try {
    await (await caches.open(STORE)).put(PLACE, new Response(blob));
  } catch { /* no room, or an address that browsers do not trust */ }
  return files.length;
}
