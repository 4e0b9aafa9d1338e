// Plays a scene (ui/film/scene.py): interpolates tracks between neighbouring stops, maps data units to pixels, paints.
// No formula is known here. A number on the screen is written by Python for a stop; between stops the nearest's is shown.

const NS = "http://www.w3.org/2000/svg";
const MARK = 8, GRIP = 14, STEPS = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 };
const MARGIN = { left: 52, right: 14, top: 12, bottom: 44 }, BARE = { left: 8, right: 8, top: 8, bottom: 8 };
const SAVED = ["fill", "stroke", "font-size", "font-family", "font-weight", "opacity"];
const calm = matchMedia("(prefers-reduced-motion: reduce)");
// One registry for the page: this file may come from several addresses, each a module of its own.
const { films, told } = (globalThis.ropeLabFilms ??= { films: new Map(), told: new Map() });

const make = (name, attributes, parent) => {
  const node = document.createElementNS(NS, name);
  for (const key in attributes) if (attributes[key] != null && attributes[key] !== "") node.setAttribute(key, attributes[key]);
  parent?.append(node);
  return node;
};
const html = (name, classes, parent, attributes = {}) => {
  const node = document.createElement(name);
  node.className = classes;
  for (const key in attributes) node.setAttribute(key, attributes[key]);
  parent?.append(node);
  return node;
};
const clamp = (value, low, high) => Math.min(high, Math.max(low, value));
const css = (colour) => (colour === "ink" ? "currentColor" : colour === "paper" ? "var(--film-paper)" : colour);
const px = (value) => value.toFixed(2);

/** Mount a packed scene in `box`, or update it. `report(values, count)` is called when the hand lets go. */
export async function mount(box, bytes, report) {
  const start = 1 + bytes[0] + MARK, mark = bytes.subarray(0, start).join();
  const id = new TextDecoder().decode(bytes.subarray(1, 1 + bytes[0]));
  const known = films.get(id);
  if (known && known.mark === mark && known.box === box) { known.report = report; return known; }
  box.dataset.mark = mark;
  box.dataset.bytes = bytes.length;
  const inflated = new Blob([bytes.subarray(start)]).stream().pipeThrough(new DecompressionStream("deflate"));
  const buffer = await new Response(inflated).arrayBuffer();
  if (box.dataset.mark !== mark) return films.get(id);
  const film = new Film(box, id, mark, buffer, report, films.get(id));
  films.set(id, film);
  return film;
}

/** What Python says of a film: its values, whether it may be moved, what is to be played. It may come before the film. */
export function tell(id, message) {
  told.set(id, message);
  films.get(id)?.hear(message);
}

class Film {
  constructor(box, id, mark, buffer, report, before) {
    const length = new DataView(buffer).getUint32(0, true);
    const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
    Object.assign(this, { box, id, mark, buffer, report, head, start: 4 + length, held: null, count: before?.count ?? 0, heard: 0 });
    this.controls = Object.fromEntries(head.controls.map((control) => [control.name, { ...control, index: 0 }]));
    this.moved = new Set(Object.keys(this.controls));
    this.build();
    const message = told.get(id);
    if (message) this.hear(message);
    for (const control of head.controls) {
      const old = before?.controls[control.name];
      if (before?.held && old) this.controls[control.name].index = this.nearest(control, this.value(old));
    }
    this.paint();
    new ResizeObserver(() => this.resize()).observe(this.stage);
    box.dataset.ready = "1";
  }

  // ---- the page around the picture -------------------------------------------------------------------------------

  build() {
    const { box, head } = this;
    box.replaceChildren();
    this.stage = html("div", "film-panels", box);
    this.panels = head.panels.map((panel) => new Panel(this, panel, this.stage));
    this.bar = html("div", "film-bar", box);
    this.inputs = {};
    for (const control of Object.values(this.controls)) {
      if (control.slider) this.slider(control);
      if (control.seconds) this.playButton(control, this.inputs[control.name]?.label ?? this.bar);
    }
    const save = html("span", "film-save", this.bar);
    for (const kind of ["SVG", "PNG"]) {
      const button = html("button", "film-button", save, { type: "button", "aria-label": head.words["save_" + kind.toLowerCase()] ?? kind });
      button.textContent = kind;
      button.addEventListener("click", () => this.save(kind));
    }
    this.line = html("p", "film-finding", box);
    this.spoken = html("span", "film-spoken", box, { role: "status" });
  }

