// Keeps what was read, so that the next visit needs no network. This text is the same in every edition, so that browsers
// exchange no worker: of 40 visits that began meanwhile Chromium 156 lost 11. It asks for the host's edition instead.
const STORE = "rope-lab", EDITION = "edition.txt", PATIENCE = 3000;

/** The store, emptied where the host has another edition by now; without a network it is what was read. */
async function current() {
  const store = await caches.open(STORE), asked = { cache: "no-store", signal: AbortSignal.timeout(PATIENCE) };
  const now = await fetch(EDITION, asked).then((answer) => answer.ok && answer.text()).catch(() => null);
  const known = now && await (await store.match(EDITION))?.text();
  if (!now || now === known) return store;
  // Where none is known, what is there is of this visit.
  if (known) for (const name of await caches.keys()) if (name.startsWith(STORE)) await caches.delete(name);
  const own = await caches.open(STORE);
  await own.put(EDITION, new Response(now));
  return own;
}

const keep = async (request) => {
  const store = await (request.mode === "navigate" ? current() : caches.open(STORE));
  const known = await store.match(request, { ignoreSearch: true });
  if (known) return known;
  // Past what the browser keeps for as long as the host says: it may be of the edition before. A redirection goes back to the browser.
  const answer = await fetch(request.url ?? request, { cache: "no-cache", redirect: request.mode === "navigate" ? "manual" : "follow" });
  if (answer.ok && !answer.redirected) await store.put(String(request.url ?? request).split(/[?#]/)[0], answer.clone());
  return answer;
};

self.addEventListener("activate", (event) => event.waitUntil(clients.claim()));
self.addEventListener("fetch", (event) => {
  const { method, url } = event.request, { scope } = self.registration;
  // What a room shows is never kept.
  if (method === "GET" && url.startsWith(scope) && !url.startsWith(`${scope}room/`)) event.respondWith(keep(event.request));
});
// What the first visit had loaded before this file was there.
self.addEventListener("message", (event) => event.waitUntil(current().then(() => Promise.allSettled(event.data.map(keep)))
  .then(() => event.source.postMessage("kept"))));
