// A lecturer's room: has its phones show the step, writes how many have answered, closes it.
let shown = null, turn = 0, stop = null;
const pause = (least) => new Promise((done) => setTimeout(done, least));

const line = () => document.querySelector(".stage-room");

function write(text) {
  const place = line()?.querySelector(".voters");
  if (place) place.textContent = text;
}

/** What the service answers for a room; throws where none answers, gives null where it refuses. */
async function ask(room, path, more) {
  const answer = await fetch(room + path, { cache: "no-store", signal: stop.signal, ...more });
  if (answer.ok) return answer.json();
  if (answer.status >= 500) throw new Error(answer.status);
  return null;
}

/** Show a step until another one takes its turn; a service that was away gets it again. */
async function lead({ room, content }, own, send) {
  let count = "";
  while (own === turn) {
    try {
      let answer = await ask(room, "", { method: "PUT", headers: { "content-type": "application/json" }, body: content });
      while (answer && own === turn) {
        const { answers } = line()?.dataset ?? {};
        write(answers ? `▸ ${answers.replace("{count}", answer.voters)}` : "");
        if (answer.votes && count !== (count = JSON.stringify(answer.votes)) && line()) send(line().id, { id: answer.id, votes: answer.votes });
        if (!line()) return;
        answer = await ask(room, `/votes?since=${answer.mark}`);
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

document.addEventListener("click", ({ target }) => {
  const box = target.closest?.(".room-close");
  if (!box) return;
  stop?.abort();
  [shown, stop, turn] = [null, new AbortController(), turn + 1];
  ask(box.dataset.room, "", { method: "DELETE" }).catch(() => {});
}, true);
