// The frame in view as a file for slides and paper: what is on the screen and a line that says what it is, as SVG, PNG or PDF.
// Nothing in it needs a style sheet, a mixed colour or an order of painting, which other programs do not know.

import { NS, download, html, make, px } from "./dom.js";
import { films } from "./film.js";
import { inPdf, inPng } from "./pack.js";

/** Ink and paper of a ground that is not the screen's. */
const GROUNDS = { light: ["light", "#1c2733", "#ffffff"], dark: ["dark", "#e8eaed", "#0e1117"], none: ["light", "#1c2733", "#ffffff"] };
const EDGE = 16, WIDE = 1920, TIMES = { PNG: 2, PDF: 3 }, LINE = 1.35;
const UNSEEN = ".film-wide, .film-pad, .film-ring", OWN = /^(class|style|role|tabindex|data-.*|aria-.*|fill|stroke.*|opacity|display|font-.*)$/;
const INKS = ["fill", "stroke"], STROKE = { "stroke-width": "1px", "stroke-dasharray": "none", "stroke-linecap": "butt", "stroke-linejoin": "miter" };

/** A computed colour as one that every program knows, and how opaque it is. */
function plain(text) {
  const [r, g, b, alpha = 1] = text.match(/[\d.]+(e-\d+)?/g).map(Number), times = text.startsWith("color(") ? 255 : 1;
  return [`#${[r, g, b].map((share) => Math.round(times * share).toString(16).padStart(2, "0")).join("")}`, alpha];
}

/** Fill and stroke of a node as attributes. */
function inked(look) {
  const found = {};
  for (const name of INKS) {
    const value = look.getPropertyValue(name), pattern = value.match(/url\("?(#[^")]+)/);
    if (value === "none" || pattern) { found[name] = pattern ? `url(${pattern[1]})` : "none"; continue; }
    const [colour, alpha] = plain(value), share = alpha * look.getPropertyValue(`${name}-opacity`);
    found[name] = share ? colour : "none";
    if (share && share < 1) found[`${name}-opacity`] = px(share);
  }
  if (found.stroke === "none") delete found.stroke;
  else for (const name in STROKE) if (look.getPropertyValue(name) !== STROKE[name]) found[name] = look.getPropertyValue(name);
  return found;
}

const lettered = (look) => ({ "font-family": look.fontFamily, "font-size": look.fontSize, "font-weight": look.fontWeight === "400" ? null : look.fontWeight });

/** Put letters into a picture, as wide as they are on the screen whatever letters another program has. */
function letter(text, attributes, parent, width) {
  if (text) make("text", { ...attributes, ...(width > 1 ? { textLength: px(width), lengthAdjust: "spacingAndGlyphs" } : {}) }, parent).textContent = text;
}

/** Copy what is seen of a node, its looks written out; a halo is a text of its own below the letters. */
function copy(node, parent) {
  const look = getComputedStyle(node);
  if (look.display === "none" || look.visibility === "hidden" || look.opacity === "0" || node.matches(UNSEEN)) return;
  const attributes = {};
  for (const { name, value } of node.attributes) if (!OWN.test(name)) attributes[name] = value;
  if (look.opacity !== "1") attributes.opacity = look.opacity;
  const ink = node.tagName === "g" || node.tagName === "defs" || node.tagName === "pattern" ? {} : inked(look);
  if (node.tagName !== "text") {
    const made = make(node.tagName, { ...attributes, ...ink }, parent);
    for (const child of node.children) copy(child, made);
    return;
  }
  const { stroke, "stroke-width": width, "stroke-linejoin": join, ...letters } = ink;
  const place = { ...attributes, ...lettered(look), "text-anchor": look.textAnchor }, long = node.getComputedTextLength();
  if (stroke) letter(node.textContent, { ...place, fill: stroke, stroke, "stroke-width": width, "stroke-linejoin": join }, parent, long);
  letter(node.textContent, { ...place, ...letters }, parent, long);
}

