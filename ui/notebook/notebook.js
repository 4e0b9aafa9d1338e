// The adapter to a notebook: the widget's bytes are a scene, its values go both ways.
// A notebook serves no files beside this one, so the player's are in it, each under an address of its own.
const FILES = {/* files */};
const made = {};
const address = (name) => (made[name] ??= URL.createObjectURL(new Blob([
  FILES[name].replace(/\b(from|import) "\.\/([\w.]+)"/g, (_, word, file) => `${word} "${address(file)}"`),
], { type: "text/javascript" })));

let player = null;

/** The same scene under a name that no other view has: one widget may be shown twice. */
function named(bytes, name) {
  const id = new TextEncoder().encode(name), rest = bytes.subarray(1 + bytes[0]), out = new Uint8Array(1 + id.length + rest.length);
  out.set([id.length, ...id]);
  out.set(rest, 1 + id.length);
  return out;
}

async function render({ model, el }) {
  const { mount, tell } = await (player ??= import(address("player.js")));
  const { films, told } = globalThis.ropeLabFilms;
  globalThis.ropeLabViews = (globalThis.ropeLabViews ?? 0) + 1;
  const id = `notebook.${globalThis.ropeLabViews}`;
  const room = document.createElement("div"), box = document.createElement("div");
  room.className = "film-page film-notebook";
  box.className = "film";
  // The picture above, for where nothing runs, is not for here.
  room.append(box, Object.assign(document.createElement("style"), { textContent: `.rope-lab-${model.get("_still")} {display: none}` }));
  el.append(room);
  const state = (key) => model.get(key);
  const hear = () => tell(id, { at: state("values"), said: state("_gap") });
  /** The notebook's theme, which the player reads off its element. */
  const theme = () => {
    const light = document.body.dataset.jpThemeLight;
    room.style.colorScheme = light === undefined ? "" : light === "false" ? "dark" : "light";
    films.get(id)?.theme();
  };
  const scene = () => {
    const view = state("_scene"), bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
    return mount(box, named(bytes, id), (at) => { model.set("values", at); model.save_changes(); });
  };
  const watched = new MutationObserver(theme);
  watched.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light"] });
  theme();
  hear();
  await scene();
  model.on("change:values", hear);
  model.on("change:_gap", hear);
  return () => {
    watched.disconnect();
    model.off("change:values", hear);
    model.off("change:_gap", hear);
    films.delete(id);
    told.delete(id);
  };
}

export default { render };
