// One film: where its controls stand, who holds one, what is painted, and what Python is told of it and says to it.

import { bar } from "./bar.js";
import { BEAT, Telling, dragged, hint, stacked } from "./beats.js";
import { calm, clamp, html, night, put, say } from "./dom.js";
import { within } from "./panel.js";
import { Tracks } from "./tracks.js";

// One registry for the page: these files may come from several addresses, each a module of its own.
export const { films, told } = (globalThis.ropeLabFilms ??= { films: new Map(), told: new Map() });

for (const kind of ["beforeprint", "afterprint"]) addEventListener(kind, () => {
  for (const film of films.values()) if (film.box.isConnected && film.head.beats.length) {
    film.printing = kind === "beforeprint";
    film.again();
  }
});

export class Film {
  /** `buffer`: length of the head, head, numbers. `before`: the film that this one takes the place of. */
  constructor(box, id, mark, buffer, report, before) {
    const length = new DataView(buffer).getUint32(0, true);
    const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
    Object.assign(this, { box, id, mark, buffer, report, head, held: null, count: before?.count ?? 0, said: null });
    this.controls = Object.fromEntries(head.controls.map((control) => [control.name, { ...control, index: 0 }]));
    this.tracks = new Tracks(buffer, 4 + length, this.controls);
    this.moved = new Set(Object.keys(this.controls));
    this.build(before);
    this.theme();
    const message = told.get(id);
    if (message) this.hear(message);
    for (const control of head.controls) {
      const old = before?.controls[control.name];
      if (before?.held && old) this.controls[control.name].index = this.nearest(control, this.value(old));
    }
    this.paint();
    new ResizeObserver(() => this.resize()).observe(box);
    box.dataset.ready = "1";
    // A pointer draws no ring: what it holds is seen; a key shows where the keyboard is.
    box.addEventListener("pointerdown", () => { box.dataset.hand = "pointer"; }, true);
    box.addEventListener("keydown", () => { delete box.dataset.hand; }, true);
    hint(this);
  }

  get panels() { return this.tellings.flatMap((telling) => telling.panels); }

  /** Look which theme the page has; what it draws for one of them is drawn again. */
  theme() {
    const scheme = getComputedStyle(this.box).colorScheme, dark = scheme.includes("dark") && (!scheme.includes("light") || night.matches);
    if (dark === this.dark) return;
    this.dark = dark;
    for (const panel of this.panels) panel.again();
    this.soon();
  }

  build(before) {
    const { box, head } = this;
    // A film that takes another's place leaves the keyboard where it was.
    const focused = box.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    box.replaceChildren();
    this.stage = html("div", "film-stage", box);
    const beats = stacked(this) ? head.beats.map((_, k) => k) : [null];
    this.tellings = [];
    for (const beat of beats) this.tellings.push(new Telling(this, this.stage, beat));
    const foot = html("div", "film-foot", box), place = html("div", "film-bar", foot);
    this.sketch?.buttons(place, before?.sketch);
    this.inputs = bar(this, place);
    const below = html("div", "film-below", foot);
    this.line = html("p", "film-finding", below);
    this.tellings[0].steps(below);
    this.spoken = html("span", "film-spoken", box, { role: "status" });
    for (const telling of this.tellings) telling.fit();
    if (focused) box.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  }

  /** Build the film anew where it stands: on paper its steps stand below each other. */
  again() {
    this.build(this);
    this.moved = new Set(Object.keys(this.controls));
    this.paint();
  }

  // ---- moving ----------------------------------------------------------------------------------------------------

  value(control) { return control.stops[Math.round(control.index)]; }

  nearest(control, value) {
    let best = 0;
    control.stops.forEach((stop, k) => { if (Math.abs(stop - value) < Math.abs(control.stops[best] - value)) best = k; });
    return best;
  }

  locked(control) { return Boolean(this.fixed?.includes(control.name)); }

  /** Whether a control has no part yet in the step in force. */
  early(control) { return this.tellings.length === 1 && this.tellings[0].beat + 1 < control.first_beat; }

  hold(control) {
    if (this.held === control) return;
    if (this.playing) this.halt();
    this.held = control;
    control.from = this.value(control);
  }

  move(control, index, alone = false) {
    control.index = clamp(index, 0, control.stops.length - 1);
    this.moved.add(control.name);
    this.soon();
    if (alone) return;
    // Other films of the page that have this control go along; in a notebook each film is a page.
    const value = this.value(control), page = this.box.closest(".film-page");
    for (const other of films.values()) {
      const twin = other !== this && other.box.isConnected && other.box.closest(".film-page") === page && other.controls[control.name];
      if (twin) other.move(twin, twin.stops.length === control.stops.length ? control.index : other.nearest(twin, value), true);
    }
  }

  soon() { this.due ||= requestAnimationFrame(() => { this.due = 0; this.paint(); }); }

  release(control) {
    if (this.held !== control) return;
    this.held = null;
    this.move(control, Math.round(control.index));
    if (this.value(control) !== control.from) {
      dragged();
      for (const { then } of this.tellings) then?.classList.add("film-ready");
      this.send();
    }
    this.speak();
  }

