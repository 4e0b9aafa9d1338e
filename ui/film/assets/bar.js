// What stands under the picture: a slider and a play button for each control, and the buttons that save the frame.

import { button, clamp, html } from "./dom.js";

const STEPS = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }, JUMPS = ["Home", "End", "PageUp", "PageDown"];

/** Fill a film's bar; returns the inputs by their controls' names. */
export function bar(film, place) {
  const inputs = {};
  for (const control of Object.values(film.controls)) {
    if (control.has_slider) inputs[control.name] = slider(film, control, place);
    if (control.play_seconds) playButton(film, control, inputs[control.name]?.label ?? place);
  }
  return inputs;
}

function slider(film, control, place) {
  const label = html("label", "film-label", place), name = html("span", "", label);
  name.textContent = control.label;
  const input = html("input", "film-range", label, { type: "range", min: 0, max: control.stops.length - 1, step: "any", "aria-label": control.label, "data-key": `input.${control.name}` });
  const output = html("output", "film-value", label);
  let late = 0, pressed = false;
  const done = () => { clearTimeout(late); film.release(control); };
  input.addEventListener("pointerdown", () => { pressed = true; film.hold(control); });
  input.addEventListener("input", () => { film.hold(control); film.move(control, Number(input.value)); });
  // A key or an assistive tool changes the value again and again; the hand lets go once.
  input.addEventListener("change", () => { clearTimeout(late); if (pressed) done(); else late = setTimeout(done, 250); pressed = false; });
  input.addEventListener("pointerup", () => { if (film.held) setTimeout(done, 0); });
  keys(film, input, control);
  return { input, output, label };
}

function playButton(film, control, place) {
  const { words } = film.head, toggle = () => (film.playing === control ? film.stop() : film.play(control, control.stops.length - 1));
  const node = button("", null, toggle, " ", "film-play");
  place.prepend(node);
  control.playing = (on) => {
    node.textContent = on ? "❚❚" : "▶";
    node.setAttribute("aria-label", `${on ? words.pause : words.play}: ${control.label}`);
  };
  control.playing(false);
}

/** Let arrows, page, home and end keys at `node` move a control; it is let go when they are. */
export function keys(film, node, control) {
  let late = 0, keyed = false;
  const done = () => { clearTimeout(late); if (keyed) { keyed = false; film.release(control); } };
  node.addEventListener("keydown", (event) => {
    const last = control.stops.length - 1, page = Math.max(1, Math.round(last / 10)), at = Math.round(control.index);
    const to = { Home: 0, End: last, PageUp: at + page, PageDown: at - page }[event.key] ?? (event.key in STEPS ? at + STEPS[event.key] : null);
    if (to === null || event.ctrlKey || event.metaKey || event.altKey || film.locked(control)) return;
    event.preventDefault();
    event.stopPropagation();
    clearTimeout(late);
    keyed = true;
    film.hold(control);
    film.move(control, clamp(to, 0, last));
  });
  node.addEventListener("keyup", (event) => {
    if (!(event.key in STEPS) && !JUMPS.includes(event.key)) return;
    clearTimeout(late);
    late = setTimeout(done, 150);
  });
  // The pointer may hold the same control by another handle by then.
  node.addEventListener("blur", done);
}