  slider(control) {
    const label = html("label", "film-label", this.bar), name = html("span", "", label);
    name.textContent = control.label;
    const input = html("input", "film-range", label, { type: "range", min: 0, max: control.stops.length - 1, step: "any" });
    input.setAttribute("aria-label", control.label);
    const output = html("output", "film-value", label);
    this.inputs[control.name] = { input, output, label };
    let late = 0, pressed = false;
    const done = () => { clearTimeout(late); this.release(control); };
    input.addEventListener("pointerdown", () => { pressed = true; this.hold(control); });
    input.addEventListener("input", () => { this.hold(control); this.move(control, Number(input.value)); });
    // A key or an assistive tool changes the value again and again; the hand lets go once.
    input.addEventListener("change", () => { clearTimeout(late); if (pressed) done(); else late = setTimeout(done, 250); pressed = false; });
    input.addEventListener("pointerup", () => { if (this.held) setTimeout(done, 0); });
    this.keys(input, control);
  }

  keys(node, control) {
    let late = 0, keyed = false;
    const done = () => { clearTimeout(late); if (keyed) { keyed = false; this.release(control); } };
    node.addEventListener("keydown", (event) => {
      const last = control.stops.length - 1, page = Math.max(1, Math.round(last / 10)), at = Math.round(control.index);
      const to = { Home: 0, End: last, PageUp: at + page, PageDown: at - page }[event.key] ?? (event.key in STEPS ? at + STEPS[event.key] : null);
      if (to === null || event.ctrlKey || event.metaKey || event.altKey || this.locked(control)) return;
      event.preventDefault();
      event.stopPropagation();
      clearTimeout(late);
      keyed = true;
      this.hold(control);
      this.move(control, clamp(to, 0, last));
    });
    node.addEventListener("keyup", (event) => {
      if (!(event.key in STEPS) && !["Home", "End", "PageUp", "PageDown"].includes(event.key)) return;
      clearTimeout(late);
      late = setTimeout(done, 150);
    });
    // The pointer may hold the same control by another handle by then.
    node.addEventListener("blur", done);
  }

  playButton(control, place) {
    const button = html("button", "film-button film-play", null, { type: "button" }), { words } = this.head;
    place.prepend(button);
    const show = (on) => {
      button.textContent = on ? "❚❚" : "▶";
      button.setAttribute("aria-label", `${on ? words.pause : words.play}: ${control.label}`);
    };
    show(false);
    control.playing = show;
    button.addEventListener("click", () => (this.playing === control ? this.stop() : this.play(control, control.stops.length - 1)));
  }

  // ---- moving ----------------------------------------------------------------------------------------------------

  value(control) { return control.stops[Math.round(control.index)]; }

  nearest(control, value) {
    let best = 0;
    control.stops.forEach((stop, k) => { if (Math.abs(stop - value) < Math.abs(control.stops[best] - value)) best = k; });
    return best;
  }

  locked(control) { return Boolean(this.fixed?.includes(control.name)); }

  hold(control) {
    if (this.held === control) return;
    if (this.playing) this.halt();
    this.held = control;
    control.from = this.value(control);
  }

  move(control, index, alone = false) {
    control.index = clamp(index, 0, control.stops.length - 1);
    this.moved.add(control.name);
    this.due ||= requestAnimationFrame(() => { this.due = 0; this.paint(); });
    if (alone) return;
    // Other films of the page that have this control go along.
    const value = this.value(control);
    for (const other of films.values()) {
      const twin = other !== this && other.box.isConnected && other.controls[control.name];
      if (twin) other.move(twin, twin.stops.length === control.stops.length ? control.index : other.nearest(twin, value), true);
    }
  }

