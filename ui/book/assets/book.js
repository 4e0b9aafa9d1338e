// Shows what Python draws: puts changed nodes in their places, plays films, draws figures, tells Python what was moved.
// No formula is known here, and no page.
import { grading, rerun, restored } from "./grade.js";
import { download, kept } from "./dom.js";
import { remember } from "./done.js";
import { lecturer } from "./key.js";
import { mount, tell } from "./player.js";
import "./stage.js";

const assets = new URL("./", import.meta.url), { lang } = document.documentElement.dataset;
const dark = matchMedia("(prefers-color-scheme: dark)");
/** The page around what Python draws: its name, its address, and the ways from there. On the stage another page is drawn in it. */
let first, root, book, canonical, here, page, asked, handout;
const shell = () => {
  ({ page: first, root, book, canonical } = document.documentElement.dataset);
  [page, here] = [first, location.href.split(/[?#]/)[0]];
  // All of the page was asked for, to be printed: Python's address then names its sections one by one.
  handout = new URLSearchParams(location.search).get("open") === "all";
};
shell();
const told = new Map(), figures = new Map(), seen = new WeakMap();

/** The address of the rooms, where this browser holds a lecturer's key. */
const rooms = () => (lecturer() ? new URL("room/", document.documentElement.dataset.rooms || new URL(book, here)).href : "");

const element = (id) => document.getElementById(id);
const decoded = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

// ---- what is drawn by scripts ----------------------------------------------------------------------------------------

function draw(id, data) {
  const box = element(id);
  if (!box) return;
  if (box.classList.contains("film")) {
    mount(box, decoded(data), (at, count) => send(id, { at, count }));
    return;
  }
  figures.set(id, JSON.parse(data));
  if (seen.get(box) || handout) plot(box);
  else watcher.observe(box);
}

const watcher = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) if (isIntersecting) {
    watcher.unobserve(target);
    seen.set(target, true);
    plot(target);
  }
}, { rootMargin: "600px" });

let library = null;
const plotly = () => (library ??= new Promise((done, failed) => {
  const script = document.createElement("script");
  script.src = new URL("plotly.js", assets);
  script.onload = () => done(globalThis.Plotly);
  script.onerror = failed;
  document.head.append(script);
}));

