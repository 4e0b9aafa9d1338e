// The adapter to Streamlit: bytes are a scene, JSON is what Python says of it.
// Every file of the player is named here, so that the browser asks for all of them at once and not for one after another.
import "./dom.js";
import "./tracks.js";
import "./marks.js";
import "./bar.js";
import "./pack.js";
import "./save.js";
import "./handle.js";
import "./sketch.js";
import "./panel.js";
import "./beats.js";
import "./film.js";
import "./symbols.js";
import { remember } from "./done.js";
import { mount, tell } from "./player.js";

export default function ({ data, parentElement, setStateValue }) {
  if (data.done) return remember(data.done, (names) => setStateValue("done", names));
  if (!(data instanceof Uint8Array)) return tell(data.film, data);
  const box = parentElement.querySelector(".film-host");
  box.classList.add("film");
  mount(box, data, (at, count) => setStateValue("moved", { at, count }));
}
