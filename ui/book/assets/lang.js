// Before the first paint: the page in the language that the address asks for, else the browser's on a first visit.
{
  const { lang, first, other } = document.documentElement.dataset, query = new URLSearchParams(location.search);
  const ways = new Map(other.split(" ").map((way) => way.split("="))), own = navigator.language.split("-")[0];
  let known = null;
  // A frame in somebody's page may be refused any memory.
  try { known = sessionStorage.getItem("lang"); } catch { known = lang; }
  const wanted = query.get("lang") ?? (known === null && lang === first && ways.has(own) ? own : lang);
  try { sessionStorage.setItem("lang", wanted); } catch { /* as above */ }
  // Browsers load no module beside a file.
  if (location.protocol === "file:") document.documentElement.dataset.unmoved = "1";
  if (query.get("display") === "stage") document.documentElement.dataset.stage = "1";
  // What is drawn of the films is their first step.
  if ([...query.keys()].some((name) => name !== "lang" && name !== "embed")) document.documentElement.dataset.asked = "1";
  if (query.get("embed") === "true") document.documentElement.dataset.embed = "1";
  if (ways.has(wanted)) location.replace(ways.get(wanted) + location.search + location.hash);
}