/** Plotly's look on this theme; a figure's own layout is set over it. */
function template() {
  const ink = dark.matches ? "#e8eaed" : "#1c2733", line = dark.matches ? "#3c4653" : "#dfe3e8";
  const axis = { gridcolor: line, zerolinecolor: line, linecolor: line, automargin: true, title: { standoff: 8 } };
  const font = { family: getComputedStyle(document.body).fontFamily, color: ink };
  return { layout: { font, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", xaxis: axis, yaxis: axis } };
}

async function plot(box) {
  const figure = figures.get(box.id), { react } = await plotly();
  if (figures.get(box.id) !== figure || !box.isConnected) return;
  const name = box.id.replace(/.*plot\./, `${page}-`);
  const config = { displaylogo: false, responsive: true, toImageButtonOptions: { format: "png", scale: 2, filename: name } };
  const layout = { ...figure.layout, template: template() };
  if (document.documentElement.hasAttribute("data-stage")) delete layout.height;
  await react(box, figure.data, layout, config);
  box.dataset.drawn = Number(box.dataset.drawn ?? 0) + 1;
}

let katex = null;
/** Formulas that were not on the page when it was built. */
async function formulas(box) {
  const places = box.querySelectorAll(".tex:not(:has(.katex))");
  if (!places.length) return;
  katex ??= import(new URL("katex/katex.min.js", assets));
  await katex;
  for (const place of places) globalThis.katex.render(place.textContent, place, { displayMode: place.classList.contains("display"), throwOnError: false });
}

// ---- nodes -----------------------------------------------------------------------------------------------------------

/** Bring an element to what a node says: by its content, its children, or nothing where its mark is the same. */
function update(box, node) {
  if (box && box.dataset.mark === node.mark) return box;
  if (node.html !== undefined) {
    const holder = document.createElement("template");
    holder.innerHTML = node.html;
    const made = holder.content.firstElementChild;
    if (box) box.replaceWith(made);
    fresh.push(made);
    Object.assign(drawn, node.drawn);
    return made;
  }
  if (!box) return null;
  box.dataset.mark = node.mark;
  if (node.data) drawn[node.id] = node.data;
  if (node.children) arrange(box, node.children);
  return box;
}

function arrange(box, nodes) {
  const wanted = new Set(nodes.map((node) => node.id));
  const nested = [...box.children].filter((child) => child.dataset.mark);
  for (const child of nested) if (!wanted.has(child.id)) child.remove();
  let before = null;
  for (const node of nodes) {
    const made = update(element(node.id), node);
    if (!made) continue;
    const place = before ? before.nextElementSibling : [...box.children].find((child) => child.dataset.mark);
    if (place !== made) before ? before.after(made) : box.insertBefore(made, place ?? null);
    before = made;
  }
}

let fresh = [], drawn = {};

function answered({ tree, told: now, query, values, save, page: name, folder, title }) {
  if (save) return download(new Blob([decoded(save.content)], { type: save.mime }), save.name);
  kept(() => sessionStorage.setItem("values", JSON.stringify(values)));
  const stage = query.display === "stage", way = new URL(folder, new URL(book, here));
  // Around the stage there is nothing of a page; beside it there is a menu.
  if (name !== (stage ? page : first)) {
    if (!stage) return go(`${way}?${new URLSearchParams(query)}`);
    history.pushState(null, "", way);
    document.title = document.title.replace(/^.* · /, `${title} · `);
    page = name;
  }
  document.documentElement.toggleAttribute("data-stage", stage);
  fresh = [], drawn = {};
  update(element("page"), tree);
  for (const id in drawn) draw(id, drawn[id]);
  for (const id in now) hear(id, now[id]);
  for (const box of fresh) {
    formulas(box).then(reachable);
    restored(box);
  }
  address(query);
  if (rooms()) import("./hall.js").then(({ follow }) => follow(send));
}

function address(query) {
  const text = new URLSearchParams(query).toString();
  history.replaceState(null, "", `${location.pathname}?${text}${location.hash}`);
  asked = location.search;
  for (const place of document.querySelectorAll(".address")) place.textContent = `${new URL(canonical, here)}?${text}`;
  for (const link of document.querySelectorAll("a[data-lang]")) link.href = link.dataset.href + `?${new URLSearchParams({ ...query, lang: link.dataset.lang })}`;
}

/** What Python says of a control or a film: the value in force. */
function hear(id, value) {
  const box = element(id);
  if (!box) return;
  if (box.classList.contains("film")) {
    // What a hand has moved since stays where it is.
    const moved = new Set([...waiting.values()].flatMap((each) => Object.keys(each?.at ?? {})));
    return tell(box.dataset.film, { ...value, at: Object.fromEntries(Object.entries(value.at).filter(([name]) => !moved.has(name))) });
  }
  if (value?.run !== undefined) return rerun(box, value.run, send);
  if (value?.done) return worker && remember(value.done, (names) => send(id, names));
  told.set(id, value);
  for (const input of box.querySelectorAll("[data-act]")) {
    if (waiting.has(id) || (input === document.activeElement && held)) continue;
    if (input.type === "radio") input.checked = input.value === value;
    else if (input.type === "checkbox") input.checked = Array.isArray(value) ? value.includes(input.value) : value;
    else input.value = value ?? "";
    written(input);
  }
}

/** A slider's value beside it, as Python writes the stop. */
function written(input) {
  if (input.type !== "range") return;
  const text = input.dataset.texts ? JSON.parse(input.dataset.texts)[Number(input.value)] : input.value;
  input.nextElementSibling.textContent = text;
  input.setAttribute("aria-valuetext", text);
}

// ---- what is moved ---------------------------------------------------------------------------------------------------

const waiting = new Map();
let busy = true, held = false, worker = null, opening = 0;

/** Tell Python, which is started for it; of several moves of one control that wait the last one counts. */
function send(act, given) {
  waiting.delete(act);
  waiting.set(act, given);
  start();
  next();
}

function next() {
  if (busy || !waiting.size) return;
  const [act, given] = waiting.entries().next().value;
  waiting.delete(act);
  busy = true;
  document.documentElement.dataset.busy = "1";
  worker.postMessage({ act, given });
}

/** What this browser lacks for a Python, where it lacks something. */
const lacking = () => !(globalThis.WebAssembly && globalThis.DecompressionStream);

/** Say why nothing is computed: for want of something in the browser, else what was not had from the host. */
function unmoved(what) {
  const { dataset } = document.documentElement, place = document.querySelector(".unmoved");
  if (dataset.ready) return;
  if (!lacking()) place.textContent = place.dataset.failed.replace("{what}", what);
  dataset.unmoved = "1";
}

function start() {
  if (worker || document.documentElement.dataset.unmoved) return;
  if (lacking()) return unmoved();
  worker = new Worker(new URL("worker.js", assets), { type: "module" });
  document.documentElement.dataset.busy = "1";
  worker.onerror = ({ message }) => unmoved(message ?? new URL("worker.js", assets).href);
  worker.onmessage = ({ data }) => {
    // What was asked of a page that is left is of no use; the page that was asked for last counts.
    if (data.opened) opening -= 1;
    if (opening) return;
    busy = false;
    delete document.documentElement.dataset.busy;
    if (data.failed) {
      console.error(data.failed);
      unmoved(data.failed);
    } else answered(data.answer);
    if (data.ready) {
      document.documentElement.dataset.ready = String(Math.round(performance.now()));
      offline(data.ready);
    }
    next();
  };
  ask();
}

/** What the reader has set on this visit, by the page's and the field's name, or by that of a field that pages share. */
const visited = () => kept(() => JSON.parse(sessionStorage.getItem("values"))) ?? {};

/** Have Python draw the page that is there. */
function ask() {
  const marks = Object.fromEntries([...document.querySelectorAll("#page, #page [data-mark]")].map((box) => [box.id, box.dataset.mark]));
  [busy, opening] = [true, opening + 1];
  worker.postMessage({ open: {
    name: page, lang, root, address: new URL(book, here).href, known: marks, rooms: rooms(),
    values: visited(), query: Object.fromEntries(new URLSearchParams(location.search)),
  } });
}

const given = (input) => {
  if (input.type === "checkbox" && input.closest("fieldset"))
    return [...input.closest("fieldset").querySelectorAll("input:checked")].map((each) => each.value);
  return input.type === "checkbox" ? input.checked : input.value;
};

addEventListener("pointerdown", () => { held = true; }, true);
for (const name of ["pointerup", "pointercancel"]) addEventListener(name, () => { held = false; }, true);
addEventListener("input", ({ target }) => {
  if (target.type !== "range" || !target.dataset.act) return;
  written(target);
  send(target.dataset.act, target.value);
});
addEventListener("change", async ({ target }) => {
  const { act, most } = target.dataset;
  if (!act || target.type === "range") return;
  if (target.type !== "file") return send(act, given(target));
  const file = target.files[0];
  if (file && file.size <= Number(most)) send(act, [file.name, [...new Uint8Array(await file.arrayBuffer())]]);
});
addEventListener("click", ({ target }) => {
  const button = target.closest("button[data-act]");
  if (button) send(button.dataset.act, button.value);
});
addEventListener("toggle", ({ target }) => { if (target.dataset?.act) send(target.dataset.act, target.open); }, true);
addEventListener("submit", (event) => {
  event.preventDefault();
  const { act } = event.target.dataset;
  if (act) send(act, new FormData(event.target).get("text"));
});
grading(send);
dark.addEventListener("change", () => { for (const id of figures.keys()) if (element(id)?.dataset.drawn) plot(element(id)); });

/** Keep what this visit has loaded for one without a network, where the address is one that browsers trust. */
async function offline(python) {
  const { serviceWorker } = navigator;
  // A course package has none: its system keeps the files.
  if (!serviceWorker || "course" in document.documentElement.dataset) return;
  // A frame in somebody's page may be refused one.
  if (!(await serviceWorker.register(new URL("sw.js", new URL(book, here))).catch(() => null))) return;
  const { active } = await serviceWorker.ready;
  serviceWorker.addEventListener("message", () => { document.documentElement.dataset.kept = "1"; });
  const loaded = performance.getEntriesByType("resource").map((entry) => entry.name);
  const own = ["worker.js", "code.js", "python.js", "apart.js", "pyodide.mjs", `search-${lang}.json`].map((name) => new URL(name, assets).href);
  active.postMessage([...new Set([here, ...loaded, ...python, ...own])].filter((url) => url.startsWith(new URL(book, here).href)));
}

/** Who reads by keys reaches what is wider than its place. */
const reachable = () => {
  for (const box of document.querySelectorAll(".display, .wide, table, .code")) if (box.scrollWidth > box.clientWidth + 1) box.tabIndex = 0;
};
addEventListener("resize", reachable);

// ---- the page as it was built ----------------------------------------------------------------------------------------

/** What a hash names, "" where it is no text. */
function named(hash) {
  try {
    return decodeURIComponent(hash.slice(1));
  } catch {
    return "";
  }
}

/** An address that names a place in a fold opens the fold. */
function placed() {
  const place = location.hash && element(named(location.hash));
  const fold = place && place.closest("details");
  if (fold) fold.open = true;
  if (place) place.scrollIntoView();
  return Boolean(place);
}

/** What a film is told before Python is there: where the address, else this visit, has its controls, and which of them rest. */
function asking(live) {
  const query = new URLSearchParams(location.search), values = visited(), at = { ...live.at };
  for (const name of new Set([...Object.keys(at), ...query.keys()])) {
    const value = query.get(name) ?? values[`${page}.${name}`] ?? values[name];
    if (typeof at[name] !== "string" && value && Number.isFinite(Number(value))) at[name] = Number(value);
  }
  return { ...live, at, fixed: [...live.fixed, ...(query.get("hide") ?? "").split(",")] };
}

function show() {
  document.querySelector("#page .film")?.toggleAttribute("data-lead", true);
  const built = JSON.parse(element("built").textContent);
  for (const id in built.films) draw(id, built.films[id]);
  for (const id in built.told) hear(id, element(id)?.classList.contains("film") ? asking(built.told[id]) : built.told[id]);
  address(Object.fromEntries(new URLSearchParams(location.search)));
  // On a phone the menu is a strip: it shows where one is.
  document.querySelector("nav [aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" });
  reachable();
  restored(document);
}

/** Whether the address, or what was set on this visit, names what no film of the page holds: Python draws it. */
function beyond() {
  const { told: lives } = JSON.parse(element("built").textContent), held = new Set(["lang", "embed"]);
  for (const { at } of Object.values(lives)) for (const name in at) held.add(name);
  const set = Object.keys(visited()).filter((slot) => !slot.includes(".") || slot.startsWith(`${page}.`));
  return [...new URLSearchParams(location.search).keys(), ...set.map((slot) => slot.split(".").pop())].some((name) => !held.has(name));
}

async function plots() {
  const of = here, later = await (await fetch(new URL("figures.json", here))).json();
  if (of === here) for (const id in later) if (!figures.has(id)) draw(id, later[id]);
}

// The address changes under the page: what the page names in its head is named in full.
const icon = document.querySelector("link[rel=icon]");
if (icon) icon.setAttribute("href", icon.href);
show();
placed();
document.fonts.ready.then(reachable);
// A frame that is not in view may never be idle.
const after = globalThis.requestIdleCallback ? (act) => requestIdleCallback(act, { timeout: 2000 }) : setTimeout;
after(() => {
  plots();
  if (rooms() || beyond()) start();
});
// Who only reads loads no Python: a control that is moved asks for it, or a keyboard that is at one; at a desk, who has stayed.
const STAY = 10_000;
addEventListener("focusin", ({ target }) => { if (target.closest("[data-act]")) start(); });
if (matchMedia("(hover: hover)").matches) setTimeout(start, STAY);

// ---- from page to page -----------------------------------------------------------------------------------------------

/** Another page of the book, in the window and with the Python that are there; where there is none yet, by the browser. */
let ways = 0;
async function go(to, push = true) {
  const url = new URL(to, location), way = ++ways;
  const answer = worker && await fetch(new URL(url.pathname, url)).catch(() => null);
  const other = answer?.ok && !answer.redirected && new DOMParser().parseFromString(await answer.text(), "text/html");
  if (way !== ways) return;  // the reader has chosen again meanwhile
  if (!other || other.documentElement.dataset.lang !== lang || url.searchParams.get("display") === "stage") {
    dispatchEvent(new Event("rope-lab-onward"));
    return push ? location.assign(url) : location.reload();
  }
  if (push) history.pushState(null, "", url);
  const { documentElement: from } = other, { documentElement: into } = document, search = document.querySelector("search");
  for (const name of ["ready", "busy", "stage", "unmoved", "asked"]) delete into.dataset[name];
  Object.assign(into.dataset, from.dataset);
  document.title = other.title;
  document.querySelector("link[rel=canonical]")?.replaceWith(...other.querySelectorAll("link[rel=canonical]"));
  shell();
  for (const known of [waiting, told, figures]) known.clear();
  other.querySelector("search")?.replaceWith(search);
  document.querySelector("nav").replaceWith(other.querySelector("nav"));
  element("main").replaceWith(other.getElementById("main"));
  element("built").replaceWith(other.getElementById("built"));
  dispatchEvent(new Event("rope-lab-page"));
  show();
  if (!placed()) scrollTo(0, 0);
  const title = document.querySelector("h1");
  title.tabIndex = -1;
  title.focus({ preventScroll: true });
  ask();
  plots();
}

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href]:not([target], [download], [data-lang])");
  if (!worker || !link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const inside = link.href.startsWith(new URL(book, here).href) && (link.pathname.endsWith("/") || link.pathname.endsWith(".html"));
  const place = link.hash && link.href.split("#")[0] === location.href.split("#")[0];
  if (!inside || place || document.documentElement.hasAttribute("data-embed")) return;
  event.preventDefault();
  go(link.href);
});
addEventListener("popstate", () => {
  if (document.documentElement.hasAttribute("data-stage") || location.href.includes("display=stage")) location.reload();
  else if (location.href.split(/[?#]/)[0] === here && location.search === asked) placed();
  else go(location.href, false);
});

// ---- in somebody's page ----------------------------------------------------------------------------------------------

if (document.documentElement.hasAttribute("data-embed")) {
  const link = document.createElement("a"), line = document.createElement("p");
  line.className = "way-out";
  Object.assign(link, { target: "_blank", rel: "noopener", textContent: `${document.title} ↗` });
  // The way out leads to what is seen.
  const lead = () => { const to = new URL(location); to.searchParams.delete("embed"); link.href = to; };
  for (const name of ["focus", "pointerdown"]) link.addEventListener(name, lead);
  lead();
  line.append(link);
  element("main").append(line);
  // The page around may make its frame as high as this one asks for.
  new ResizeObserver(() => parent.postMessage({ ropeLab: { height: Math.ceil(document.body.getBoundingClientRect().height) } }, "*")).observe(document.body);
}
