// One picture: its room, its axes, and its marks from the back to the front.

import { css, html, make, phone, px, put, say } from "./dom.js";
import { Handle, press } from "./handle.js";
import { MARKS } from "./marks.js";
import { Sketch } from "./sketch.js";

const MARGIN = { left: 52, right: 14, top: 12, bottom: 44 }, BARE = { left: 8, right: 8, top: 8, bottom: 8 };
const KINDS = { ...MARKS, drag_handle: Handle, sketch_input: Sketch };

/** Whether a step, counted from 1, shows what is there from one step to another. */
export const within = ({ first_beat: first = 1, last_beat: last = 0 }, beat) => first <= beat && (!last || beat <= last);

export class Panel {
  /** `telling`: which step it belongs to; `number`: which panel of the film it is. */
  constructor(film, head, parent, telling, number) {
    Object.assign(this, { film, head, telling, number });
    this.root = html("figure", "film-panel", parent);
    this.root.style.cssText = `--share: ${head.width_share}; --least: ${head.min_width}px`;
    if (head.phone_min_width) this.root.style.setProperty("--phone-least", `${head.phone_min_width}px`);
    this.caption = html("figcaption", "film-title", this.root);
    this.paragraphs = head.paragraphs.map(({ content, colour, font_size: size, bold }) => {
      const node = html("p", "film-paragraph", this.root, { style: `font-size: ${size}px; color: ${css(colour)}${bold ? "; font-weight: 600" : ""}` });
      return { node, content };
    });
    if (head.screen) this.root.dataset.screen = head.screen;
    this.root.classList.toggle("film-text", !head.marks.length);
    this.place = html("div", "film-place", this.root);
    this.place.hidden = !head.marks.length;
    this.svg = make("svg", { role: "group" }, this.place);
    this.margin = head.x.ticks.length || head.y.ticks.length || head.x.title || head.y.title ? { ...MARGIN } : { ...BARE };
    if (!head.x.ticks.length && !head.x.title) this.margin.bottom = 10;
    if (!head.y.ticks.length && !head.y.title) this.margin.left = 10;
    if (head.y.title) this.margin.top = 30;
    if (head.x.ticks.length && head.x.title) this.margin.bottom = 54;
    this.axes = make("g", { "aria-hidden": "true" }, this.svg);
    this.revealed = [];
    this.handles = [];
    this.marks = head.marks.map((mark, k) => {
      const beats = mark.first_beat > 1 || mark.last_beat || mark.min_panel_px || mark.max_panel_px, layer = mark.after_reveal || beats ? make("g", { display: mark.after_reveal && "none" }, this.svg) : this.svg;
      if (mark.after_reveal) this.revealed.push(layer);
      const drawn = new KINDS[mark.kind](this, mark, layer, k);
      return { drawn, layer: beats ? layer : null, mark, used: [...new Set(film.tracks.uses(mark))] };
    });
    // A finger that presses may be about to scroll: it is heard once it has left.
    this.svg.addEventListener("pointerdown", (event) => { if (event.pointerType === "mouse") press(this, event); });
    this.svg.addEventListener("click", (event) => { if (event.pointerType !== "mouse") press(this, event); });
  }

  /** Show what a step shows, counted from 1. */
  turn(beat) {
    const shown = within(this.head, beat);
    // What was away while controls moved is drawn when it comes.
    if (shown && !this.shown) this.again();
    this.shown = shown;
    this.root.hidden = !shown;
    this.sort(beat);
  }

  /** Show the marks of a step, but for those that this width has no room for. */
  sort(beat) {
    for (const { layer, mark, drawn } of this.marks) if (layer) {
      const away = !within(mark, beat) || this.width < mark.min_panel_px || this.width >= mark.max_panel_px;
      if (!away && drawn.away) drawn.first = true;
      drawn.away = away;
      put(layer, "display", away ? "none" : null);
      if (drawn.canvas) drawn.canvas.hidden = away;
    }
  }

