// Runs a student's code with a Python of its own, in a worker of a frame without a network: what it needs is handed over.
const address = (text) => URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
const base = "https://apart.invalid/";

async function start({ scripts, files, archives, before }) {
  globalThis.fetch = async (url) => {
    const name = String(url).split("/").pop();
    return new Response(files[name], { headers: { "content-type": name.endsWith(".wasm") ? "application/wasm" : "application/json" } });
  };
  const [{ loadPyodide }, { started }] = await Promise.all(["pyodide.mjs", "python.js"].map((name) => import(address(scripts[name]))));
  (0, eval)(scripts["pyodide.asm.js"]);
  return (await started(loadPyodide, base, archives, before)).python;
}

/** Run a student's text, and tell what each stage gave as soon as it is known. */
function grade(python, { module, runner, name, stages, source }) {
  const lines = python.pyimport(module)[runner];
  postMessage({ began: true });
  for (const line of lines(source, name, 0, stages)) postMessage({ line });
  postMessage({ ended: true });
}

let ready = null;
onmessage = async ({ data }) => {
  try {
    if (data.start) ready = start(data.start);
    const python = await ready;
    if (data.grade) grade(python, data.grade);
  } catch (error) {
    postMessage({ failed: String(error) });
  }
};
