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
  const total = Number(new URL(import.meta.url).searchParams.get("tasks"));
  // Another page of this book may have begun the session: that is no error.
  api.LMSInitialize("");
  const listed = (text) => String(text ?? "").split(",").filter(Boolean);
  const here = () => listed(kept(() => JSON.parse(localStorage.getItem(NAME))));
  const tell = (names) => {
    const done = Math.min(names.length, total);
    for (const [key, value] of [["score.min", 0], ["score.max", 100], ["score.raw", Math.floor(100 * done / total)],
      ["lesson_status", done === total ? "completed" : "incomplete"], ["exit", "suspend"]]) api.LMSSetValue(`cmi.core.${key}`, String(value));
    api.LMSSetValue("cmi.suspend_data", names.join(",").slice(0, ENOUGH));
    api.LMSCommit("");
  };
  const all = [...new Set([...listed(api.LMSGetValue("cmi.suspend_data")), ...here()])].sort();
  kept(() => localStorage.setItem(NAME, JSON.stringify(all)));
  tell(all);
  addEventListener(NAME, ({ detail }) => tell(detail));
  // Who goes on to another page of the book has not left it.
  let within = false;
  addEventListener("click", ({ target }) => { within = Boolean(target.closest?.("a[href]:not([target])")); }, true);
  addEventListener("pagehide", () => { if (!within) api.LMSFinish(""); });
}
