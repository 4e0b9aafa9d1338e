// A curve that the reader draws before the true one is shown: a height at each column, by mouse, finger or keys.
// Left and right keys choose the column, up and down its height. What the gap amounts to is Python's to say.

import { button, clamp, css, make, put, px, say } from "./dom.js";
import { follow, local } from "./handle.js";
import { Mark, through } from "./marks.js";

const RISE = { ArrowUp: 1, ArrowDown: -1, PageUp: 10, PageDown: -10 };

export class Sketch extends Mark {
  constructor(panel, mark, parent) {
    super(panel, mark, parent);
    const { film, node } = this, { label, columns, levels } = mark.sketch;
    film.sketch = this;
    Object.assign(this, { name: mark.sketch.name, columns, levels, heights: columns.map(() => null), shown: false, heard: "", column: 0 });
    node.removeAttribute("aria-hidden");
    for (const [key, value] of Object.entries({ tabindex: 0, role: "slider", class: "film-sketch", "aria-label": label, "aria-valuemin": 0, "aria-valuemax": levels.length - 1 })) put(node, key, value);
    this.pad = make("rect", { class: "film-pad" }, node);
    this.open = make("path", { class: "film-open" }, node);
    this.gap = make("path", { class: "film-gap", fill: css(mark.colour) }, node);
    this.truth = make("path", { stroke: css(mark.colour), "stroke-width": 5, fill: "none", pathLength: 1, "stroke-linejoin": "round", "stroke-linecap": "round" }, node);
    this.line = make("path", { class: "film-drawn" }, node);
    this.ring = make("circle", { class: "film-ring", r: 9 }, node);
    this.hint = make("text", { class: "film-hint", "text-anchor": "middle" }, node);
    node.addEventListener("pointerdown", (event) => this.stroke(event));
    node.addEventListener("keydown", (event) => this.key(event));
  }

  /** What Python is told: the level at each column, nothing before the curve is shown. */
  get text() { return this.shown ? this.heights.join(".") : ""; }
  get whole() { return !this.heights.includes(null); }
  get fixed() { return this.shown || Boolean(this.film.fixed?.includes(this.name)); }

  /** The buttons below the picture; what was drawn in the film that this one replaces stays. */
  buttons(place, before) {
    const { words } = this.film.head;
    if (before && before.heights.length === this.heights.length) this.heights = before.heights;
    this.show = button(words.draw_show, place, () => this.reveal());
    this.redo = button(words.draw_again, place, () => this.clear());
  }

  y(level) { return this.panel.scale.y(this.levels[level]); }

  draw() {
    const { scale } = this.panel, { mark, shown, heights, columns } = this, last = this.levels.length - 1;
    const [low, high] = [this.y(0), this.y(last)], [left, right] = [scale.x(columns[0]), scale.x(columns.at(-1))];
    for (const [key, value] of Object.entries({ x: px(left - 12), width: px(right - left + 24), y: px(high), height: px(low - high) })) put(this.pad, key, value);
    put(this.line, "d", through(columns, heights.map((level) => (level === null ? NaN : this.levels[level])), scale));
    put(this.open, "d", columns.map((x, k) => (heights[k] === null ? `M${px(scale.x(x))} ${px(low)}v-10` : "")).join(""));
    const truth = shown ? through(this.get("x"), this.get("y"), scale) : "";
    put(this.truth, "class", shown ? "film-true" : "");
    put(this.truth, "d", truth);
    put(this.gap, "d", shown ? this.between() : "");
    put(this.hint, "x", px((left + right) / 2));
    put(this.hint, "y", px(high + 24));
    say(this.hint, heights.some((level) => level !== null) || this.fixed ? "" : this.film.head.words.draw_hint);
    const level = heights[this.column];
    put(this.ring, "cx", px(scale.x(columns[this.column])));
    put(this.ring, "cy", px(this.y(level ?? Math.round(last / 2))));
    put(this.node, "aria-valuenow", level ?? Math.round(last / 2));
    put(this.node, "aria-valuetext", `${mark.sketch.column_texts[this.column]}: ${level === null ? "–" : mark.sketch.level_texts[level]}`);
    put(this.node, "aria-readonly", this.fixed ? "true" : null);
    put(this.node, "class", this.fixed ? "film-sketch film-fixed" : "film-sketch");
    for (const layer of this.panel.revealed) put(layer, "display", shown ? "" : "none");
    this.show.hidden = shown;
    this.show.disabled = !this.whole || this.fixed;
    this.redo.hidden = !shown && !heights.some((level) => level !== null);
  }

