// The keys of the presentation display, in the app and in the book. Each presses the button that stands on the page.
if (!window.ropeLabStage) {
  window.ropeLabStage = true;
  const own = 'input:not([type=checkbox]), textarea, select, [contenteditable=true], [role=slider], ' +
    '[role=radiogroup], [role=combobox], [role=listbox], [role=tablist], [role=menu], [role=grid], [role=dialog]';
  const press = name => {
    const button = document.querySelector(':is(.st-key-' + name + ', .' + name + ') button:not(:disabled)');
    if (button) button.click();
    return !!button;
  };
  // The lecturer's own window: what the page holds hidden for the step in force, written there whenever it changes.
  let own_window = null, written = '';
  const write = () => {
    const source = document.querySelector('.stage-notes-text');
    if (!own_window || own_window.closed) { own_window = null; return; }
    const text = source ? source.innerHTML : '';
    if (text !== written) {
      written = text;
      const page = own_window.document;
      page.title = source ? source.dataset.title : '';
      page.body.replaceChildren(...(source ? [...source.children].map(line => {
        const copy = page.createElement('p');
        copy.textContent = line.textContent;
        copy.style.cssText = NOTES[line.className] ?? '';
        return copy;
      }) : []));
    }
    setTimeout(write, 200);
  };
  const NOTES = {count: 'opacity:.7', question: 'font-weight:700', answer: 'color:green', notes: 'font-size:1.4em',
    following: 'opacity:.7;border-top:1px solid;padding-top:.6em'};
  const notes = () => {
    const running = own_window && !own_window.closed;
    own_window = window.open('', 'rope-lab-notes', 'popup,width=640,height=560');
    if (!own_window) return;
    own_window.focus();
    if (running) return;
    written = '';
    own_window.document.body.style.cssText = 'font:20px/1.5 sans-serif;margin:1.2em';
    // The same keys, so that either window steps.
    own_window.addEventListener('keydown', step);
    write();
  };
  document.addEventListener('click', event => {
    if (event.target.closest('.st-key-stage-notes, .stage-notes')) notes();
    const step = event.target.closest(':is(.st-key-stage-next, .stage-next, .st-key-stage-previous, .stage-previous, .st-key-stage-leave)');
    if (step) (document.querySelector('[data-testid=stMain]') ?? window).scrollTo(0, 0);
  });
  const step = event => {
    if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
    if (!document.querySelector('.st-key-stage-leave, .stage-leave')) return;
    const at = event.target.closest ? event.target.closest(own) : null;
    if (event.key === 'Escape') {
      if (document.querySelector('[role=dialog], [data-testid=stPopoverBody], [role=listbox]')) return;
      if (at) event.target.blur(); else press('stage-leave');
      return;
    }
    if (at) return;
    // On a button, a switch or a link the space bar presses that.
    if (event.key === ' ' && event.target.closest && event.target.closest('button, a, summary, [role=switch], input')) return;
    if (event.key.toLowerCase() === 'b' || dark()) {
      if (!dark()) document.body.append(Object.assign(document.createElement('div'), {id: 'stage-dark', onclick: light,
        style: 'position:fixed;inset:0;background:#000;z-index:2147483647'}));
      else light();
      event.preventDefault();
      return;
    }
    // What goes on shows the answer first.
    const wanted = WAYS[event.key];
    if (wanted && ((wanted === 'stage-next' && press('stage-reveal')) || press(wanted))) event.preventDefault();
  };
  const WAYS = {' ': 'stage-next', ArrowRight: 'stage-next', PageDown: 'stage-next', ArrowLeft: 'stage-previous',
    PageUp: 'stage-previous', Home: 'stage-first', End: 'stage-last'};
  const dark = () => document.querySelector('#stage-dark');
  const light = () => dark()?.remove();
  document.addEventListener('keydown', step);
  // A film has its height from its shapes: it is made as large as the screen takes, the question above it included.
  let fitted = null;
  const resized = new ResizeObserver(() => fit());
  const fit = () => {
    const film = document.querySelector(':is([class*=st-key-stage-figure], [data-stage]) .film[data-ready]');
    if (!film || innerWidth <= 640) return;
    if (film !== fitted) { resized.disconnect(); resized.observe(fitted = film); }
    const look = getComputedStyle(film), { top, height } = film.getBoundingClientRect();
    const next = Math.min(parseFloat(look.getPropertyValue('--times')), look.zoom * (innerHeight - top - 8) / height);
    if (Math.abs(next - look.zoom) > 0.005) film.style.setProperty('--fit', next);
  };
  new MutationObserver(fit).observe(document.body, {childList: true, subtree: true});
  addEventListener('resize', fit);
}
