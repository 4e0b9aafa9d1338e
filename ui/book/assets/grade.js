// A student's own function: an editor, and a frame with a Python of its own that runs what was written, for a limited time.
import { kept as compiled } from "./code.js";
import { download, kept } from "./dom.js";
import { unpacked } from "./python.js";

const own = (box) => box.closest("[data-grade]");
/** Homework is kept; a scheme is in the address. */
const HOMEWORK = "[data-homework] textarea";
const place = (editor) => `rope-lab ${own(editor).dataset.grade}`;

const asset = (name) => fetch(new URL(name, import.meta.url));
const script = async (name) => [name, await (await asset(name)).text()];
const bytes = async (name) => new Response(await unpacked(new URL(`${name}.gz`, import.meta.url))).arrayBuffer();

/** A frame of no origin, in whose worker a Python is loading; it has no network, so that all it needs is handed over. */
async function apart() {
  const frame = Object.assign(document.createElement("iframe"), { src: new URL("apart.htm", import.meta.url), hidden: true, title: "Python" });
  frame.setAttribute("sandbox", "allow-scripts");
  const loaded = new Promise((done) => { frame.onload = done; });
  document.body.append(frame);
  const [before, scripts, asm, lock, wasm, library, ...archives] = await Promise.all([
    compiled(), Promise.all(["apart.js", "python.js", "pyodide.mjs"].map(script)),
    bytes("pyodide.asm.js"), script("pyodide-lock.json"), bytes("pyodide.asm.wasm"),
    ...["library", "numpy", "app"].map((name) => bytes(`python/${name}.zip`)), loaded,
  ]);
  archives.pop();
  const files = { "pyodide-lock.json": lock[1], "pyodide.asm.wasm": wasm, "library.zip": library };
  const all = { ...Object.fromEntries(scripts), "pyodide.asm.js": new TextDecoder().decode(asm) };
  frame.contentWindow.postMessage({ start: { scripts: all, files, archives, before } }, "*", [wasm, library, ...archives]);
  return frame;
}

let spare = null;
/** A frame that is loading, or has loaded; each runs one student's code and is taken away. */
const ready = () => (spare ??= apart());

/** Run an editor's text; answer the lines that its stages gave, and why there are no more. */
async function graded(box, source) {
  const lines = [], { grade, stages, seconds, module, runner } = box.dataset, waiting = ready();
  spare = null;
  const frame = await waiting;
  let clock = 0, hear = null;
  const ended = await new Promise((done) => {
    hear = ({ data, source: from }) => {
      if (from !== frame.contentWindow) return;
      if (data.began) clock = setTimeout(() => done(["endless", { seconds }]), 1000 * Number(seconds));
      else if (data.line) lines.push(String(data.line));
      else done(["ended", { code: data.failed ? 1 : 0 }]);
    };
    addEventListener("message", hear);
    frame.contentWindow.postMessage({ grade: { module, runner, name: grade, stages: stages.split(" "), source } }, "*");
  });
  clearTimeout(clock);
  removeEventListener("message", hear);
  frame.remove();
  return { source, lines, ended };
}

/** Keep what was written, also for another day. */
function remember(editor, text) {
  kept(() => (text === editor.defaultValue ? localStorage.removeItem(place(editor)) : localStorage.setItem(place(editor), text)));
}

/** Hand the reader a file to hand in: what was written, and below it, as comments, what the page says of it. */
function save(box, text) {
  const lines = [...box.parentElement.querySelectorAll(".note, .table tr:has(td)")].map((part) => [...part.children].map((each) => each.textContent).join(": "));
  const file = [text.trimEnd(), "", ...lines.map((line) => `# ${line}`), ""].join("\n");
  download(new Blob([file], { type: "text/x-python" }), `${box.dataset.grade}.py`);
}

/** Put back what was written on another visit. */
export function restored(root) {
  for (const editor of root.querySelectorAll(HOMEWORK)) {
    const before = kept(() => localStorage.getItem(place(editor)));
    if (before !== null) editor.value = before;
  }
}

/** Run what is in an editor and hand the page's Python what came of it. */
async function run(box, send) {
  const button = box.querySelector("button"), status = box.querySelector("[role=status]");
  button.disabled = true;
  status.textContent = box.dataset.running;
  send(box.id, await graded(box, box.querySelector("textarea").value));
  status.textContent = "";
  button.disabled = false;
}

/** Run by itself what Python has no answers of, once for each question. */
export function rerun(box, question, send) {
  if (!question || box.dataset.ran === question) return;
  box.dataset.ran = question;
  run(box, send);
}

/** Grade where a button asks for it; `send(id, answer)` hands the page's Python what came of it. */
export function grading(send) {
  // Who writes runs it next: a Python apart is loaded by then.
  for (const kind of ["focusin", "input"]) addEventListener(kind, ({ target }) => { if (target.matches("[data-grade] textarea")) ready(); });
  addEventListener("input", ({ target }) => { if (target.matches(HOMEWORK)) remember(target, target.value); });
  addEventListener("click", async ({ target }) => {
    const button = target.closest("[data-grade] button"), box = button && own(button);
    if (!box) return;
    const editor = box.querySelector("textarea");
    if (button.className === "again") {
      editor.value = editor.defaultValue;
      return remember(editor, editor.value);
    }
    if (button.className === "save") return save(box, editor.value);
    run(box, send);
  });
  // Tab indents until Escape was pressed, so that nobody is held in the editor; a new line begins where the last one did.
  let leaving = false;
  addEventListener("keydown", (event) => {
    const { target, key } = event;
    if (!target.matches?.("[data-grade] textarea")) return;
    const before = leaving;
    leaving = key === "Escape";
    const line = target.value.slice(0, target.selectionStart).split("\n").pop();
    const written = key === "Tab" && !event.shiftKey && !before ? "    "
      : key === "Enter" ? `\n${line.match(/^ */)[0]}${line.endsWith(":") ? "    " : ""}` : null;
    if (written === null) return;
    event.preventDefault();
    document.execCommand("insertText", false, written);
  });
}