  release(control) {
    if (this.held !== control) return;
    this.held = null;
    this.move(control, Math.round(control.index));
    if (this.value(control) !== control.from) this.send();
    this.speak();
  }

  send() {
    this.count += 1;
    this.report?.(Object.fromEntries(Object.values(this.controls).map((control) => [control.name, this.value(control)])), this.count);
  }

  hear({ at = {}, count = 0, fixed = [], bare = false, play = null }) {
    this.fixed = fixed;
    for (const name in this.inputs) this.inputs[name].label.hidden = bare || this.locked(this.controls[name]);
    // An answer to an earlier move than the last, or one that comes while the hand holds, is out of date.
    if (this.held || this.playing || (count && count < this.count)) return;
    for (const name in at) {
      const control = this.controls[name], index = control && this.nearest(control, at[name]);
      if (control && index !== Math.round(control.index)) this.move(control, index, true);
    }
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
    const speed = seconds ? (to - at) / seconds : to / control.seconds;
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

  // ---- reading tracks --------------------------------------------------------------------------------------------

  /** The index among a driver's stops: a control's name, or [first, second, offset] for a difference of two. */
  where(driver, over) {
    const of = (name) => over?.[name] ?? this.controls[name].index;
    return typeof driver === "string" ? of(driver) : of(driver[0]) - of(driver[1]) + driver[2];
  }

  names(reference) { return (reference?.by ?? []).flatMap((driver) => (typeof driver === "string" ? driver : driver.slice(0, 2))); }

  array(reference) {
    const Kind = { f4: Float32Array, i1: Int8Array, u1: Uint8Array }[reference.type];
    const size = [...reference.dims, ...reference.shape].reduce((a, b) => a * b, 1);
    return (reference.array ??= new Kind(this.buffer, this.start + reference.at, size));
  }

  size(reference) { return reference.shape.reduce((a, b) => a * b, 1); }

  /** Numbers at the controls' places (or at `over`), linear between neighbouring stops. */
  read(reference, over) {
    if (typeof reference === "number") return [reference];
    if (Array.isArray(reference)) return reference;
    const all = this.array(reference), n = this.size(reference), [K, L] = reference.dims;
    if (!reference.dims.length) return all;
    const out = (reference.out ??= new Float32Array(n));
    const split = (driver, count) => {
      const x = clamp(this.where(driver, over), 0, count - 1), i = Math.min(Math.floor(x), Math.max(count - 2, 0));
      return [i, x - i];
    };
    const [i, u] = split(reference.by[0], K);
    if (reference.dims.length === 1) {
      const low = i * n, high = u ? low + n : low;
      for (let k = 0; k < n; k++) out[k] = u ? all[low + k] * (1 - u) + all[high + k] * u : all[low + k];
      return out;
    }
    const [j, v] = split(reference.by[1], L);
    const corner = (a, b) => (Math.min(a, K - 1) * L + Math.min(b, L - 1)) * n;
    const [p, q, r, s] = [corner(i, j), corner(i + 1, j), corner(i, j + 1), corner(i + 1, j + 1)];
    for (let k = 0; k < n; k++) {
      const low = v ? all[p + k] * (1 - v) + all[r + k] * v : all[p + k];
      out[k] = u ? low * (1 - u) + (v ? all[q + k] * (1 - v) + all[s + k] * v : all[q + k]) * u : low;
    }
    return out;
  }

  /** Whole frames: bytes of the nearest stop. */
  frame(reference) {
    const all = this.array(reference), n = this.size(reference);
    let flat = 0;
    reference.by.forEach((driver, d) => { flat = flat * reference.dims[d] + clamp(Math.round(this.where(driver)), 0, reference.dims[d] - 1); });
    return all.subarray(flat * n, flat * n + n);
  }

  text(text) {
    if (typeof text === "string") return text;
    if (Array.isArray(text)) return text.map((part) => this.text(part)).join("");
    let flat = 0;
    for (const driver of text.by) {
      const count = typeof driver === "string" ? this.controls[driver].stops.length
        : this.controls[driver[0]].stops.length + this.controls[driver[1]].stops.length - 1;
      const x = typeof driver === "string" ? Math.round(this.where(driver))
        : Math.round(this.controls[driver[0]].index) - Math.round(this.controls[driver[1]].index) + driver[2];
      flat = flat * count + clamp(x, 0, count - 1);
    }
    return text.texts[flat];
  }

  // ---- painting --------------------------------------------------------------------------------------------------

  resize() {
    for (const panel of this.panels) panel.fit();
    this.moved = new Set(Object.keys(this.controls));
    this.paint();
  }

  paint() {
    for (const panel of this.panels) panel.paint(this.moved);
    for (const name of this.moved) {
      const control = this.controls[name], parts = this.inputs[name];
      if (!parts) continue;
      const text = control.texts[Math.round(control.index)];
      if (document.activeElement !== parts.input || Number(parts.input.value) !== control.index) parts.input.value = control.index;
      parts.input.setAttribute("aria-valuetext", text);
      parts.output.textContent = text;
    }
    this.line.textContent = this.text(this.head.finding) && `▸ ${this.text(this.head.finding)}`;
    this.moved.clear();
    if (!this.held && !this.playing && !this.spoken.textContent) this.speak();
    this.box.dataset.paints = Number(this.box.dataset.paints ?? 0) + 1;
  }

  /** The sentence for who listens, once the hand rests: the visible one changes with every frame. */
  speak() {
    this.box.dataset.at = JSON.stringify(Object.fromEntries(Object.values(this.controls).map((control) => [control.name, this.value(control)])));
    const sentence = this.text(this.head.finding);
    if (this.spoken.textContent !== sentence) this.spoken.textContent = sentence;
    for (const panel of this.panels) panel.svg.setAttribute("aria-label", [this.text(panel.head.title), sentence].filter(Boolean).join(": "));
  }

  // ---- saving ----------------------------------------------------------------------------------------------------

  save(kind) {
    const frame = this.stage.getBoundingClientRect();
    const whole = make("svg", { xmlns: NS, width: px(frame.width), height: px(frame.height), viewBox: `0 0 ${px(frame.width)} ${px(frame.height)}` });
    make("rect", { width: "100%", height: "100%", fill: getComputedStyle(this.box).getPropertyValue("--film-paper") || "white" }, whole);
    for (const panel of this.panels) {
      const place = panel.svg.getBoundingClientRect(), x = place.left - frame.left, y = place.top - frame.top;
      const group = make("g", { transform: `translate(${px(x)} ${px(y)})` }, whole);
      for (const canvas of panel.root.querySelectorAll("canvas"))
        make("image", { x: canvas.offsetLeft, y: canvas.offsetTop, width: canvas.offsetWidth, height: canvas.offsetHeight,
          preserveAspectRatio: "none", style: "image-rendering:pixelated", href: canvas.toDataURL() }, group);
      const copy = panel.svg.cloneNode(true), from = panel.svg.querySelectorAll("*"), to = copy.querySelectorAll("*");
      from.forEach((node, k) => {
        const look = getComputedStyle(node);
        for (const name of SAVED) to[k].setAttribute(name, look.getPropertyValue(name));
      });
      group.append(...copy.childNodes);
      const title = panel.caption.textContent && make("text", { x: 4, y: -6, "font-family": "sans-serif", "font-size": 16, "font-weight": 600,
        fill: getComputedStyle(panel.caption).color }, group);
      if (title) title.textContent = panel.caption.textContent;
    }
    const source = new XMLSerializer().serializeToString(whole), blob = new Blob([source], { type: "image/svg+xml" });
    const download = (content, end) => {
      const link = html("a", "", null, { href: URL.createObjectURL(content), download: `${this.id.replace(".", "-")}.${end}` });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    };
    if (kind === "SVG") return download(blob, "svg");
    const picture = new Image(), canvas = html("canvas", "", null, { width: Math.round(2 * frame.width), height: Math.round(2 * frame.height) });
    picture.onload = () => { canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height); canvas.toBlob((content) => download(content, "png")); };
    picture.src = URL.createObjectURL(blob);
  }
}

