// Finds words in the book's prose: the index is fetched at the first letter.
const box = document.getElementById("search"), list = document.getElementById("found");
const { lang, nothing } = document.documentElement.dataset;
const MOST = 12, AROUND = 70;

let index = null;
const rows = () => (index ??= fetch(new URL(`search-${lang}.json`, import.meta.url)).then((answer) => answer.json()));

/** Whether a text holds a word; of several Chinese words that are written without spaces it holds each two letters. */
const holds = (text, word) => text.includes(word) ||
  (/^\p{Script=Han}{3,}$/u.test(word) && [...word].slice(1).every((letter, k) => text.includes([...word][k] + letter)));

/** Places that hold every word, those with words in their titles first. */
async function found(words) {
  const hits = [];
  for (const [page, way, title, text] of await rows()) {
    const head = `${page} ${title}`.toLowerCase(), body = text.toLowerCase();
    if (!words.every((word) => holds(head, word) || holds(body, word))) continue;
    const at = Math.max(0, Math.min(...words.map((word) => body.indexOf(word)).filter((place) => place >= 0), text.length) - AROUND / 2);
    const said = body.includes(words[0]) ? text.slice(at, at + 2 * AROUND) : text.slice(0, 2 * AROUND);
    hits.push({ page, way, title, said, rank: words.filter((word) => head.includes(word)).length + words.filter((word) => title.toLowerCase().startsWith(word)).length });
  }
  return hits.sort((a, b) => b.rank - a.rank).slice(0, MOST);
}

function row({ page, way, title, said }) {
  const { book } = document.documentElement.dataset, item = document.createElement("li"), link = document.createElement("a"), text = document.createElement("span");
  link.href = (book === "./" ? "" : book) + way || "./";
  link.textContent = title ? `${page} · ${title}` : page;
  text.textContent = `… ${said} …`;
  item.append(link, text);
  return item;
}

box.addEventListener("input", async () => {
  const given = box.value, words = given.toLowerCase().split(/\s+/).filter(Boolean);
  const hits = words.length ? await found(words) : [];
  if (box.value !== given) return;
  list.replaceChildren(...hits.map(row));
  if (words.length && !hits.length) list.append(Object.assign(document.createElement("li"), { textContent: nothing }));
});
/** Down and up go from the box through what was found. */
box.closest("search").addEventListener("keydown", (event) => {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key], places = [box, ...list.querySelectorAll("a")];
  const next = by && places[places.indexOf(document.activeElement) + by];
  if (event.key === "Escape") box.focus();
  if (!next) return;
  event.preventDefault();
  next.focus();
});
// Another page in the same window: what was looked for is found.
addEventListener("rope-lab-page", () => {
  box.value = "";
  list.replaceChildren();
});
box.closest("search").hidden = false;
