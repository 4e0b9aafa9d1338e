// The marks of ui/film/marks.py that nobody grabs: each draws itself into its panel, and again when it moved.

import { clamp, css, html, make, put, px, say } from "./dom.js";

const MANY = 24;

export class Mark {
  constructor(panel, mark, parent) {
    Object.assign(this, { panel, film: panel.film, tracks: panel.film.tracks, mark, first: true });
    this.node = make("g", { "aria-hidden": "true", opacity: mark.opacity, "data-symbol": mark.symbol, class: mark.when_lit && "film-when-lit" }, parent);
    this.parts = [];
  }
  /** Numbers where the controls stand; of a stepped mark those of the nearest stop. */
  get(name) { const given = this.mark[name]; return this.mark.stepped && given.by?.length ? this.tracks.frame(given) : this.tracks.read(given); }
  /** Numbers of one name for each of `n` things: one number counts for all. */
  each(name) { const values = this.get(name); return values.length === 1 ? () => values[0] : (k) => values[k]; }
  count(...names) { return Math.max(...names.map((name) => this.get(name).length)); }
  /** Px of a length: in units of the x axis, or of the y axis, which is as high on every screen. */
  get unit() { const { sx, sy } = this.panel.scale; return this.mark.length_unit === "y" ? Math.abs(sy) : sx; }
  /** The colour of a filled part, or its hatching. */
  fill(k) { return this.mark.fill_pattern === "hatch" ? this.panel.hatch(this.colour(k)) : this.colour(k); }
  part(k, name, attributes) { return (this.parts[k] ??= make(name, attributes, this.node)); }
  colour(k) {
    const { colour, colour_index: index } = this.mark;
    if (!Array.isArray(colour)) return css(colour);
    return css(colour[index ? Math.round(this.tracks.frame(index)[k]) : k % colour.length]);
  }
}

/** A path through points in data units; it breaks where one is no number. */
export const through = (x, y, scale) => {
  let d = "", pen = "M";
  for (let k = 0; k < y.length; k++) {
    if (x[k] !== x[k] || y[k] !== y[k]) { pen = "M"; continue; }
    d += pen + px(scale.x(x[k])) + " " + px(scale.y(y[k]));
    pen = "L";
  }
  return d;
};

class Line extends Mark {
  draw() {
    const { mark } = this;
    put(this.part(0, "path", { stroke: css(mark.colour), "stroke-width": mark.stroke_width, "stroke-dasharray": mark.stroke_dash, fill: css(mark.fill), "stroke-linejoin": "round", "stroke-linecap": "round" }), "d", through(this.get("x"), this.get("y"), this.panel.scale));
  }
}

class Dot extends Mark {
  draw() {
    const { scale } = this.panel, x = this.each("x"), y = this.each("y"), n = this.count("x", "y"), { colour, radius_px: r } = this.mark;
    // Many of one colour are one node: hundreds of nodes cost the browser half of its frames.
    if (n > MANY && !Array.isArray(colour)) {
      let d = "";
      for (let k = 0; k < n; k++) if (x(k) === x(k) && y(k) === y(k)) d += `M${px(scale.x(x(k)))} ${px(scale.y(y(k)))}h0`;
      put(this.part(0, "path", { stroke: css(colour), "stroke-width": 2 * r, "stroke-linecap": "round" }), "d", d);
      return;
    }
    for (let k = 0; k < n; k++) {
      const dot = this.part(k, "circle", { r }), seen = x(k) === x(k) && y(k) === y(k);
      put(dot, "display", seen ? "" : "none");
      if (!seen) continue;
      put(dot, "cx", px(scale.x(x(k))));
      put(dot, "cy", px(scale.y(y(k))));
      put(dot, "fill", this.colour(k));
    }
  }
}

class Rect extends Mark {
  draw() {
    const { scale } = this.panel, sides = ["x0", "x1", "y0", "y1"], [x0, x1, y0, y1] = sides.map((name) => this.each(name)), n = this.count(...sides), { outline, stroke_width: width, stroke_dash: dash, corner_px: rx } = this.mark;
    const style = outline ? { stroke: css(outline), "stroke-width": width ?? 1.5, "stroke-dasharray": dash, rx } : { rx };
    for (let k = 0; k < n; k++) {
      const box = this.part(k, "rect", style), [a, b, c, d] = [scale.x(x0(k)), scale.x(x1(k)), scale.y(y0(k)), scale.y(y1(k))];
      const seen = a + b + c + d === a + b + c + d;
      put(box, "display", seen ? "" : "none");
      if (!seen) continue;
      put(box, "x", px(Math.min(a, b)));
      put(box, "width", px(Math.abs(b - a)));
      put(box, "y", px(Math.min(c, d)));
      put(box, "height", px(Math.abs(d - c)));
      put(box, "fill", this.fill(k));
    }
  }
}

