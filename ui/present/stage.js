// The keys of the presentation display. Each presses the button that stands on the page.
if (!window.ropeLabStage) {
  window.ropeLabStage = true;
  const own = 'input:not([type=checkbox]), textarea, select, [contenteditable=true], [role=slider], ' +
    '[role=radiogroup], [role=combobox], [role=listbox], [role=tablist], [role=menu], [role=grid], [role=dialog]';
  const press = name => {
    const button = document.querySelector('.st-key-' + name + ' button:not(:disabled)');
    if (button) button.click();
    return !!button;
  };
  document.addEventListener('click', event => {
    const step = event.target.closest('.st-key-stage-next, .st-key-stage-previous, .st-key-stage-leave');
    if (step) document.querySelector('[data-testid=stMain]').scrollTo(0, 0);
  });
  document.addEventListener('keydown', event => {
    if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
    if (!document.querySelector('.st-key-stage-leave')) return;
    const at = event.target.closest ? event.target.closest(own) : null;
    if (event.key === 'Escape') {
      if (document.querySelector('[role=dialog], [data-testid=stPopoverBody], [role=listbox]')) return;
      if (at) event.target.blur(); else press('stage-leave');
      return;
    }
    if (at) return;
    const back = event.key === 'ArrowLeft' || event.key === 'PageUp';
    if ((back || event.key === 'ArrowRight' || event.key === 'PageDown') &&
        press(back ? 'stage-previous' : 'stage-next')) event.preventDefault();
  });
}
