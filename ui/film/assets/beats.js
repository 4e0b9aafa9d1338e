// The steps of a film: what is said above the picture, what the hand is asked to do, and the way to the next step.
// Where nothing moves (on paper, or for who asked for less motion) the steps stand below each other, each with its picture.

import { button, calm, html, kept, put, say } from "./dom.js";
import { Panel } from "./panel.js";

export const BEAT = "beat";

/** One telling of a film's panels: the step that the reader is at, or on paper one that stays (`at`, from 0). */
export class Telling {
  constructor(film, parent, at = null) {
    const { head } = film;
    Object.assign(this, { film, at });
    if (head.beats.length) this.header(html("div", "film-beat", parent));
    this.stage = html("div", "film-panels", parent);
    this.panels = head.panels.map((panel, k) => new Panel(film, panel, this.stage, this, k));
    this.turn();
  }

  /** The step that is shown, from 0. */
  get beat() { return this.at ?? Math.round(this.film.controls[BEAT]?.index ?? 0); }

  header(place) {
    this.said = html("p", "film-say", place);
    this.done = html("p", "film-do", place);
  }

  /** The way to the other steps, beside the sentence of what is seen. */
  steps(place) {
    const { film } = this, { words, beats } = film.head;
    if (this.at !== null || !beats.length) return;
    const steps = html("span", "film-steps", place);
    this.buttons = beats.map((_, k) => {
      const node = button(String(k + 1), steps, () => this.go(k), `${words.step} ${k + 1}`, "film-step");
      node.dataset.key = `step.${k}`;
      return node;
    });
    this.then = button(words.then, steps, () => this.go(this.beat + 1), "", "film-then");
    this.then.dataset.key = "then";
    steps.addEventListener("keydown", (event) => {
      const by = { PageDown: 1, PageUp: -1 }[event.key];
      if (by && this.go(this.beat + by)) event.preventDefault();
    });
    this.turn();
  }

  /** Go to a step, if there is one and none is prescribed. */
  go(k) {
    const { film } = this, control = film.controls[BEAT];
    if (!film.head.beats[k] || film.locked(control)) return false;
    film.move(control, k);
    // A step begins where its sentence can be seen, wherever the hand has left the one before.
    const { control_values: values } = film.head.beats[k];
    for (const name in values) if (!film.locked(film.controls[name])) film.move(film.controls[name], film.nearest(film.controls[name], values[name]));
    film.send();
    film.speak();
    return true;
  }

  /** Show what belongs to the step in force. */
  turn() {
    for (const panel of this.panels) panel.turn(this.beat + 1);
    if (!this.buttons) return;
    this.buttons.forEach((node, k) => put(node, "aria-current", k === this.beat ? "step" : null));
    const last = this.beat === this.buttons.length - 1;
    // Who has just pressed it keeps the keyboard's place.
    if (last && document.activeElement === this.then) this.buttons[this.beat].focus();
    this.then.hidden = last;
    this.then.classList.remove("film-ready");
  }

  fit() { for (const panel of this.panels) panel.fit(); }

  paint(moved) {
    for (const panel of this.panels) panel.paint(moved);
    const beat = this.film.head.beats[this.beat];
    if (!beat) return;
    say(this.said, this.film.tracks.text(beat.sentence));
    say(this.done, this.film.tracks.text(beat.instruction));
  }
}

/** Whether steps stand below each other. */
export const stacked = (film) => film.head.beats.length > 0 && (calm.matches || film.printing);

// ---- a first visit: what can be moved moves by itself once, a short way and back ---------------------------------------

const DRAGGED = "rope-lab-dragged", OF_A_PAGE = ["lang", "embed"], SHARE = 0.1, WAIT = 900, LASTS = 1800;
export const dragged = () => { kept(() => localStorage.setItem(DRAGGED, "1")); };

/** Whether the address names a step or a value: what was asked for stays as it is. */
const addressed = () => [...new URLSearchParams(location.search).keys()].some((name) => !OF_A_PAGE.includes(name));

export function hint(film) {
  const name = film.head.beats[film.tellings[0].beat]?.hint_control, control = film.controls[name];
  if (!control || calm.matches || film.bare || film.locked(control) || film.hinted || addressed() || kept(() => localStorage.getItem(DRAGGED))) return;
  film.hinted = true;
  const from = control.index, last = control.stops.length - 1, way = Math.max(1, SHARE * last) * (from > 0.8 * last ? -1 : 1);
  let start = null, at = from;
  const step = (now) => {
    start ??= now;
    const t = (now - start - WAIT) / LASTS;
    // The hand, Python or another film has moved it: it is theirs.
    if (film.held || film.playing || control.index !== at || !film.box.isConnected) return;
    at = t >= 1 ? from : t > 0 ? from + way * Math.sin(Math.PI * t) ** 2 : from;
    if (t > 0) film.move(control, at, true);
    at = control.index;
    if (t < 1) requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}
