// What is grabbed: a grip on a control at a point that the control moves, by mouse, finger or keys.

import { clamp, css, make, put, px } from "./dom.js";
import { keys } from "./bar.js";
import { MARKS, Mark } from "./marks.js";

const GRIP = 14, NEAR = 40;
/** Of a thin line the finger finds a wide one over it, which is not seen. */
const LINES = ["path", "line"], PLACED = ["d", "x1", "y1", "x2", "y2", "display"];

/** Where an event is in a panel's px. */
export const local = (panel, event) => {
  const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(panel.svg.getScreenCTM().inverse());
  return [at.x, at.y];
};

/** Follow a pointer from its press until it lets go. */
export const follow = (node, event, drag, end) => {
  event.preventDefault();
  node.focus({ preventScroll: true });
  node.setPointerCapture(event.pointerId);
  const film = node.closest(".film");
  film?.setAttribute("data-held", "");
  const done = () => { node.removeEventListener("pointermove", drag); film?.removeAttribute("data-held"); end(); };
  node.addEventListener("pointermove", drag);
  for (const name of ["pointerup", "pointercancel"]) node.addEventListener(name, done, { once: true });
};

export class Handle extends Mark {
  constructor(panel, mark, parent, k) {
    super(panel, mark, parent);
    const { film } = this, control = (this.control = film.controls[mark.control]);
    panel.handles.push(this);
    this.node.dataset.key = `${panel.telling.at ?? ""}.${panel.number}.${k}`;
    this.whole = mark.grab_marks.map((part) => new MARKS[part.kind](panel, part, this.node));
    this.wide = [];
    this.node.removeAttribute("aria-hidden");
    for (const [key, value] of Object.entries({ tabindex: 0, role: "slider", class: mark.radius_px === 0 ? "film-handle film-plain" : "film-handle", "aria-label": mark.label || control.label, "aria-valuemin": 0, "aria-valuemax": control.stops.length - 1 })) put(this.node, key, value);
    this.grip = make("circle", { r: GRIP, class: "film-grip" }, this.node);
    this.dot = make("circle", { r: mark.radius_px ?? 9, fill: css(mark.colour), class: "film-dot" }, this.node);
    keys(film, this.node, control);
    this.node.addEventListener("pointerdown", (event) => this.grab(event));
  }
  tip(over) {
    const { tracks, mark, panel: { scale } } = this, of = (name) => tracks.read(mark[name], over)[0];
    if (!mark.angle) return [scale.x(of("x")), scale.y(of("y"))];
    const a = of("angle"), reach = of("length") * this.unit;
    return [scale.x(of("x")) + reach * Math.cos(a), scale.y(of("y")) - reach * Math.sin(a)];
  }
  draw() {
    const [x, y] = this.tip(), index = Math.round(this.control.index);
    const seen = x === x && y === y && !this.film.locked(this.control);
    put(this.node, "display", seen ? "" : "none");
    if (!seen) return;
    const early = this.film.early(this.control);
    this.node.classList.toggle("film-early", early);
    put(this.node, "tabindex", early ? -1 : 0);
    for (const part of this.whole) part.draw();
    this.widen();
    for (const circle of [this.grip, this.dot]) { put(circle, "cx", px(x)); put(circle, "cy", px(y)); }
    put(this.node, "aria-valuenow", index);
    put(this.node, "aria-valuetext", this.control.stop_labels[index]);
  }
  /** Lay wide lines that nobody sees over the whole thing's thin ones. */
  widen() {
    const lines = this.whole.flatMap(({ parts, mark }) => parts.filter((part) => LINES.includes(part?.nodeName)).map((part) => [part, mark.symbol]));
    lines.forEach(([line, symbol], k) => {
      const over = (this.wide[k] ??= make(line.nodeName, { class: "film-wide", "data-symbol": symbol }, null));
      if (!over.parentNode) this.grip.before(over);
      for (const name of PLACED) put(over, name, line.getAttribute(name));
    });
  }
  grab(event) {
    const { film, control } = this;
    if (event.button || film.locked(control) || film.early(control)) return;
    film.hold(control);
    const seek = this.mark.angle ? this.turner(event) : this.follower(event);
    follow(this.node, event, (moved) => film.move(control, seek(moved)), () => film.release(control));
  }
  /** Where the pointer is along the way that the point takes over the control's stops; other controls rest. */
  follower(event) {
    const way = this.way(), [px0, py0] = local(this.panel, event), [tx, ty] = this.tip(), off = [tx - px0, ty - py0];
    return (moved) => {
      const [mx, my] = local(this.panel, moved);
      return nearest(way, mx + off[0], my + off[1])[0];
    };
  }
  /** The places that the point takes; where it goes one way across the panel, its height follows and does not lead. */
  way() {
    const way = this.control.stops.map((_, k) => [...this.tip({ [this.control.name]: k })]);
    const steps = way.slice(1).map(([x], k) => x - way[k][0]), across = Math.abs(way.at(-1)[0] - way[0][0]);
    const flat = across > this.panel.width / 3 && (steps.every((step) => step > 0) || steps.every((step) => step < 0));
    return Object.assign(way, { flat });
  }
  /** Where a press beside the thing takes it, and how far from its way the press was. */
  sought(event) {
    const [x, y] = local(this.panel, event);
    if (!this.mark.angle) return nearest(this.way(), x, y);
    const { tracks, mark, panel: { scale } } = this, foot = [scale.x(tracks.read(mark.x)[0]), scale.y(tracks.read(mark.y)[0])];
    const reach = tracks.read(mark.length)[0] * this.unit, far = Math.hypot(x - foot[0], y - foot[1]);
    return [this.turner(null)(event), Math.max(0, far - reach)];
  }
  /** How far the pointer has turned about the hand's foot, found again along the hand's own unwrapped angle. */
  turner(event) {
    const { tracks, mark, control, panel: { scale } } = this;
    const angles = control.stops.map((_, k) => tracks.read(mark.angle, { [control.name]: k })[0]);
    const low = Math.min(...angles), high = Math.max(...angles);
    const foot = [scale.x(tracks.read(mark.x)[0]), scale.y(tracks.read(mark.y)[0])];
    const angle = (moved) => { const [x, y] = local(this.panel, moved); return Math.atan2(foot[1] - y, x - foot[0]); };
    // Without a press the turn begins at the hand itself.
    const from = tracks.read(mark.angle)[0];
    let before = event ? angle(event) : from, goal = from;
    return (moved) => {
      const now = angle(moved), turn = (((now - before + Math.PI) % (2 * Math.PI)) + 2 * Math.PI) % (2 * Math.PI) - Math.PI;
      goal = clamp(goal + turn, low, high);
      before = now;
      let best = Infinity, at = control.index;
      for (let k = 0; k + 1 < angles.length; k++) {
        const step = angles[k + 1] - angles[k], u = step ? clamp((goal - angles[k]) / step, 0, 1) : 0;
        const far = Math.abs(angles[k] + u * step - goal) + 1e-6 * Math.abs(k + u - control.index);
        if (far < best) { best = far; at = k + u; }
      }
      return at;
    };
  }
}