// ---- one picture ---------------------------------------------------------------------------------------------------

class Panel {
  constructor(film, head, parent) {
    Object.assign(this, { film, head });
    this.root = html("figure", "film-panel", parent);
    this.root.style.flex = `${head.share} 1 ${head.width}px`;
    this.caption = html("figcaption", "film-title", this.root);
    this.place = html("div", "film-place", this.root);
    this.svg = make("svg", { role: "group" }, this.place);
    this.margin = head.x.ticks.length || head.y.ticks.length || head.x.title || head.y.title ? { ...MARGIN } : { ...BARE };
    if (!head.x.ticks.length && !head.x.title) this.margin.bottom = 10;
    if (!head.y.ticks.length && !head.y.title) this.margin.left = 10;
    if (head.y.title) this.margin.top = 30;
    if (head.x.ticks.length && head.x.title) this.margin.bottom = 54;
    this.axes = make("g", { "aria-hidden": "true" }, this.svg);
    this.shapes = head.shapes.map((shape) => {
      const drawn = new SHAPES[shape.kind](this, shape);
      const used = Object.values(shape).flatMap((part) => (Array.isArray(part) ? part.flatMap((item) => film.names(item)) : film.names(part)));
      return { drawn, used: new Set(used) };
    });
    this.fit();
  }

