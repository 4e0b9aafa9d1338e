// Which tasks this reader has done, kept in the browser: a reload and another tab know it. No one else is told.

import { kept } from "./dom.js";

export const NAME = "rope-lab-done";
let report = null, told = "";

const stored = () => {
  const names = kept(() => JSON.parse(localStorage.getItem(NAME)));
  return Array.isArray(names) ? names : [];
};

function tell(names) {
  if (String(names) === told) return;
  told = String(names);
  report?.(names);
}

/** Keep what Python knows of; where the browser knows of more, now or when another tab adds to it, `then` is called. */
export function remember(known, then) {
  const all = [...new Set([...stored(), ...known])].sort();
  report = then;
  if (String(all) !== String(stored())) kept(() => localStorage.setItem(NAME, JSON.stringify(all)));
  if (all.length > known.length) tell(all);
  // For who keeps the score of a course.
  dispatchEvent(new CustomEvent(NAME, { detail: all }));
}

addEventListener("storage", ({ key }) => { if (key === NAME) tell(stored()); });
