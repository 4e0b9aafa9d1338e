// The shapes of ui/film/shapes.py that nobody grabs: each draws itself into its panel, and again when it moved.

import { clamp, css, html, make, put, px, say } from "./dom.js";

const MANY = 24;

export class Shape {
  constructor(panel, shape, parent) {
    Object.assign(this, { panel, film: panel.film, tracks: panel.film.tracks, shape, first: true });
    this.node = make("g", { "aria-hidden": "true", opacity: shape.opacity, "data-symbol": shape.symbol }, parent);
    this.parts = [];
  }
  get(name) { return this.tracks.read(this.shape[name]); }
  /** Numbers of one name for each of `n` things: one number counts for all. */
  each(name) { const values = this.get(name); return values.length === 1 ? () => values[0] : (k) => values[k]; }
  count(...names) { return Math.max(...names.map((name) => this.get(name).length)); }
  /** Px of a length: in units of the x axis, or of the y axis, which is as high on every screen. */
  get unit() { const { sx, sy } = this.panel.scale; return this.shape.unit === "y" ? Math.abs(sy) : sx; }
  part(k, name, attributes) { return (this.parts[k] ??= make(name, attributes, this.node)); }
  colour(k) {
    const { colour, paint } = this.shape;
    if (!Array.isArray(colour)) return css(colour);
    return css(colour[paint ? Math.round(this.tracks.frame(paint)[k]) : k % colour.length]);
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

class Path extends Shape {
  draw() {
    const { shape } = this;
    put(this.part(0, "path", { stroke: css(shape.stroke), "stroke-width": shape.width, "stroke-dasharray": shape.dash, fill: css(shape.fill), "stroke-linejoin": "round", "stroke-linecap": "round" }), "d", through(this.get("x"), this.get("y"), this.panel.scale));
  }
}

class Dots extends Shape {
  draw() {
    const { scale } = this.panel, x = this.each("x"), y = this.each("y"), n = this.count("x", "y"), { colour, r } = this.shape;
    // Many of one colour are one node: hundreds of nodes cost the browser half of its frames.
    if (n > MANY && !Array.isArray(colour)) {
      let d = "";
      for (let k = 0; k < n; k++) if (x(k) === x(k) && y(k) === y(k)) d += `M${px(scale.x(x(k)))} ${px(scale.y(y(k)))}h0`;
      put(this.part(0, "path", { stroke: css(colour), "stroke-width": 2 * r, "stroke-linecap": "round" }), "d", d);
      return;
    }
    for (let k = 0; k < n; k++) {
      const dot = this.part(k, "circle", { r: this.shape.r }), seen = x(k) === x(k) && y(k) === y(k);
      put(dot, "display", seen ? "" : "none");
      if (!seen) continue;
      put(dot, "cx", px(scale.x(x(k))));
      put(dot, "cy", px(scale.y(y(k))));
      put(dot, "fill", this.colour(k));
    }
  }
}

class Boxes extends Shape {
  draw() {
    const { scale } = this.panel, sides = ["x0", "x1", "y0", "y1"], [x0, x1, y0, y1] = sides.map((name) => this.each(name)), n = this.count(...sides);
    for (let k = 0; k < n; k++) {
      const box = this.part(k, "rect", {}), [a, b, c, d] = [scale.x(x0(k)), scale.x(x1(k)), scale.y(y0(k)), scale.y(y1(k))];
      const seen = a + b + c + d === a + b + c + d;
      put(box, "display", seen ? "" : "none");
      if (!seen) continue;
      put(box, "x", px(Math.min(a, b)));
      put(box, "width", px(Math.abs(b - a)));
      put(box, "y", px(Math.min(c, d)));
      put(box, "height", px(Math.abs(d - c)));
      put(box, "fill", this.colour(k));
    }
  }
}

class Hands extends Shape {
  draw() {
    const { shape, panel: { scale } } = this, names = ["x", "y", "length", "angle"], [x, y, length, angle] = names.map((name) => this.each(name));
    for (let k = 0, n = this.count(...names); k < n; k++) {
      const line = this.part(2 * k, "line", { "stroke-width": shape.width, "stroke-linecap": "round" }), colour = this.colour(k);
      put(line, "stroke", colour);
      const a = angle(k), [cx, cy] = [scale.x(x(k)), scale.y(y(k))], reach = length(k) * this.unit, [c, s] = [Math.cos(a), -Math.sin(a)];
      const [tx, ty] = [cx + reach * c, cy + reach * s], size = shape.head ? Math.min(3.2 * shape.width, reach / 2) : 0;
      put(line, "x1", px(cx));
      put(line, "y1", px(cy));
      put(line, "x2", px(tx - size * c));
      put(line, "y2", px(ty - size * s));
      if (!shape.head) continue;
      const [bx, by, w] = [tx - size * c, ty - size * s, size / 1.8], tip = this.part(2 * k + 1, "path", {});
      put(tip, "fill", colour);
      put(tip, "d", `M${px(tx)} ${px(ty)}L${px(bx - w * s)} ${px(by + w * c)}L${px(bx + w * s)} ${px(by - w * c)}Z`);
    }
  }
}

class Arc extends Shape {
  draw() {
    const { shape, panel: { scale } } = this, names = ["x", "y", "r", "start", "end"], [x, y, r, start, end] = names.map((name) => this.each(name));
    const look = shape.sector ? { fill: css(shape.colour) } : { fill: "none", stroke: css(shape.colour), "stroke-width": shape.width, "stroke-dasharray": shape.dash };
    for (let k = 0, n = this.count(...names); k < n; k++) {
      const [cx, cy, R, a, b] = [scale.x(x(k)), scale.y(y(k)), r(k) * this.unit, start(k), end(k)], by = b - a;
      const sweep = shape.shorter ? Math.atan2(Math.sin(by), Math.cos(by)) : clamp(by, -2 * Math.PI, 2 * Math.PI);
      const at = (angle) => `${px(cx + R * Math.cos(angle))} ${px(cy - R * Math.sin(angle))}`, turn = sweep > 0 ? 0 : 1;
      // Two halves, so that a whole turn is drawn as well.
      const bow = (to, by) => `A${px(R)} ${px(R)} 0 ${Math.abs(by) > Math.PI ? 1 : 0} ${turn} ${at(to)}`;
      let d = (shape.sector ? `M${px(cx)} ${px(cy)}L` : "M") + at(a) + bow(a + sweep / 2, sweep / 2) + bow(a + sweep, sweep / 2) + (shape.sector ? "Z" : "");
      if (!(R > 0) || sweep !== sweep) d = "";
      put(this.part(k, "path", look), "d", d);
    }
  }
}

class Label extends Shape {
  draw() {
    const { shape, panel: { scale } } = this, x = this.get("x")[0], y = this.get("y")[0];
    const node = this.part(0, "text", { "text-anchor": shape.anchor ?? "middle", "font-size": shape.size ?? 15, "font-weight": shape.bold ? 600 : null, class: shape.plain ? "" : "film-label-text", fill: css(shape.colour) });
    const seen = x === x && y === y;
    put(node, "display", seen ? "" : "none");
    if (!seen) return;
    put(node, "x", px(scale.x(x) + (shape.dx ?? 0)));
    put(node, "y", px(scale.y(y) + (shape.dy ?? 0)));
    say(node, this.tracks.text(shape.text));
  }
}

class Picture extends Shape {
  constructor(panel, shape, parent) {
    super(panel, shape, parent);
    const [rows, columns] = shape.cells.shape;
    this.canvas = html("canvas", "film-image", null, { width: columns, height: rows, "aria-hidden": "true" });
    panel.place.prepend(this.canvas);
    const packed = (shades) => Uint32Array.from({ length: 255 }, (_, k) => 0xff000000 | (shades[3 * k + 2] << 16) | (shades[3 * k + 1] << 8) | shades[3 * k]);
    this.looks = [shape.colours, shape.dark ?? shape.colours].map((colours) => packed(this.tracks.array(colours)));
    this.pen = this.canvas.getContext("2d");
    this.data = this.pen.createImageData(columns, rows);
    this.pixels = new Uint32Array(this.data.data.buffer);
  }
  draw() {
    const cells = this.tracks.frame(this.shape.cells), { scale } = this.panel, { x, y } = this.shape;
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

export const SHAPES = { path: Path, dots: Dots, boxes: Boxes, hands: Hands, arc: Arc, label: Label, image: Picture };