  send() {
    this.count += 1;
    const at = Object.fromEntries(Object.values(this.controls).map((control) => [control.name, this.value(control)]));
    if (this.sketch) at[this.sketch.name] = this.sketch.text;
    this.report?.(at, this.count);
  }

  hear({ at = {}, count = 0, fixed = [], bare = false, told = false, play = null, said = null }) {
    this.theme();
    this.bare = bare || told;
    // A lesson's own sentence stands in place of the step's.
    this.box.toggleAttribute("data-told", told);
    if (String(this.fixed) !== String(fixed)) for (const panel of this.panels) panel.again();
    this.fixed = fixed;
    this.folded = bare;
    this.sliders();
    // An answer to an earlier move than the last, or one that comes while the hand holds, is out of date.
    if (this.held || this.playing || (count && count < this.count)) return;
    for (const name in at) {
      const control = this.controls[name], index = control && this.nearest(control, at[name]);
      if (control && index !== Math.round(control.index)) this.move(control, index, true);
    }
    this.sketch?.hear(at[this.sketch.name]);
    this.said = said;
    this.soon();
    this.speak();
    // A step of a lesson has something played, once: told again it is the same step.
    const step = play && JSON.stringify(play), control = this.controls[play?.control];
    if (control && step !== this.played) this.play(control, this.nearest(control, play.to), play.seconds);
    this.played = step;
  }

  /** Move a control to a stop in `seconds`; without them at the control's own speed, from the start where it is over. */
  play(control, to, seconds = 0) {
    this.halt();
    let at = !seconds && control.index >= to ? 0 : control.index, before = null;
    const speed = seconds ? (to - at) / seconds : to / control.play_seconds;
    if (!speed) return;
    this.playing = control;
    this.playFrom = this.value(control);
    control.playing?.(true);
    const step = (now) => {
      if (this.playing !== control || !this.box.isConnected) return;
      at += before === null ? 0 : speed * (now - before) / 1000;
      before = now;
      const ended = speed > 0 ? at >= to : at <= to;
      if (ended) at = to;
      // Who asked for less motion sees whole stops, at most two a second.
      if (!calm.matches) this.move(control, at);
      else if (ended || Math.abs(at - control.index) >= Math.max(1, Math.abs(speed) / 2)) this.move(control, Math.round(at));
      if (ended) this.stop(); else requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  halt() {
    this.playing?.playing?.(false);
    this.playing = null;
  }

  stop() {
    const control = this.playing;
    this.halt();
    if (!control) return;
    this.move(control, Math.round(control.index));
    if (this.value(control) !== this.playFrom) this.send();
    this.speak();
  }

  // ---- painting --------------------------------------------------------------------------------------------------

  /** Draw the sliders of the step in force, as far as the hand may move them. */
  sliders() {
    const beat = (this.controls[BEAT]?.index ?? 0) + 1;
    for (const name in this.inputs) {
      const control = this.controls[name];
      this.inputs[name].label.hidden = this.folded || this.locked(control) || (this.tellings.length === 1 && !within(control, beat));
    }
  }

  resize() {
    for (const telling of this.tellings) telling.fit();
    this.paint();
  }

  paint() {
    if (this.moved.has(BEAT)) for (const telling of this.tellings) { telling.turn(); telling.fit(); }
    if (this.moved.has(BEAT)) this.sliders();
    for (const telling of this.tellings) telling.paint(this.moved);
    for (const name of this.moved) {
      const control = this.controls[name], parts = this.inputs[name];
      if (!parts) continue;
      const text = control.stop_labels[Math.round(control.index)];
      if (Number(parts.input.value) !== control.index) parts.input.value = control.index;
      put(parts.input, "aria-valuetext", text);
      say(parts.output, text);
    }
    const sentence = this.sentence();
    say(this.line, sentence && `▸ ${sentence}`);
    this.moved.clear();
    if (!this.held && !this.playing && !this.spoken.textContent) this.speak();
    this.box.dataset.paints = Number(this.box.dataset.paints ?? 0) + 1;
  }

  /** What is written below: Python's answer to a drawn curve, else the finding where the controls stand. */
  sentence() {
    const beat = this.head.beats[this.controls[BEAT] ? Math.round(this.controls[BEAT].index) : -1];
    return this.said ?? this.tracks.text(beat?.finding || this.head.finding);
  }

  /** The sentence for who listens, once the hand rests: the visible one changes with every frame. */
  speak() {
    this.box.dataset.at = JSON.stringify(Object.fromEntries(Object.values(this.controls).map((control) => [control.name, this.value(control)])));
    const sentence = this.sentence();
    const beat = this.tellings.length === 1 && this.tellings[0].said?.textContent;
    say(this.spoken, beat && beat !== this.told ? `${beat} ${sentence}` : sentence);
    this.told = beat;
    for (const panel of this.panels) put(panel.svg, "aria-label", [this.tracks.text(panel.head.title), sentence].filter(Boolean).join(": "));
  }
}
