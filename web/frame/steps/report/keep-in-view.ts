// Keeps a panel in view while the page around the frame scrolls. The frame is as high as its content and does not scroll itself, so
// `position: sticky` has no effect in it. Only an observer can find the part of the frame that the person sees.

/** The time between two checks. The panel moves smoothly in the meantime, unless motion is reduced. */
const PAUSE_MS = 100;

/** The panel moves inside its parent. Returns a function that stops the movement. */
export function keepInView(panel: HTMLElement): () => void {
  const room = panel.parentElement ?? panel;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let moved = 0;
  const observer = new IntersectionObserver(([entry]) => {
    observer.disconnect();
    timer = setTimeout(look, PAUSE_MS);
    if (!entry?.isIntersecting) return;
    const { offsetTop, offsetHeight } = panel;
    const most = room.offsetTop + room.offsetHeight - offsetTop - offsetHeight;
    const wanted = Math.round(Math.max(0, Math.min(entry.intersectionRect.top - offsetTop, most)));
    if (wanted === moved) return;
    moved = wanted;
    panel.classList.remove('afloat');
    panel.style.marginBlockEnd = '';
    const { offsetHeight: whole } = panel;
    panel.classList.add('afloat');
    const saved = whole - panel.offsetHeight;
    // A panel that floats is smaller, and the parts below it stay where they are. If the panel floated earlier, it would leave a hole above these
    // parts.
    const floats = moved > saved;
    panel.classList.toggle('afloat', floats);
    panel.style.marginBlockEnd = floats ? `${saved}px` : '';
    panel.style.transform = floats ? `translateY(${moved}px)` : '';
  });
  function look(): void {
    observer.observe(room);
  }
  look();
  return () => {
    clearTimeout(timer);
    observer.disconnect();
  };
}
