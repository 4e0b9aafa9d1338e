// The adapter to Streamlit: bytes are a scene, JSON is what Python says of it.
import { mount, tell } from "./player.js";

export default function ({ data, parentElement, setStateValue }) {
  if (!(data instanceof Uint8Array)) return tell(data.film, data);
  mount(parentElement.querySelector(".film"), data, (at, count) => setStateValue("moved", { at, count }));
}
