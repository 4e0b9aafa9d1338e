// What is grabbed: a grip on a control at a point that the control moves, by mouse, finger or keys.

import { clamp, css, make, put, px } from "./dom.js";
import { keys } from "./bar.js";
import { Shape } from "./shapes.js";

const GRIP = 14;

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
  const done = () => { node.removeEventListener("pointermove", drag); end(); };
  node.addEventListener("pointermove", drag);
  for (const name of ["pointerup", "pointercancel"]) node.addEventListener(name, done, { once: true });
};

export class Handle extends Shape {
  constructor(panel, shape, parent) {
    super(panel, shape, parent);
    const { film } = this, control = (this.control = film.controls[shape.control]);
    this.node.removeAttribute("aria-hidden");
    for (const [key, value] of Object.entries({ tabindex: 0, role: "slider", class: "film-handle", "aria-label": shape.name || control.label, "aria-valuemin": 0, "aria-valuemax": control.stops.length - 1 })) put(this.node, key, value);
    this.grip = make("circle", { r: GRIP, class: "film-grip" }, this.node);
    this.dot = make("circle", { r: shape.r ?? 9, fill: css(shape.colour), class: "film-dot" }, this.node);
    keys(film, this.node, control);
    this.node.addEventListener("pointerdown", (event) => this.grab(event));
  }
  tip(over) {
    const { tracks, shape, panel: { scale } } = this, of = (name) => tracks.read(shape[name], over)[0];
    if (!shape.angle) return [scale.x(of("x")), scale.y(of("y"))];
    const a = of("angle"), reach = of("length") * scale.sx;
    return [scale.x(of("x")) + reach * Math.cos(a), scale.y(of("y")) - reach * Math.sin(a)];
  }
  draw() {
    const [x, y] = this.tip(), index = Math.round(this.control.index);
    const seen = x === x && y === y && !this.film.locked(this.control);
    put(this.node, "display", seen ? "" : "none");
    if (!seen) return;
    for (const circle of [this.grip, this.dot]) { put(circle, "cx", px(x)); put(circle, "cy", px(y)); }
    put(this.node, "aria-valuenow", index);
    put(this.node, "aria-valuetext", this.control.texts[index]);
  }
  grab(event) {
    const { film, control } = this;
    if (event.button || film.locked(control)) return;
    film.hold(control);
    const seek = this.shape.angle ? this.turner(event) : this.follower(event);
    follow(this.node, event, (moved) => film.move(control, seek(moved)), () => film.release(control));
  }
  /** Where the pointer is along the way that the point takes over the control's stops; other controls rest. */
  follower(event) {
    const way = this.control.stops.map((_, k) => [...this.tip({ [this.control.name]: k })]);
    const [px0, py0] = local(this.panel, event), [tx, ty] = this.tip(), off = [tx - px0, ty - py0];
    return (moved) => {
      const [mx, my] = local(this.panel, moved), x = mx + off[0], y = my + off[1];
      let best = Infinity, at = 0;
      for (let k = 0; k + 1 < way.length; k++) {
        const [ax, ay] = way[k], [dx, dy] = [way[k + 1][0] - ax, way[k + 1][1] - ay], long = dx * dx + dy * dy;
        const u = long ? clamp(((x - ax) * dx + (y - ay) * dy) / long, 0, 1) : 0, far = (ax + u * dx - x) ** 2 + (ay + u * dy - y) ** 2;
        if (far < best - 1e-9) { best = far; at = k + u; }
      }
      return at;
    };
  }
  /** How far the pointer has turned about the hand's foot, found again along the hand's own unwrapped angle. */
  turner(event) {
    const { tracks, shape, control, panel: { scale } } = this;
    const angles = control.stops.map((_, k) => tracks.read(shape.angle, { [control.name]: k })[0]);
    const low = Math.min(...angles), high = Math.max(...angles);
    const foot = [scale.x(tracks.read(shape.x)[0]), scale.y(tracks.read(shape.y)[0])];
    const angle = (moved) => { const [x, y] = local(this.panel, moved); return Math.atan2(foot[1] - y, x - foot[0]); };
    let before = angle(event), goal = tracks.read(shape.angle)[0];
    return (moved) => {
      const now = angle(moved);
      goal = clamp(goal + ((now - before + 3 * Math.PI) % (2 * Math.PI)) - Math.PI, low, high);
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
