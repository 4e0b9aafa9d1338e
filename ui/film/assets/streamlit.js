// The adapter to Streamlit: bytes are a scene, JSON is what Python says of it.
import { mount, tell } from "./player.js";

export default function ({ data, parentElement, setStateValue }) {
  if (!(data instanceof Uint8Array)) return tell(data.film, data);
  const box = parentElement.querySelector(".film-host");
  box.classList.add("film");
  mount(box, data, (at, count) => setStateValue("moved", { at, count }));
}
