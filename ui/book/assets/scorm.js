// In a learning management system: what is done is told to it (SCORM 1.2) as completion and score, and what it knows is taken up.
// It is loaded before the page's own script, in the course package alone.
import { kept } from "./dom.js";
import { NAME } from "./done.js";

const DEPTH = 7, ENOUGH = 4096;

/** The system's API: in a window around this one, or in the one that opened it. */
function around(win) {
  for (let k = 0; k <= DEPTH; k++) {
    if (win.API) return win.API;
    if (win.parent === win) return win.opener && win.opener !== win ? around(win.opener) : null;
    win = win.parent;
  }
  return null;
}

const api = kept(() => around(window));
if (api) {
  const { searchParams } = new URL(import.meta.url), tasks = JSON.parse(searchParams.get("tasks")), pages = Object.keys(tasks);
  // Another page of this book may have begun the session: that is no error.
  api.LMSInitialize("");
  const listed = (text) => String(text ?? "").split(",").filter(Boolean);
  const here = () => listed(kept(() => JSON.parse(localStorage.getItem(NAME))));
  // A package of some pages has a unit for each: it is the one that was opened first, whatever page is read in it later.
  const unit = searchParams.has("units") ? api.LMSGetValue("cmi.core.lesson_location") || document.documentElement.dataset.page : "";
  if (unit) api.LMSSetValue("cmi.core.lesson_location", unit);
  const total = unit ? tasks[unit] : Object.values(tasks).reduce((sum, each) => sum + each, 0);
  let told = null;
  const tell = (all) => {
    const names = all.filter((name) => !unit || name.startsWith(`${unit}.`)), done = Math.min(names.length, total);
    if (String(names) === told) return;
    told = String(names);
    for (const [key, value] of [["score.min", 0], ["score.max", 100], ["score.raw", total ? Math.floor(100 * done / total) : 100],
      ["lesson_status", done === total ? "completed" : "incomplete"], ["exit", "suspend"]]) api.LMSSetValue(`cmi.core.${key}`, String(value));
    api.LMSSetValue("cmi.suspend_data", told.slice(0, ENOUGH));
    api.LMSCommit("");
  };
  const all = [...new Set([...listed(api.LMSGetValue("cmi.suspend_data")), ...here()])].sort();
  kept(() => localStorage.setItem(NAME, JSON.stringify(all)));
  tell(all);
  addEventListener(NAME, ({ detail }) => tell(detail));
  // Who goes on to another page of the book has not left it.
  let within = false, ended = false;
  addEventListener("click", (event) => { within = !event.defaultPrevented && Boolean(event.target.closest?.("a[href]:not([target])")); });
  addEventListener("rope-lab-onward", () => { within = true; });
  addEventListener("pagehide", () => {
    if (within || ended) return;
    ended = true;
    api.LMSFinish("");
  });
  // A link to a page that the package leaves out is its words.
  const book = new URL(document.documentElement.dataset.book, location.href.split(/[?#]/)[0]).href;
  const strip = () => {
    for (const link of document.querySelectorAll("#main a[href]")) {
      const way = link.href.startsWith(book) && link.href.slice(book.length).split(/[?#]/)[0].replace(/^zh\//, "").replace(/\/$/, "");
      if (way !== false && /^\w*$/.test(way) && !pages.includes(way || "home")) link.replaceWith(...link.childNodes);
    }
  };
  if (unit) new MutationObserver(strip).observe(document.body, { childList: true, subtree: true });
  if (unit) strip();
}
