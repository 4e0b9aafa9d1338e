// Tracks as numbers: an array over the stops of at most two controls, read where the controls stand.
// A reference is a number, a list, or {at, type, dims, shape, by}: where its values lie in the scene's buffer.

import { clamp } from "./dom.js";

const KINDS = { f4: Float32Array, i1: Int8Array, u1: Uint8Array };
const product = (sizes) => sizes.reduce((a, b) => a * b, 1);

export class Tracks {
  /** `controls`: by name, each with `index` among its `stops`, between two of them while it moves. */
  constructor(buffer, start, controls) { Object.assign(this, { buffer, start, controls }); }

  /** The index among a control's stops. */
  where(name, over) { return over?.[name] ?? this.controls[name].index; }

  /** The controls that a reference depends on. */
  names(reference) { return reference?.by ?? []; }

  /** The controls that any part of a mark depends on, of what lies in it too. */
  uses(part) {
    if (!part || typeof part !== "object") return [];
    return part.by ? this.names(part) : Object.values(part).flatMap((item) => this.uses(item));
  }

  array(reference) {
    return (reference.array ??= new KINDS[reference.type](this.buffer, this.start + reference.at, product([...reference.dims, ...reference.shape])));
  }

  size(reference) { return (reference.size ??= product(reference.shape)); }

  /** Numbers at the controls' places (or at `over`), linear between neighbouring stops; the array is used again. */
  read(reference, over) {
    if (typeof reference === "number") return [reference];
    if (Array.isArray(reference)) return reference;
    const all = this.array(reference), n = this.size(reference), [K, L] = reference.dims;
    if (!reference.dims.length) return all;
    const out = (reference.out ??= new Float32Array(n));
    const split = (driver, count) => {
      const x = clamp(this.where(driver, over), 0, count - 1), i = Math.floor(x);
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

  /** A text, texts over stops at the nearest stop, or a list of both, joined. */
  text(text) {
    if (typeof text === "string") return text;
    if (Array.isArray(text)) return text.map((part) => this.text(part)).join("");
    let flat = 0;
    for (const name of text.by) {
      const { stops: { length: count }, index } = this.controls[name];
      flat = flat * count + clamp(Math.round(index), 0, count - 1);
    }
    return text.texts[flat];
  }
}