  /** Take the width that there is; the height follows from it where both axes have one unit. */
  fit() {
    const { head, margin: m } = this, width = this.place.clientWidth || head.width;
    const inner = width - m.left - m.right, w = head.x.high - head.x.low, h = head.y.high - head.y.low;
    const tall = head.equal ? Math.min(head.height, Math.abs(inner * h / w)) : head.height;
    Object.assign(this, { width, height: tall + m.top + m.bottom });
    this.svg.setAttribute("width", width);
    this.svg.setAttribute("height", this.height);
    this.svg.setAttribute("viewBox", `0 0 ${width} ${this.height}`);
    let [sx, sy] = [inner / w, -tall / h];
    if (head.equal) { const s = Math.min(Math.abs(sx), Math.abs(sy)); sx = s * Math.sign(sx); sy = s * Math.sign(sy); }
    const left = m.left + (inner - Math.abs(sx * w)) / 2, bottom = m.top + tall - (tall - Math.abs(sy * h)) / 2;
    this.scale = { sx, sy, x: (v) => left + (v - head.x.low) * sx, y: (v) => bottom + (v - head.y.low) * sy,
      back: (a, b) => [(a - left) / sx + head.x.low, (b - bottom) / sy + head.y.low], left, right: left + w * sx, top: bottom + h * sy, bottom };
    Object.assign(this.place.dataset, { left, bottom, sx, sy });
    this.drawAxes();
  }

  drawAxes() {
    const { head, axes, scale: s } = this;
    axes.replaceChildren();
    const write = (text, x, y, anchor, name = "film-tick") => { make("text", { x: px(x), y: px(y), "text-anchor": anchor, class: name }, axes).textContent = text; };
    let free = -Infinity;
    for (const [value, text] of head.x.ticks) {
      const x = s.x(value), half = 4.2 * text.length;
      make("line", { x1: px(x), x2: px(x), y1: px(s.top), y2: px(s.bottom), class: "film-grid" }, axes);
      if (x - half < free || x + half > this.width + 6) continue;
      write(text, x, s.bottom + 18, "middle");
      free = x + half + 4;
    }
    for (const [value, text] of head.y.ticks) {
      make("line", { x1: px(s.left), x2: px(s.right), y1: px(s.y(value)), y2: px(s.y(value)), class: "film-grid" }, axes);
      write(text, s.left - 7, s.y(value) + 5, "end");
    }
    if (head.x.title) write(head.x.title, s.right, s.bottom + (head.x.ticks.length ? 40 : 20), "end", "film-axis");
    if (head.y.title) write(head.y.title, 2, 16, "start", "film-axis");
  }

