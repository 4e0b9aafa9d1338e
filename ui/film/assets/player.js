// Plays a scene (ui/film/scene.py): interpolates tracks between neighbouring stops, maps data units to pixels, paints.
// No formula is known here. A number on the screen is written by Python for a stop; between stops the nearest's is shown.

import { Film, films, told } from "./film.js";
import "./save.js";
import "./symbols.js";

const MARK = 8;

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
