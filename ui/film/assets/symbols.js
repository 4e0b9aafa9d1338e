// Symbols and what they name light up together: in formulas, in the legend (ui/page/symbols.py) and in films.
// The legend says which letters are symbols; a formula's letters are found when something is pointed at.

const LIT = "symbol-lit";
let lit = null, keyed = false, rest = "";

/** Give the letters of formulas the symbol that they are, and its meaning to who rests on one. */
const mark = () => {
  const meanings = new Map([...document.querySelectorAll(".symbol[data-symbol]")].map((node) => [node.dataset.symbol, node.dataset.meaning]));
  for (const letter of document.querySelectorAll(".katex-html .mathnormal")) {
    const meaning = meanings.get(letter.textContent);
    if (!meaning) continue;
    letter.dataset.symbol = letter.textContent;
    letter.title = `${letter.textContent}: ${meaning}`;
  }
};

const light = (name) => {
  if (name === lit) return;
  lit = name;
  for (const node of document.querySelectorAll(`.${LIT}`)) node.classList.remove(LIT);
  if (name) for (const node of document.querySelectorAll(`[data-symbol="${CSS.escape(name)}"]`)) node.classList.add(LIT);
};

const place = (event) => `${event.screenX} ${event.screenY}`;

const point = (event) => {
  const over = event.type === "pointerover", { target } = event;
  // What a key has lit stays while the page scrolls under a pointer that rests.
  if (over && keyed && place(event) === rest) return;
  keyed = !over;
  if (!target.closest?.(".katex, .symbol, .film [data-symbol]")) return light(null);
  mark();
  light(target.closest("[data-symbol]")?.dataset.symbol ?? null);
};

if (!globalThis.ropeLabSymbols) {
  globalThis.ropeLabSymbols = true;
  for (const kind of ["pointerover", "focusin"]) document.addEventListener(kind, point);
  document.addEventListener("pointermove", (event) => { rest = place(event); }, { passive: true });
}
