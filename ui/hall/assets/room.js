// A phone in a room: it asks what the lecturer shows, waits for the next, and sends a choice. It computes nothing.
const words = JSON.parse(document.querySelector('#words').textContent);
const part = name => document.querySelector('#' + name);
let number = -1, shown = {}, mine = null;
const draw = () => {
  const {question, choices = [], answer = null, say, id, over} = shown;
  part('question').textContent = over ? words.over : question || say || words.wait;
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
const take = now => {
  if (now.number === number) return;
  if (now.id !== shown.id) mine = null;
  [number, shown] = [now.number, now];
  document.documentElement.lang = now.lang || document.documentElement.lang;
  draw();
};
// The browser itself connects again to a server that was away; where there is no such room it gives up.
const follow = () => {
  const steps = new EventSource(location.pathname + '/steps');
  steps.onmessage = ({data}) => take(JSON.parse(data));
  steps.onopen = () => { if (number >= 0) draw(); };
  steps.onerror = async () => {
    if (steps.readyState !== EventSource.CLOSED) { part('say').textContent = words.lost; return; }
    const answer = await fetch(location.pathname + '/state', {cache: 'no-store'}).catch(() => null);
    if (answer?.status === 404 && number >= 0) { [number, shown] = [-1, {over: true}]; draw(); }
    else if (answer?.status !== 404) part('say').textContent = words.lost;
    setTimeout(follow, 2000 + 2000 * Math.random());
  };
};
follow();
