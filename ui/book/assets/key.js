// A lecturer's key, which a link of the hall's brings along behind its #: no request carries that, and the address loses it.
import { kept } from "./dom.js";

const KEY = "rope-lab-lecturer", BROUGHT = "#lecturer=";

/** The key that this browser holds; "" without one. */
export const lecturer = () => kept(() => localStorage.getItem(KEY)) ?? "";

if (location.hash.startsWith(BROUGHT)) {
  kept(() => localStorage.setItem(KEY, location.hash.slice(BROUGHT.length)));
  history.replaceState(null, "", location.pathname + location.search);
}
