// What a room could not read on a slide: text beyond the screen or its picture, two labels over each other, a cut sentence.
() => {
  const main = document.querySelector("[data-testid=stMain]");
  const box = (node) => node.getBoundingClientRect();
  const seen = (node) => {
    const { width, height } = box(node), look = getComputedStyle(node);
    return width > 1 && height > 1 && look.visibility !== "hidden" && Number(look.opacity) > 0.1 && node.textContent.trim();
  };
  const all = (what) => [...main.querySelectorAll(what)].filter(seen);
  const letters = all("[class*=st-key-stage-figure] svg text").filter((node) => !node.closest(".modebar"));
  const faults = [], short = (node) => node.textContent.trim().slice(0, 40);
  letters.forEach((node, k) => {
    const own = box(node), frame = box(node.ownerSVGElement);
    if (own.left < -1 || own.right > innerWidth + 1 || own.bottom > innerHeight + 1) faults.push(`beyond the screen: ${short(node)}`);
    const out = own.left < frame.left - 2 || own.right > frame.right + 2 || own.top < frame.top - 2 || own.bottom > frame.bottom + 2;
    if (out && getComputedStyle(node.ownerSVGElement).overflow === "hidden") faults.push(`clipped: ${short(node)}`);
    for (const other of letters.slice(k + 1)) {
      const its = box(other);
      const wide = Math.min(own.right, its.right) - Math.max(own.left, its.left);
      const high = Math.min(own.bottom, its.bottom) - Math.max(own.top, its.top);
      const over = wide > 4 && high > 0.35 * Math.min(own.height, its.height);
      // A label and its light edge are two texts.
      if (over && short(node) !== short(other)) faults.push(`over each other: ${short(node)} | ${short(other)}`);
    }
  });
  for (const node of all("[class*=st-key-stage-say] p, [class*=st-key-stage-figure] p, [class*=st-key-predict-choices] p")) {
    if (node.scrollHeight > node.clientHeight + 3 || node.scrollWidth > node.clientWidth + 3) faults.push(`cut: ${short(node)}`);
  }
  return faults;
}
