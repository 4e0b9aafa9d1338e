// A student's own function: an editor, and a worker with a Python of its own that runs what was written, for a limited time.
import { kept } from "./dom.js";

const own = (box) => box.closest("[data-grade]");
const place = (editor) => `rope-lab ${own(editor).dataset.grade}`;

let spare = null;
/** A worker that is loading, or has loaded; each runs one student's code and is ended. */
const ready = () => (spare ??= new Worker(new URL("worker.js", import.meta.url), { type: "module" }));

/** Run an editor's text; answer the lines that its stages gave, and why there are no more. */
const graded = (box, source) => new Promise((done) => {
  const worker = ready(), lines = [], { grade, stages, seconds } = box.dataset;
  let clock = 0;
  spare = null;
  const end = (...ended) => {
    clearTimeout(clock);
    worker.terminate();
    done({ source, lines, ended });
  };
  worker.onerror = () => end("ended", { code: 1 });
  worker.onmessage = ({ data }) => {
    if (data.began) clock = setTimeout(() => end("endless", { seconds }), 1000 * Number(seconds));
    else if (data.line) lines.push(data.line);
    else end("ended", { code: data.failed ? 1 : 0 });
  };
  worker.postMessage({ grade: { name: grade, stages: stages.split(" "), source } });
});

/** Keep what was written, also for another day. */
function remember(editor, text) {
  kept(() => (text === editor.defaultValue ? localStorage.removeItem(place(editor)) : localStorage.setItem(place(editor), text)));
}

/** Hand the reader a file to hand in: what was written, and below it, as comments, what the page says of it. */
function save(box, text) {
  const lines = [...box.parentElement.querySelectorAll(".note, .table tr:has(td)")].map((part) => [...part.children].map((each) => each.textContent).join(": "));
  const file = [text.trimEnd(), "", ...lines.map((line) => `# ${line}`), ""].join("\n");
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(new Blob([file], { type: "text/x-python" })), download: `${box.dataset.grade}.py` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** Put back what was written on another visit. */
export function restored(root) {
  for (const editor of root.querySelectorAll("[data-grade] textarea")) {
    const before = kept(() => localStorage.getItem(place(editor)));
    if (before !== null) editor.value = before;
  }
}

/** Grade where a button asks for it; `send(id, answer)` hands the page's Python what came of it. */
export function grading(send) {
  addEventListener("focusin", ({ target }) => { if (target.matches("[data-grade] textarea")) ready(); });
  addEventListener("input", ({ target }) => { if (target.matches("[data-grade] textarea")) remember(target, target.value); });
  addEventListener("click", async ({ target }) => {
    const button = target.closest("[data-grade] button"), box = button && own(button);
    if (!box) return;
    const editor = box.querySelector("textarea"), status = box.querySelector("[role=status]");
    if (button.className === "again") {
      editor.value = editor.defaultValue;
      return remember(editor, editor.value);
    }
    if (button.className === "save") return save(box, editor.value);
    button.disabled = true;
    status.textContent = box.dataset.running;
    send(box.id, await graded(box, editor.value));
    status.textContent = "";
    button.disabled = false;
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
