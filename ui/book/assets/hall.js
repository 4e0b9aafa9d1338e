// A lecturer's room: has its phones show the step, writes how many have answered, keeps the votes, closes it.
import { download } from "./dom.js";
import { lecturer } from "./key.js";

let shown = null, turn = 0, stop = null;
const pause = (least) => new Promise((done) => setTimeout(done, least));

const line = () => document.querySelector(".stage-room");

function write(text) {
  const place = line()?.querySelector(".voters");
  if (place) place.textContent = text;
}

/** What the service answers for a room's address; throws where none answers, gives null where it refuses. */
async function ask(url, { headers, ...more } = {}) {
  const answer = await fetch(url, { cache: "no-store", ...more, headers: { authorization: `Bearer ${lecturer()}`, ...headers } });
  if (answer.ok) return answer;
  if (answer.status >= 500) throw new Error(answer.status);
  return null;
}

/** Show a step until another one takes its turn; a service that was away gets it again. */
async function lead({ room, content }, own, send) {
  let count = "";
  while (own === turn) {
    try {
      const { signal } = stop, json = (given) => given?.json();
      let answer = await ask(room, { signal, method: "PUT", headers: { "content-type": "application/json" }, body: content }).then(json);
      while (answer && own === turn) {
        const { answers } = line()?.dataset ?? {};
        write(answers ? `▸ ${answers.replace("{count}", answer.voters)}` : "");
        if (answer.votes && count !== (count = JSON.stringify(answer.votes)) && line()) send(line().id, { id: answer.id, votes: answer.votes });
        if (!line()) return;
        answer = await ask(`${room}/votes?since=${answer.mark}`, { signal }).then(json);
      }
      if (own === turn) write(line()?.dataset.taken ?? "");
      return;
    } catch {
      if (own !== turn) return;
      write(line()?.dataset.lost ?? "");
      await pause(1000);
    }
  }
}

/** Have the room follow what the page shows; once the display is left its phones say so. */
export function follow(send) {
  const box = line(), over = shown && !shown.over && { room: shown.room, content: JSON.stringify({ lang: document.documentElement.dataset.lang, over: true }), over: true };
  const now = box ? { room: box.dataset.room, content: box.dataset.show } : over;
  if (!now || (now.room === shown?.room && now.content === shown.content)) return;
  stop?.abort();
  [shown, stop, turn] = [now, new AbortController(), turn + 1];
  lead(now, turn, send);
}

/** Keep the votes as a file: a link alone would carry no key. */
async function votes(link) {
  const file = await ask(link.href).then((answer) => answer?.blob());
  if (file) download(file, "votes.csv");
}

document.addEventListener("click", (event) => {
  const link = event.target.closest?.(".room-votes"), box = event.target.closest?.(".room-close");
  if (link) {
    event.preventDefault();
    votes(link).catch(() => write(line()?.dataset.lost ?? ""));
  }
  if (!box) return;
  stop?.abort();
  [shown, stop, turn] = [null, new AbortController(), turn + 1];
  ask(box.dataset.room, { method: "DELETE" }).catch(() => {});
}, true);