/** The lines of an element's text as the browser has broken them, each with its box. */
function lines(node) {
  const text = node.firstChild, found = [], range = document.createRange();
  for (let k = 0; k < (text?.length ?? 0); k++) {
    range.setStart(text, k);
    range.setEnd(text, k + 1);
    const box = range.getBoundingClientRect(), last = found.at(-1);
    if (!box.width) continue;
    if (last && Math.abs(last.y - box.y) < box.height / 2) Object.assign(last, { text: last.text + text.data[k], right: box.right });
    else found.push({ text: text.data[k], x: box.x, y: box.y, right: box.right });
  }
  return found;
}

const pen = html("canvas", "").getContext("2d");
/** How far below a line's top its letters stand. */
const ascent = (font) => { pen.font = font; return pen.measureText("x").fontBoundingBoxAscent; };

/** Break a text into lines of at most a width; Chinese breaks after any letter. */
function broken(text, font, width) {
  pen.font = font;
  const rows = [""];
  for (const piece of text.match(/[^\s\p{Script=Han}]*(\p{Script=Han}[，。；：、）》”]?|\s+|$)/gu)) {
    if (rows.at(-1) && pen.measureText((rows.at(-1) + piece).trimEnd()).width > width) rows.push("");
    rows[rows.length - 1] += piece;
  }
  return rows.map((row) => row.trim()).map((row) => ({ row, long: pen.measureText(row).width }));
}

/** A canvas as a picture that stays sharp where a program blurs what it enlarges: each cell is many points. */
function sharp(canvas) {
  const { width, height, offsetWidth, offsetHeight, style } = canvas, times = Math.ceil(Math.max(1, 2 * offsetWidth / width, 2 * offsetHeight / height));
  const large = html("canvas", "", null, { width: width * times, height: height * times }), brush = large.getContext("2d");
  const [, across, down] = style.transform.match(/scale\((-?1), (-?1)\)/).map(Number);
  brush.imageSmoothingEnabled = false;
  brush.setTransform(across, 0, 0, down, across < 0 ? large.width : 0, down < 0 ? large.height : 0);
  brush.drawImage(canvas, 0, 0, large.width, large.height);
  return { x: canvas.offsetLeft, y: canvas.offsetTop, width: offsetWidth, height: offsetHeight, preserveAspectRatio: "none", style: "image-rendering:pixelated", href: large.toDataURL() };
}