  /** The area between the two curves over the columns. */
  between() {
    const { scale } = this.panel, x = this.get("x"), y = this.get("y"), { columns, levels, heights } = this;
    const ring = [];
    for (let k = 0; k < y.length; k++) if (y[k] === y[k] && x[k] >= columns[0] && x[k] <= columns.at(-1)) ring.push([x[k], y[k]]);
    for (let k = columns.length - 1; k >= 0; k--) ring.push([columns[k], levels[heights[k]]]);
    return "M" + ring.map(([a, b]) => `${px(scale.x(a))} ${px(scale.y(b))}`).join("L") + "Z";
  }

  again() {
    this.first = true;
    this.film.soon();
  }

  // ---- drawing ---------------------------------------------------------------------------------------------------

  stroke(event) {
    if (event.button || this.fixed) return;
    let before = null;
    const { scale } = this.panel, [first, last] = [this.y(0), this.y(this.levels.length - 1)];
    const at = (moved) => {
      const [x, y] = local(this.panel, moved), value = clamp((y - first) / (last - first), 0, 1);
      let near = 0;
      this.columns.forEach((column, k) => { if (Math.abs(scale.x(column) - x) < Math.abs(scale.x(this.columns[near]) - x)) near = k; });
      return [near, value * (this.levels.length - 1)];
    };
    const drag = (moved) => {
      const [column, level] = at(moved), [from, old] = before ?? [column, level], step = Math.sign(column - from) || 1;
      // A quick hand skips columns: they lie on the straight way.
      for (let k = from; k !== column + step; k += step) this.heights[k] = Math.round(k === column ? level : old + (level - old) * (k - from) / (column - from));
      before = [column, level];
      this.column = column;
      this.again();
    };
    follow(this.node, event, drag, () => {});
    drag(event);
  }

  key(event) {
    const { heights, column } = this, last = this.columns.length - 1, middle = Math.round((this.levels.length - 1) / 2);
    const to = { ArrowLeft: column - 1, ArrowRight: column + 1, Home: 0, End: last }[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" && this.whole && !this.fixed) this.reveal();
    else if (to !== undefined) {
      this.column = clamp(to, 0, last);
      // Going right goes on at the same height where nothing is drawn.
      if (!this.fixed && this.column === column + 1) heights[this.column] ??= heights[column];
    } else if (event.key in RISE && !this.fixed) heights[column] = clamp((heights[column] ?? middle) + RISE[event.key], 0, this.levels.length - 1);
    else return;
    event.preventDefault();
    event.stopPropagation();
    this.again();
  }

  // ---- showing ---------------------------------------------------------------------------------------------------

  reveal() {
    if (!this.whole || this.fixed) return;
    this.shown = true;
    this.tell();
    this.redo.hidden = false;
    this.redo.focus({ preventScroll: true });
  }

  clear() {
    this.heights = this.columns.map(() => null);
    this.column = 0;
    const told = this.shown;
    this.shown = false;
    this.film.said = null;
    if (told) this.tell(); else this.again();
    this.node.focus({ preventScroll: true });
  }

  tell() {
    this.heard = this.text;
    this.again();
    this.film.send();
  }

  /** What Python has in force: a whole curve is shown, none clears one that was; a curve half drawn stays. */
  hear(text = "") {
    if (text === this.heard) return;
    this.heard = text;
    if (text || this.shown) this.heights = text ? text.split(".").map(Number) : this.columns.map(() => null);
    this.shown = Boolean(text);
    this.again();
  }
}