  paint(moved) {
    for (const { drawn, used } of this.shapes) if (drawn.first || [...used].some((name) => moved.has(name)) || moved.size === Object.keys(this.film.controls).length) { drawn.draw(); drawn.first = false; }
    const title = this.film.text(this.head.title);
    if (this.caption.textContent !== title) this.caption.textContent = title;
  }
}

class Shape {
  constructor(panel, shape) {
    Object.assign(this, { panel, film: panel.film, shape, first: true });
    this.node = make("g", { "aria-hidden": "true", opacity: shape.opacity }, panel.svg);
    this.parts = [];
  }
  get(name) { return this.film.read(this.shape[name]); }
  /** Numbers of one name for each of `n` things: one number counts for all. */
  each(name) { const values = this.get(name); return values.length === 1 ? () => values[0] : (k) => values[k]; }
  count(...names) { return Math.max(...names.map((name) => this.get(name).length)); }
  part(k, name, attributes) { return (this.parts[k] ??= make(name, attributes, this.node)); }
  colour(k) {
    const { colour, paint } = this.shape;
    if (!Array.isArray(colour)) return css(colour);
    return css(colour[paint ? Math.round(this.film.frame(paint)[k]) : k % colour.length]);
  }
}

class Path extends Shape {
  draw() {
    const { shape, panel: { scale } } = this, x = this.get("x"), y = this.get("y");
    let d = "", pen = "M";
    for (let k = 0; k < y.length; k++) {
      if (x[k] !== x[k] || y[k] !== y[k]) { pen = "M"; continue; }
      d += pen + px(scale.x(x[k])) + " " + px(scale.y(y[k]));
      pen = "L";
    }
    this.part(0, "path", { stroke: css(shape.stroke), "stroke-width": shape.width, "stroke-dasharray": shape.dash, fill: css(shape.fill), "stroke-linejoin": "round", "stroke-linecap": "round" }).setAttribute("d", d);
  }
}

class Dots extends Shape {
  draw() {
    const { scale } = this.panel, x = this.each("x"), y = this.each("y"), n = this.count("x", "y");
    for (let k = 0; k < n; k++) {
      const dot = this.part(k, "circle", { r: this.shape.r }), seen = x(k) === x(k) && y(k) === y(k);
      dot.setAttribute("display", seen ? "" : "none");
      if (!seen) continue;
      dot.setAttribute("cx", px(scale.x(x(k))));
      dot.setAttribute("cy", px(scale.y(y(k))));
      dot.setAttribute("fill", this.colour(k));
    }
  }
}

class Boxes extends Shape {
  draw() {
    const { scale } = this.panel, sides = ["x0", "x1", "y0", "y1"], [x0, x1, y0, y1] = sides.map((name) => this.each(name)), n = this.count(...sides);
    for (let k = 0; k < n; k++) {
      const box = this.part(k, "rect", {}), [a, b, c, d] = [scale.x(x0(k)), scale.x(x1(k)), scale.y(y0(k)), scale.y(y1(k))];
      const seen = a + b + c + d === a + b + c + d;
      box.setAttribute("display", seen ? "" : "none");
      if (!seen) continue;
      box.setAttribute("x", px(Math.min(a, b)));
      box.setAttribute("width", px(Math.abs(b - a)));
      box.setAttribute("y", px(Math.min(c, d)));
      box.setAttribute("height", px(Math.abs(d - c)));
      box.setAttribute("fill", this.colour(k));
    }
  }
}

