// The frame in view as a file: SVG with every colour written out, or PNG at twice the size.

import { NS, html, make, px } from "./dom.js";
import { films } from "./film.js";

const LOOK = ["fill", "stroke", "font-size", "font-family", "font-weight", "opacity", "display"];

/** The lines of an element's text as the browser has broken them: each with the place of its middle. */
function lines(node) {
  const text = node.firstChild, found = [], range = document.createRange();
  for (let k = 0; k < (text?.length ?? 0); k++) {
    range.setStart(text, k);
    range.setEnd(text, k + 1);
    const box = range.getBoundingClientRect(), last = found.at(-1);
    if (!box.width) continue;
    if (last && Math.abs(last.y - box.y - box.height / 2) < box.height / 2) last.text += text.data[k];
    else found.push({ text: text.data[k], x: box.x, y: box.y + box.height / 2 });
  }
  return found;
}

function save(film, kind) {
  const frame = film.stage.getBoundingClientRect();
  const whole = make("svg", { xmlns: NS, width: px(frame.width), height: px(frame.height), viewBox: `0 0 ${px(frame.width)} ${px(frame.height)}` });
  make("rect", { width: "100%", height: "100%", fill: getComputedStyle(film.box).getPropertyValue("--film-paper") || "white" }, whole);
  for (const panel of film.panels.filter(({ root }) => root.clientWidth)) {
    for (const node of panel.root.querySelectorAll(".film-title, .film-paragraph")) {
      const look = getComputedStyle(node);
      for (const { text, x, y } of lines(node))
        make("text", { x: px(x - frame.left), y: px(y - frame.top), "dominant-baseline": "central", "font-family": "sans-serif", "font-size": look.fontSize, "font-weight": look.fontWeight, fill: look.color }, whole).textContent = text;
    }
    if (!panel.place.clientWidth) continue;
    const place = panel.svg.getBoundingClientRect(), x = place.left - frame.left, y = place.top - frame.top;
    const group = make("g", { transform: `translate(${px(x)} ${px(y)})` }, whole);
    for (const canvas of panel.root.querySelectorAll("canvas"))
      make("image", { x: canvas.offsetLeft, y: canvas.offsetTop, width: canvas.offsetWidth, height: canvas.offsetHeight,
        preserveAspectRatio: "none", style: "image-rendering:pixelated", href: canvas.toDataURL() }, group);
    const copy = panel.svg.cloneNode(true), from = panel.svg.querySelectorAll("*"), to = copy.querySelectorAll("*");
    from.forEach((node, k) => {
      const look = getComputedStyle(node);
      for (const name of LOOK) to[k].setAttribute(name, look.getPropertyValue(name));
    });
    group.append(...copy.childNodes);
  }
  const blob = new Blob([new XMLSerializer().serializeToString(whole)], { type: "image/svg+xml" });
  const download = (content, end) => {
    const link = html("a", "", null, { href: URL.createObjectURL(content), download: `${film.id.replace(".", "-")}.${end}` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  if (kind === "SVG") return download(blob, "svg");
  const picture = new Image(), canvas = html("canvas", "", null, { width: Math.round(2 * frame.width), height: Math.round(2 * frame.height) });
  picture.onload = () => { canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height); canvas.toBlob((content) => download(content, "png")); };
  picture.src = URL.createObjectURL(blob);
}

// The buttons stand among a figure's data, which the frame draws: they name their film.
if (!globalThis.ropeLabSaves) {
  globalThis.ropeLabSaves = true;
  document.addEventListener("click", ({ target }) => {
    const asked = target.closest?.("[data-film-save]"), film = asked && films.get(asked.dataset.film);
    if (film) save(film, asked.dataset.filmSave);
  });
}