/** Draw what is on the screen into an SVG; `about`: what is said of it, by Dublin Core's names. */
function draw(film, about, ground, line) {
  const shown = film.panels.filter(({ root }) => root.clientWidth), boxes = shown.map(({ root }) => root.getBoundingClientRect());
  const said = film.tellings.length > 1 ? [...film.stage.querySelectorAll(".film-say")] : [];
  const frames = [...boxes, ...said.map((node) => node.getBoundingClientRect())];
  // The presentation display is scaled as a whole.
  const times = boxes[0].width / shown[0].root.offsetWidth || 1, [left, top] = ["left", "top"].map((side) => Math.min(...frames.map((box) => box[side])));
  const x = (at) => (at - left) / times + EDGE, y = (at) => (at - top) / times + EDGE;
  const width = x(Math.max(...frames.map(({ right }) => right))) + EDGE;
  const family = getComputedStyle(film.box).fontFamily, ink = plain(getComputedStyle(film.box).color)[0], rows = [];
  let foot = y(Math.max(...frames.map(({ bottom }) => bottom))) + EDGE / 2;
  for (const [text, size] of [[film.sentence(), 15], [line, 12]]) for (const row of broken(text, `${size}px ${family}`, width - 2 * EDGE)) rows.push({ ...row, size, at: foot += LINE * size });
  const height = foot + EDGE;
  const whole = make("svg", { xmlns: NS, width: px(width), height: px(height), viewBox: `0 0 ${px(width)} ${px(height)}` });
  make("title", {}, whole).textContent = about.title;
  make("desc", {}, whole).textContent = about.description;
  const data = make("metadata", {}, whole);
  for (const name in about) data.append(Object.assign(document.createElementNS("http://purl.org/dc/elements/1.1/", `dc:${name}`), { textContent: about[name] }));
  if (ground) make("rect", { width: "100%", height: "100%", fill: ground }, whole);
  const write = (node) => {
    const look = getComputedStyle(node), font = `${look.fontWeight} ${look.fontSize} ${look.fontFamily}`;
    for (const row of lines(node)) letter(row.text.trimEnd(), { ...lettered(look), ...inked(look), fill: plain(look.color)[0], x: px(x(row.x)), y: px(y(row.y) + ascent(font)) }, whole, (row.right - row.x) / times);
  };
  said.forEach(write);
  for (const { root, place, svg } of shown) {
    root.querySelectorAll(".film-title, .film-paragraph").forEach(write);
    if (!place.clientWidth) continue;
    const box = svg.getBoundingClientRect(), group = make("g", { transform: `translate(${px(x(box.left))} ${px(y(box.top))})` }, whole);
    for (const canvas of root.querySelectorAll("canvas")) if (canvas.offsetWidth) make("image", sharp(canvas), group);
    for (const child of svg.children) copy(child, group);
  }
  for (const { row, long, size, at } of rows) letter(row, { x: EDGE, y: px(at), "font-family": family, "font-size": `${size}px`, fill: ink, ...(size < 15 ? { "fill-opacity": 0.8 } : {}) }, whole, long);
  return { whole, width, height };
}

/** Draw on a ground that is not the screen's, then put the screen's back; no frame is painted between. */
function grounded(film, about, ground, line) {
  const { style } = film.box, [scheme, ink, paper] = GROUNDS[ground] ?? [];
  if (scheme) {
    Object.assign(style, { colorScheme: scheme, color: ink });
    style.setProperty("--film-paper", paper);
    film.theme();
    film.paint();
  }
  style.backgroundColor = "var(--film-paper)";
  const own = getComputedStyle(film.box).backgroundColor, drawn = draw(film, about, ground === "none" ? "" : plain(own)[0], line);
  for (const name of ["color-scheme", "color", "--film-paper", "background-color"]) style.removeProperty(name);
  film.theme();
  return drawn;
}

async function save(film, kind, ground, { page, about: line, rights }) {
  const beat = film.tellings[0].said?.textContent, source = location.href;
  const about = { title: page, description: [beat, film.sentence()].filter(Boolean).join(" "), creator: "RoPE Lab", rights, source };
  const { whole, width, height } = grounded(film, about, ground, line);
  const drawn = new Blob([new XMLSerializer().serializeToString(whole)], { type: "image/svg+xml" });
  const name = `${film.id.replace(".", "-")}.${kind.toLowerCase()}`;
  if (kind === "SVG") return download(drawn, name);
  const times = Math.max(TIMES[kind], WIDE / width), picture = new Image();
  const canvas = html("canvas", "", null, { width: Math.round(times * width), height: Math.round(times * height) }), brush = canvas.getContext("2d");
  picture.src = URL.createObjectURL(drawn);
  await picture.decode();
  brush.drawImage(picture, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(picture.src);
  download(await (kind === "PNG" ? inPng : inPdf)(canvas, about, width, height), name);
}

// The buttons stand among a figure's data, which the frame draws: they name their film.
if (!globalThis.ropeLabSaves) {
  globalThis.ropeLabSaves = true;
  document.addEventListener("click", ({ target }) => {
    const asked = target.closest?.("[data-film-save]"), film = asked && films.get(asked.dataset.film), box = asked?.closest(".film-saves");
    if (film) save(film, asked.dataset.filmSave, box.querySelector("select").value, box.dataset);
  });
}
