// Before the first paint: the page in the language that the address asks for, else the browser's on a first visit.
{
  const { lang, other } = document.documentElement.dataset, query = new URLSearchParams(location.search);
  const first = !sessionStorage.getItem("lang") && navigator.language.startsWith("zh") ? "zh" : null;
  const wanted = query.get("lang") ?? first ?? lang;
  sessionStorage.setItem("lang", wanted);
  if (query.get("display") === "stage") document.documentElement.dataset.stage = "1";
  if (wanted !== lang && other.startsWith(`${wanted} `)) location.replace(other.slice(3) + location.search + location.hash);
}