class Vector extends Mark {
  draw() {
    const { mark, panel: { scale } } = this, names = ["x", "y", "length", "angle"], [x, y, length, angle] = names.map((name) => this.each(name));
    for (let k = 0, n = this.count(...names); k < n; k++) {
      const line = this.part(2 * k, "line", { "stroke-width": mark.stroke_width, "stroke-dasharray": mark.stroke_dash, "stroke-linecap": mark.stroke_dash ? null : "round" }), colour = this.colour(k);
      put(line, "stroke", colour);
      const a = angle(k), [cx, cy] = [scale.x(x(k)), scale.y(y(k))], reach = length(k) * this.unit, [c, s] = [Math.cos(a), -Math.sin(a)];
      const [tx, ty] = [cx + reach * c, cy + reach * s], size = mark.has_head ? Math.min(3.2 * mark.stroke_width, reach / 2) : 0;
      const gone = tx + ty === tx + ty ? null : "none";
      put(line, "display", gone);
      if (mark.has_head) put(this.part(2 * k + 1, "path", {}), "display", gone);
      if (gone) continue;
      put(line, "x1", px(cx));
      put(line, "y1", px(cy));
      put(line, "x2", px(tx - size * c));
      put(line, "y2", px(ty - size * s));
      if (!mark.has_head) continue;
      const [bx, by, w] = [tx - size * c, ty - size * s, size / 1.8], tip = this.part(2 * k + 1, "path", {});
      put(tip, "fill", colour);
      put(tip, "d", `M${px(tx)} ${px(ty)}L${px(bx - w * s)} ${px(by + w * c)}L${px(bx + w * s)} ${px(by - w * c)}Z`);
    }
  }
}

class Arc extends Mark {
  draw() {
    const names = ["x", "y", "radius", "start_angle", "end_angle"], [x, y, radius, start, end] = names.map((name) => this.each(name));
    for (let k = 0, n = this.count(...names); k < n; k++) {
      const R = radius(k) * this.unit, by = end(k) - start(k), { sx, sy, ...scale } = this.panel.scale;
      const sweep = clamp(by, -2 * Math.PI, 2 * Math.PI);
      const [cx, cy, from] = [scale.x(x(k)), scale.y(y(k)), start(k)];
      put(this.part(k, "path", this.style), "d", R > 0 && Number.isFinite(cx + cy + from + sweep) ? this.outline(cx, cy, R, from, sweep) : "");
    }
  }
  get style() {
    const { colour, stroke_width: width, stroke_dash: dash } = this.mark;
    return { fill: "none", stroke: css(colour), "stroke-width": width, "stroke-dasharray": dash };
  }
  outline(x, y, R, start, sweep) { return "M" + bow(x, y, R, start, sweep); }
}

/** Along a circle from an angle on, in two halves, so that a whole turn is drawn as well. */
const bow = (x, y, R, start, sweep) => {
  const at = (angle) => `${px(x + R * Math.cos(angle))} ${px(y - R * Math.sin(angle))}`;
  const half = (to) => `A${px(R)} ${px(R)} 0 ${Math.abs(sweep) > 2 * Math.PI ? 1 : 0} ${sweep > 0 ? 0 : 1} ${at(to)}`;
  return at(start) + half(start + sweep / 2) + half(start + sweep);
};

class Wedge extends Arc {
  get style() { return { fill: this.fill(0) }; }
  outline(x, y, R, start, sweep) {
    const inner = this.mark.inner_radius * this.unit;
    return inner ? `M${bow(x, y, R, start, sweep)}L${bow(x, y, inner, start + sweep, -sweep)}Z` : `M${px(x)} ${px(y)}L${bow(x, y, R, start, sweep)}Z`;
  }
}

class Text extends Mark {
  draw() {
    const { mark, panel: { scale } } = this, x = this.get("x")[0], y = this.get("y")[0];
    const node = this.part(0, "text", { "text-anchor": mark.anchor ?? "middle", "font-size": mark.font_size ?? 15, "font-weight": mark.bold ? 600 : null, class: `${mark.halo === false ? "" : "film-label-text"}${mark.is_code ? " film-code" : ""}`, fill: css(mark.colour) });
    const seen = x === x && y === y;
    put(node, "display", seen ? "" : "none");
    if (!seen) return;
    put(node, "x", px(scale.x(x) + (mark.dx ?? 0)));
    put(node, "y", px(scale.y(y) + (mark.dy ?? 0)));
    say(node, this.tracks.text(mark.content));
  }
}

class Heatmap extends Mark {
  constructor(panel, mark, parent) {
    super(panel, mark, parent);
    const [rows, columns] = mark.cells.shape;
    this.canvas = html("canvas", "film-image", null, { width: columns, height: rows, "aria-hidden": "true" });
    panel.place.prepend(this.canvas);
    const packed = (shades) => Uint32Array.from({ length: 255 }, (_, k) => 0xff000000 | (shades[3 * k + 2] << 16) | (shades[3 * k + 1] << 8) | shades[3 * k]);
    this.looks = [mark.colours, mark.dark ?? mark.colours].map((colours) => packed(this.tracks.array(colours)));
    this.pen = this.canvas.getContext("2d");
    this.data = this.pen.createImageData(columns, rows);
    this.pixels = new Uint32Array(this.data.data.buffer);
  }
  draw() {
    const cells = this.tracks.frame(this.mark.cells), { scale } = this.panel, { x, y } = this.mark;
    const look = this.looks[Number(this.film.dark)];
    if (this.cells !== cells.byteOffset || this.look !== look) {
      Object.assign(this, { cells: cells.byteOffset, look });
      for (let k = 0; k < cells.length; k++) this.pixels[k] = look[cells[k] + 127];
      this.pen.putImageData(this.data, 0, 0);
    }
    if (this.laid === scale) return;
    this.laid = scale;
    const [a, b, c, d] = [scale.x(x[0]), scale.x(x[1]), scale.y(y[0]), scale.y(y[1])];
    Object.assign(this.canvas.style, { left: `${Math.min(a, b)}px`, width: `${Math.abs(b - a)}px`, top: `${Math.min(c, d)}px`, height: `${Math.abs(d - c)}px` });
    this.canvas.style.transform = `scale(${b < a ? -1 : 1}, ${d < c ? -1 : 1})`;
  }
}

export const MARKS = { line: Line, dot: Dot, rect: Rect, vector: Vector, arc: Arc, wedge: Wedge, text: Text, heatmap: Heatmap };
