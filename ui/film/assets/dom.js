// Nodes and attributes: the little that every other file of the player needs of the browser.

export const NS = "http://www.w3.org/2000/svg";
export const night = matchMedia("(prefers-color-scheme: dark)");
/** As film.css has it. */
export const phone = matchMedia("(max-width: 640px)");
export const calm = matchMedia("(prefers-reduced-motion: reduce)");

export const clamp = (value, low, high) => Math.min(high, Math.max(low, value));
export const css = (colour) => (colour === "ink" ? "currentColor" : colour === "paper" ? "var(--film-paper)" : colour);
/** A length in px to a hundredth: no eye tells more, and the shorter text is written and read faster. */
export const px = (value) => Math.round(value * 100) / 100;

/** Write an attribute where it changed: most of a frame is as it was, and every write makes the browser style anew. */
export const put = (node, name, value) => {
  const known = (node.known ??= {});
  if (known[name] === value) return;
  known[name] = value;
  if (value == null || value === "") node.removeAttribute(name); else node.setAttribute(name, value);
};

/** Write a node's text where it changed; as data, so that no child is exchanged and who watches for new nodes rests. */
export const say = (node, text) => {
  if (node.said === text) return;
  node.said = text;
  if (node.firstChild) node.firstChild.data = text; else node.append(text);
};

export const make = (name, attributes, parent) => {
  const node = document.createElementNS(NS, name);
  for (const key in attributes) put(node, key, attributes[key]);
  parent?.append(node);
  return node;
};

export const html = (name, classes, parent, attributes = {}) => {
  const node = document.createElement(name);
  node.className = classes;
  for (const key in attributes) node.setAttribute(key, attributes[key]);
  parent?.append(node);
  return node;
};

/** A button with a text; `name` is said of it where the text alone does not say enough. */
export const button = (text, parent, act, name = "", classes = "") => {
  const node = html("button", `film-button ${classes}`.trim(), parent, { type: "button" });
  if (name) node.setAttribute("aria-label", name);
  node.textContent = text;
  node.addEventListener("click", act);
  return node;
};

/** What the browser remembers, or null: a frame in somebody's page may be refused any memory. */
export const kept = (act) => { try { return act(); } catch { return null; } };

/** Hand the reader a file: a blob, under a name. */
export const download = (content, name) => {
  const link = html("a", "", null, { href: URL.createObjectURL(content), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
};