class Hands extends Shape {
  draw() {
    const { shape, panel: { scale } } = this, names = ["x", "y", "length", "angle"], [x, y, length, angle] = names.map((name) => this.each(name));
    for (let k = 0, n = this.count(...names); k < n; k++) {
      const line = this.part(2 * k, "line", { "stroke-width": shape.width, "stroke-linecap": "round" }), colour = this.colour(k);
      line.setAttribute("stroke", colour);
      const a = angle(k), [cx, cy] = [scale.x(x(k)), scale.y(y(k))], reach = length(k) * scale.sx, [c, s] = [Math.cos(a), -Math.sin(a)];
      const [tx, ty] = [cx + reach * c, cy + reach * s], size = shape.head ? Math.min(3.2 * shape.width, reach / 2) : 0;
      for (const [key, value] of [["x1", cx], ["y1", cy], ["x2", tx - size * c], ["y2", ty - size * s]]) line.setAttribute(key, px(value));
      if (!shape.head) continue;
      const [bx, by, w] = [tx - size * c, ty - size * s, size / 1.8];
      this.part(2 * k + 1, "path", { fill: colour }).setAttribute("d", `M${px(tx)} ${px(ty)}L${px(bx - w * s)} ${px(by + w * c)}L${px(bx + w * s)} ${px(by - w * c)}Z`);
    }
  }
}

class Arc extends Shape {
  draw() {
    const { shape, panel: { scale } } = this, names = ["x", "y", "r", "start", "end"], [x, y, r, start, end] = names.map((name) => this.each(name));
    const look = shape.sector ? { fill: css(shape.colour) } : { fill: "none", stroke: css(shape.colour), "stroke-width": shape.width, "stroke-dasharray": shape.dash };
    for (let k = 0, n = this.count(...names); k < n; k++) {
      const [cx, cy, R, a, b] = [scale.x(x(k)), scale.y(y(k)), r(k) * scale.sx, start(k), end(k)], sweep = clamp(b - a, -2 * Math.PI, 2 * Math.PI);
      const at = (angle) => `${px(cx + R * Math.cos(angle))} ${px(cy - R * Math.sin(angle))}`, turn = sweep > 0 ? 0 : 1;
      // Two halves, so that a whole turn is drawn as well.
      const bow = (to, by) => `A${px(R)} ${px(R)} 0 ${Math.abs(by) > Math.PI ? 1 : 0} ${turn} ${at(to)}`;
      let d = (shape.sector ? `M${px(cx)} ${px(cy)}L` : "M") + at(a) + bow(a + sweep / 2, sweep / 2) + bow(a + sweep, sweep / 2) + (shape.sector ? "Z" : "");
      if (!(R > 0) || sweep !== sweep) d = "";
      this.part(k, "path", look).setAttribute("d", d);
    }
  }
}

class Label extends Shape {
  draw() {
    const { shape, panel: { scale } } = this, x = this.get("x")[0], y = this.get("y")[0];
    const node = this.part(0, "text", { "text-anchor": shape.anchor ?? "middle", "font-size": shape.size ?? 15, "font-weight": shape.bold ? 600 : null, class: shape.plain ? "" : "film-label-text", fill: css(shape.colour) });
    const seen = x === x && y === y;
    node.setAttribute("display", seen ? "" : "none");
    if (!seen) return;
    node.setAttribute("x", px(scale.x(x) + (shape.dx ?? 0)));
    node.setAttribute("y", px(scale.y(y) + (shape.dy ?? 0)));
    const text = this.film.text(shape.text);
    if (node.textContent !== text) node.textContent = text;
  }
}

class Picture extends Shape {
  constructor(panel, shape) {
    super(panel, shape);
    const [rows, columns] = shape.cells.shape;
    this.canvas = html("canvas", "film-image", null, { width: columns, height: rows, "aria-hidden": "true" });
    panel.place.prepend(this.canvas);
    const shades = this.film.array(shape.colours);
    this.look = new Uint32Array(256);
    for (let k = 0; k < 255; k++) this.look[k] = 0xff000000 | (shades[3 * k + 2] << 16) | (shades[3 * k + 1] << 8) | shades[3 * k];
    this.pen = this.canvas.getContext("2d");
    this.data = this.pen.createImageData(columns, rows);
    this.pixels = new Uint32Array(this.data.data.buffer);
  }
  draw() {
    const cells = this.film.frame(this.shape.cells), { scale } = this.panel, { x, y } = this.shape;
    for (let k = 0; k < cells.length; k++) this.pixels[k] = this.look[cells[k] + 127];
    this.pen.putImageData(this.data, 0, 0);
    const [a, b, c, d] = [scale.x(x[0]), scale.x(x[1]), scale.y(y[0]), scale.y(y[1])];
    Object.assign(this.canvas.style, { left: `${Math.min(a, b)}px`, width: `${Math.abs(b - a)}px`, top: `${Math.min(c, d)}px`, height: `${Math.abs(d - c)}px` });
    this.canvas.style.transform = `scale(${b < a ? -1 : 1}, ${d < c ? -1 : 1})`;
  }
}