/** Where on a way of points a place is nearest, as an index between two of them, and how far off it is in px. */
function nearest(way, x, y) {
  const { flat } = way;
  let best = Infinity, at = 0;
  for (let k = 0; k + 1 < way.length; k++) {
    const [ax, ay] = way[k], [dx, dy] = [way[k + 1][0] - ax, way[k + 1][1] - ay], long = dx * dx + dy * dy;
    const u = long ? clamp(((x - ax) * dx + (flat ? 0 : (y - ay) * dy)) / long, 0, 1) : 0;
    const far = (ax + u * dx - x) ** 2 + (flat ? 0 : (ay + u * dy - y) ** 2);
    if (far < best - 1e-9) { best = far; at = k + u; }
  }
  return [at, Math.sqrt(best)];
}

/** A press beside all things takes the nearest one there, so that nobody has to drag; a mouse may then drag on. */
export function press(panel, event) {
  if (event.button || event.target.closest(".film-handle, .film-sketch")) return;
  const { film } = panel, able = panel.handles.filter((each) => !each.away && !film.early(each.control) && !each.node.hasAttribute("display"));
  const [x, y] = local(panel, event), off = ([tx, ty]) => Math.hypot(tx - x, ty - y);
  // Of two that could come here the nearer one does.
  const rank = ([each, , far]) => far + off(each.tip()) / 1000;
  const ranked = able.map((each) => [each, ...each.sought(event)]).sort((a, b) => rank(a) - rank(b));
  if (!ranked.length || ranked[0][2] > (ranked[0][0].mark.press_px ?? NEAR)) return;
  const [handle, at] = ranked[0];
  film.hold(handle.control);
  film.move(handle.control, Math.round(at));
  if (event.type === "pointerdown") handle.grab(event);
  else film.release(handle.control);
}