  /** Take the width that there is; the height follows from it where both axes have one unit. */
  fit() {
    const { head, margin: m } = this, width = this.place.clientWidth || head.min_width;
    if (!this.shown || width === this.width || this.place.hidden) return;
    const inner = width - m.left - m.right, w = head.x.high - head.x.low, h = head.y.high - head.y.low;
    const most = (phone.matches && head.phone_height) || head.height;
    const tall = head.equal_aspect ? Math.min(most, Math.abs(inner * h / w)) : most;
    Object.assign(this, { width, height: tall + m.top + m.bottom });
    put(this.svg, "width", width);
    put(this.svg, "height", this.height);
    put(this.svg, "viewBox", `0 0 ${width} ${this.height}`);
    let [sx, sy] = [inner / w, -tall / h];
    if (head.equal_aspect) { const s = Math.min(Math.abs(sx), Math.abs(sy)); sx = s * Math.sign(sx); sy = s * Math.sign(sy); }
    const left = m.left + (inner - Math.abs(sx * w)) / 2, bottom = m.top + tall - (tall - Math.abs(sy * h)) / 2;
    this.scale = { sx, sy, x: (v) => left + (v - head.x.low) * sx, y: (v) => bottom + (v - head.y.low) * sy,
      back: (a, b) => [(a - left) / sx + head.x.low, (b - bottom) / sy + head.y.low], left, right: left + w * sx, top: bottom + h * sy, bottom };
    Object.assign(this.place.dataset, { left, bottom, sx, sy });
    this.drawAxes();
    this.sort(this.telling.beat + 1);
    for (const { drawn } of this.marks) drawn.first = true;
  }

  /** A fill of diagonal strokes in a colour. */
  hatch(colour) {
    const id = `hatch-${this.film.id.replace(/\W/g, "-")}-${this.telling.at ?? ""}-${this.number}-${colour.replace(/\W/g, "")}`;
    if (!this.svg.querySelector(`#${id}`)) {
      const pattern = make("pattern", { id, width: 7, height: 7, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, make("defs", {}, this.svg));
      make("line", { x1: 2, x2: 2, y1: 0, y2: 7, stroke: colour, "stroke-width": 2 }, pattern);
    }
    return `url(#${id})`;
  }

  drawAxes() {
    const { head, axes, scale: s } = this;
    axes.replaceChildren();
    const write = (text, x, y, anchor, name = "film-tick") => { make("text", { x: px(x), y: px(y), "text-anchor": anchor, class: name }, axes).textContent = text; };
    const ticks = head.x.ticks.map(([value, text]) => {
      const x = s.x(value), half = 3.7 * text.length, middle = Math.min(x, this.width - half);
      return { x, text, middle, left: middle - half, right: middle + half };
    });
    let free = -Infinity;
    for (const tick of ticks) {
      if (head.x.grid) make("line", { x1: px(tick.x), x2: px(tick.x), y1: px(s.top), y2: px(s.bottom), class: "film-grid" }, axes);
      // The last label is written whatever comes before it.
      if (tick.left < free || (tick !== ticks.at(-1) && tick.right + 4 > ticks.at(-1).left)) continue;
      write(tick.text, tick.middle, s.bottom + 18, "middle");
      free = tick.right + 4;
    }
    for (const [value, text] of head.y.ticks) {
      if (head.y.grid) make("line", { x1: px(s.left), x2: px(s.right), y1: px(s.y(value)), y2: px(s.y(value)), class: "film-grid" }, axes);
      write(text, s.left - 7, s.y(value) + 5, "end");
    }
    if (head.x.title) write(head.x.title, s.right, s.bottom + (head.x.ticks.length ? 40 : 20), "end", "film-axis");
    if (head.y.title) write(head.y.title, 2, 16, "start", "film-axis");
  }

  /** Draw what depends on the controls that moved, and what was never drawn in this room. */
  paint(moved) {
    if (!this.shown) return;
    for (const { drawn, used } of this.marks) {
      if (drawn.away || (!drawn.first && !used.some((name) => moved.has(name)))) continue;
      drawn.draw();
      drawn.first = false;
    }
    say(this.caption, this.film.tracks.text(this.head.title));
    for (const { node, content } of this.paragraphs) say(node, this.film.tracks.text(content));
  }

  /** Draw everything again: what may be moved has changed, or a curve was shown. */
  again() { for (const { drawn } of this.marks) drawn.first = true; }
}