class Handle extends Shape {
  constructor(panel, shape) {
    super(panel, shape);
    const { film } = this, control = (this.control = film.controls[shape.control]);
    this.node.removeAttribute("aria-hidden");
    for (const [key, value] of Object.entries({ tabindex: 0, role: "slider", class: "film-handle", "aria-label": shape.name || control.label, "aria-valuemin": 0, "aria-valuemax": control.stops.length - 1 })) this.node.setAttribute(key, value);
    this.grip = make("circle", { r: GRIP, class: "film-grip" }, this.node);
    this.dot = make("circle", { r: shape.r ?? 9, fill: css(shape.colour), class: "film-dot" }, this.node);
    film.keys(this.node, control);
    this.node.addEventListener("pointerdown", (event) => this.grab(event));
  }
  tip(over) {
    const { film, shape, panel: { scale } } = this, of = (name) => film.read(shape[name], over)[0];
    if (!shape.angle) return [scale.x(of("x")), scale.y(of("y"))];
    const a = of("angle"), reach = of("length") * scale.sx;
    return [scale.x(of("x")) + reach * Math.cos(a), scale.y(of("y")) - reach * Math.sin(a)];
  }
  draw() {
    const [x, y] = this.tip(), index = Math.round(this.control.index);
    const seen = x === x && y === y && !this.film.locked(this.control);
    this.node.setAttribute("display", seen ? "" : "none");
    if (!seen) return;
    for (const circle of [this.grip, this.dot]) { circle.setAttribute("cx", px(x)); circle.setAttribute("cy", px(y)); }
    this.node.setAttribute("aria-valuenow", index);
    this.node.setAttribute("aria-valuetext", this.control.texts[index]);
  }
  grab(event) {
    const { film, control, node } = this;
    if (event.button || film.locked(control)) return;
    event.preventDefault();
    node.focus({ preventScroll: true });
    node.setPointerCapture(event.pointerId);
    film.hold(control);
    const seek = this.shape.angle ? this.turner(event) : this.follower(event);
    const drag = (moved) => film.move(control, seek(moved));
    const end = () => { node.removeEventListener("pointermove", drag); film.release(control); };
    node.addEventListener("pointermove", drag);
    for (const name of ["pointerup", "pointercancel"]) node.addEventListener(name, end, { once: true });
  }
  local(event) {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.panel.svg.getScreenCTM().inverse());
    return [at.x, at.y];
  }
  /** Where the pointer is along the way that the point takes over the control's stops; other controls rest. */
  follower(event) {
    const way = this.control.stops.map((_, k) => [...this.tip({ [this.control.name]: k })]);
    const [px0, py0] = this.local(event), [tx, ty] = this.tip(), off = [tx - px0, ty - py0];
    return (moved) => {
      const [mx, my] = this.local(moved), x = mx + off[0], y = my + off[1];
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
    const { film, shape, control, panel: { scale } } = this;
    const angles = control.stops.map((_, k) => film.read(shape.angle, { [control.name]: k })[0]);
    const foot = [scale.x(film.read(shape.x)[0]), scale.y(film.read(shape.y)[0])];
    const angle = (moved) => { const [x, y] = this.local(moved); return Math.atan2(foot[1] - y, x - foot[0]); };
    let before = angle(event), goal = film.read(shape.angle)[0];
    return (moved) => {
      const now = angle(moved), low = Math.min(...angles), high = Math.max(...angles);
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

const SHAPES = { path: Path, dots: Dots, boxes: Boxes, hands: Hands, arc: Arc, label: Label, image: Picture, handle: Handle };
