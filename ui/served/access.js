// What Streamlit and Plotly leave out for keyboards and screen readers: language, names, roles, and keys on drawn legends.
// Patches what stands and whatever appears later; running it again with another language's words takes those.
(() => {
  const lab = window.ropeLab ??= {};
  Object.assign(lab, WORDS);
  document.documentElement.lang = lab.locale;
  if (lab.patch) return lab.patch();

  // Icons are words drawn in a font of their own; access.STYLE hides them until it is here.
  document.fonts.load('1em "Material Symbols Rounded"').then(
    faces => faces.length && document.documentElement.classList.add('rope-lab-icons'), () => {});

  const all = (selector, root = document) => root.querySelectorAll(selector);
  const set = (node, attribute, value) => {
    if (node.getAttribute(attribute) !== value) node.setAttribute(attribute, value);
  };

  // Streamlit and Plotly speak English; their names are given in the page's language.
  const translate = () => {
    for (const node of all('[aria-label], [data-title], [placeholder]'))
      for (const attribute of ['aria-label', 'data-title', 'placeholder']) {
        const said = lab.names[node.getAttribute(attribute)];
        if (said) set(node, attribute, said);
      }
    for (const node of all('a[href="#stMain"], [data-testid="InputInstructions"], [role="option"], [role="listbox"] *')) {
      const text = node.firstChild;
      if (text?.nodeType === Node.TEXT_NODE && lab.names[text.data] && lab.names[text.data] !== text.data)
        text.data = lab.names[text.data];
    }
    for (const node of all('[role="radio"]')) if (lab.tongues[node.textContent]) set(node, 'lang', lab.tongues[node.textContent]);
  };

  // The menu's list holds headed groups where a list may hold items only.
  const menu = () => {
    for (const list of all('ul[data-testid="stSidebarNavItems"]')) {
      set(list, 'role', 'none');
      for (const group of list.children) {
        const head = group.querySelector('[data-testid="stNavSectionHeader"]');
        if (group.tagName === 'LI' || !head) continue;
        set(group, 'role', 'group');
        set(group, 'aria-label', head.textContent.replace(/expand_(more|less)$/, ''));
      }
      for (const item of all('li', list)) set(item, 'role', 'none');
    }
  };

  // What scrolls inside itself can be scrolled with the arrow keys.
  const scrollers = () => {
    for (const node of all('.katex-display, pre, .stMarkdown table, [class*="st-key-wide-"], [data-testid="stVerticalBlock"][overflow="auto"]')) {
      const scrolls = node.scrollWidth > node.clientWidth || node.scrollHeight > node.clientHeight + 1;
      const style = scrolls && getComputedStyle(node);
      if (scrolls && /auto|scroll/.test(style.overflowX + style.overflowY)) set(node, 'tabindex', '0');
      else if (node.getAttribute('tabindex') === '0') node.removeAttribute('tabindex');
    }
  };

  // A slider's handle is named twice; a figure's finding is read out when a control has changed it.
  const controls = () => {
    for (const handle of all('[data-testid="stSlider"] input[aria-label][aria-labelledby]')) handle.removeAttribute('aria-labelledby');
    for (const said of all('[data-testid="stMarkdown"]')) if (said.textContent.trimStart().startsWith('▸')) set(said, 'role', 'status');
  };

  // Plotly draws its legends for the mouse alone.
  const operable = (node, role, name) => {
    set(node, 'role', role);
    set(node, 'aria-label', name);
    if (!node.hasAttribute('tabindex')) node.setAttribute('tabindex', '0');
    if (node.ropeLab) return false;
    return node.ropeLab = true;
  };
  const mouse = (node, kind, x, y) =>
    node.dispatchEvent(new MouseEvent(kind, {bubbles: true, cancelable: true, view: window, clientX: x, clientY: y}));
  const press = (node, act) => node.addEventListener('keydown', event => {
    if (event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    act();
  });

  const legend = plot => all('.legend', plot).forEach(box => {
    const toggles = [...all('.traces', box)].filter(item => {
      const touch = item.querySelector('.legendtoggle');
      return touch && getComputedStyle(touch).pointerEvents !== 'none' && touch.getAttribute('pointer-events') !== 'none';
    });
    toggles.forEach((item, index) => {
      const fresh = operable(item, 'button', item.querySelector('.legendtext')?.textContent ?? '');
      set(item, 'aria-pressed', String(Number(getComputedStyle(item).opacity) > 0.6));
      if (!toggles.includes(document.activeElement)) set(item, 'tabindex', index ? '-1' : '0');
      if (!fresh) return;
      const touch = item.querySelector('.legendtoggle');
      press(item, () => { mouse(touch, 'mousedown'); mouse(touch, 'mouseup'); });
      item.addEventListener('keydown', event => {
        const by = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
        if (!by) return;
        event.preventDefault();
        const items = [...all('.traces[role="button"]', box)], next = items[(items.indexOf(item) + by + items.length) % items.length];
        items.forEach(one => set(one, 'tabindex', one === next ? '0' : '-1'));
        next.focus();
      });
    });
  });

  // Plotly's camera button saves a PNG; this puts one that saves an SVG beside it.
  const svg = plot => {
    const bar = plot.querySelector('.modebar'), camera = bar?.querySelector('.modebar-btn');
    if (!camera || bar.querySelector('.rope-lab-svg') || !camera.dataset.title?.includes('PNG')) return;
    const button = camera.cloneNode(false);
    button.classList.add('rope-lab-svg');
    button.setAttribute('data-title', 'SVG');
    button.setAttribute('aria-label', lab.svg);
    button.textContent = 'SVG';
    button.addEventListener('click', () => {
      const options = plot._context.toImageButtonOptions;
      plot._context.toImageButtonOptions = {...options, format: 'svg'};
      camera.click();
      plot._context.toImageButtonOptions = options;
    });
    camera.after(button);
  };

  // The figure's name says what it shows; its marks and ticks, read out one by one, say nothing.
  const quiet = plot => {
    for (const drawn of all('.main-svg', plot)) {
      if (!drawn.querySelector('.infolayer')) set(drawn, 'aria-hidden', 'true');
    }
  };

  // Plotly draws a legend anew when it is pressed: the keyboard stays where it was.
  let held = null;
  document.addEventListener('focusin', ({target}) => {
    const plot = target.closest?.('.js-plotly-plot');
    held = plot && target.ropeLab ? {plot, role: target.getAttribute('role'), name: target.getAttribute('aria-label')} : null;
  });
  const keep = () => {
    if (!held || document.activeElement !== document.body || !held.plot.isConnected) return;
    for (const node of all(`[role="${held.role}"]`, held.plot)) if (node.getAttribute('aria-label') === held.name) return node.focus();
  };

  // Alt and P open what presents the page, first of what is behind the title's button, from anywhere; what a key has
  // opened has the keyboard.
  const into = (body, until = performance.now() + 5000) => {
    const first = document.querySelector(body)?.querySelector('button:not(:disabled), a[href], input, textarea');
    if (first) first.focus();
    else if (performance.now() < until) requestAnimationFrame(() => into(body, until));
  };
  document.addEventListener('keydown', event => {
    const own = '[data-testid="stPopover"] button';
    const wanted = event.altKey && event.code === 'KeyP' && document.querySelector('[class*="st-key-menu-"] button');
    if (wanted) {
      event.preventDefault();
      wanted.click();
    }
    if (wanted || ((event.key === 'Enter' || event.key === ' ') && event.target.closest?.(own))) into('[data-testid="stPopoverBody"]');
    if (event.key === 'Enter' && event.target.closest?.('[class*="st-key-present-"]')) into('[data-testid="stDialog"] [data-testid="stVerticalBlock"]');
  });

  // A text too long for its box goes where the same part of the page takes files.
  document.addEventListener('paste', event => {
    const box = event.target.closest?.('textarea'), text = event.clipboardData?.getData('text') ?? '';
    if (!box || text.length <= lab.letters) return;
    const takers = [...all('[data-testid="stFileUploader"] input[type="file"]')];
    const taker = takers.find(each => box.compareDocumentPosition(each) & Node.DOCUMENT_POSITION_FOLLOWING);
    if (!taker) return;
    event.preventDefault();
    event.stopPropagation();
    const carried = new DataTransfer();
    carried.items.add(new File([text], 'text.txt', {type: 'text/plain'}));
    taker.files = carried.files;
    taker.dispatchEvent(new Event('change', {bubbles: true}));
  }, true);

  // A link to a section opens the fold that it stands in; the address may be older than what is drawn. While a page
  // arrives, the browser may unfold it by itself, of which the server knows nothing: then the address asks for it.
  let sought = location.hash, arriving = true;
  try {
    sought = decodeURIComponent(sought);
  } catch { /* no text: no section has this name */ }
  const unfold = () => {
    const goal = sought.length > 1 && document.getElementById(sought.slice(1));
    if (!goal) return;
    sought = '';
    const fold = goal.closest('details');
    if (!fold) return;
    const address = new URL(location.href), opened = (address.searchParams.get('open') ?? '').split(',').filter(Boolean);
    const name = fold.querySelector('span[id]')?.id;
    if (arriving && name && !opened.includes(name)) {
      address.searchParams.set('open', [...opened, name].join(','));
      return location.replace(address);
    }
    if (!fold.open) fold.querySelector('summary')?.click();
    fold.scrollIntoView();
  };
  addEventListener('hashchange', () => { sought = location.hash; arriving = false; unfold(); });

  lab.patch = () => {
    unfold();
    menu();
    scrollers();
    controls();
    for (const plot of all('.js-plotly-plot')) for (const mend of [svg, quiet, legend]) mend(plot);
    for (const tester of all('#js-plotly-tester')) set(tester, 'aria-hidden', 'true');
    translate();
    keep();
  };
  let waiting = false;
  const soon = () => {
    if (waiting) return;
    waiting = true;
    setTimeout(() => { waiting = false; lab.patch(); }, 200);
  };
  new MutationObserver(soon).observe(document.body, {childList: true, subtree: true});
  addEventListener('resize', soon);
  // A formula's width is known when its font is.
  document.fonts.ready.then(soon);
  document.fonts.addEventListener('loadingdone', soon);
  lab.patch();
})();
