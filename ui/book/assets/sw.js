// Keeps what was read, so that the next visit needs no network. A new edition of the book has another name for its store.
const STORE = "rope-lab VERSION";

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil((async () => {
  for (const name of await caches.keys()) if (name.startsWith("rope-lab ") && name !== STORE) await caches.delete(name);
  await clients.claim();
})()));

const keep = async (request) => {
  const store = await caches.open(STORE), known = await store.match(request, { ignoreSearch: true });
  if (known) return known;
  // Past what the browser keeps for as long as the host says: it may be of the edition before. A redirection goes back to the browser.
  const answer = await fetch(request.url ?? request, { cache: "no-cache", redirect: request.mode === "navigate" ? "manual" : "follow" });
  if (answer.ok && !answer.redirected) await store.put(String(request.url ?? request).split(/[?#]/)[0], answer.clone());
  return answer;
};

self.addEventListener("fetch", (event) => {
  if (event.request.method === "GET" && event.request.url.startsWith(self.registration.scope)) event.respondWith(keep(event.request));
});
// What the first visit had loaded before this file was there.
self.addEventListener("message", (event) => event.waitUntil(Promise.allSettled(event.data.map(keep)).then(() => event.source.postMessage("kept"))));
