// A phone in a room: it asks what the lecturer shows, waits for the next, and sends a choice. It computes nothing.
const words = JSON.parse(document.querySelector('#words').textContent);
const part = name => document.querySelector('#' + name);
let number = -1, shown = {}, mine = null;
const draw = () => {
  const {question, choices = [], answer = null, say, id} = shown;
  part('question').textContent = question || say || words.wait;
  part('choices').replaceChildren(...choices.map((text, k) => {
    const button = document.createElement('button'), letter = document.createElement('b');
    letter.textContent = String.fromCharCode(65 + k);
    button.append(letter, text);
    button.disabled = answer !== null;
    button.classList.toggle('right', answer === k);
    button.setAttribute('aria-pressed', mine === k);
    button.addEventListener('click', () => vote(id, k));
    return button;
  }));
  const verdict = answer === null ? '' : mine === null ? words.out : mine === answer ? words.yes : words.no;
  part('say').textContent = question ? verdict.replace('{right}', String.fromCharCode(65 + (answer ?? 0))) : '';
};
const vote = async (id, choice) => {
  mine = choice;
  draw();
  const body = JSON.stringify({question: id, choice});
  const sent = await fetch(location.pathname + '/vote', {method: 'POST', headers: {'content-type': 'application/json'}, body})
    .then(answer => answer.ok ? answer.json() : {}).catch(() => ({}));
  if (shown.id === id && shown.answer === undefined) part('say').textContent = sent.counted ? words.counted : words[sent.reason] || words.lost;
};
const follow = async () => {
  for (;;) {
    try {
      const answer = await fetch(location.pathname + '/state?since=' + number, {cache: 'no-store'});
      if (!answer.ok) throw new Error(answer.status);
      const now = await answer.json();
      if (now.number !== number) {
        if (now.id !== shown.id) mine = now.mine ?? null;
        number = now.number;
        shown = now;
        document.documentElement.lang = now.lang || document.documentElement.lang;
        draw();
      }
    } catch {
      part('say').textContent = words.lost;
      await new Promise(done => setTimeout(done, 1000 + 2000 * Math.random()));
    }
  }
};
follow();
