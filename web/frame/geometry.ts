// Tells the page how high the frame must be, and which part of it has got the focus.
import type { Area } from '../contract/messages.js';
import { MIN_HEIGHT } from '../contract/read-messages.js';
import { afterPress } from './parts/after-press.js';

/** Of the ring around what has the focus. */
const MARGIN = 8;

/** Tells the height at once and whenever that of the content changes. Returns what ends both. */
export function tellGeometry(tellHeight: (height: number) => void, tellFocus: (area: Area) => void): () => void {
  let told = 0;
  const measure = (): void => {
    const { width, height: needed } = document.body.getBoundingClientRect();
    // In a place that is not shown yet, every letter would have a line of its own.
    if (width === 0) return;
    const height = Math.max(MIN_HEIGHT, Math.ceil(needed));
    if (height !== told) tellHeight((told = height));
  };
  const focused = ({ target }: Event): void =>
    // An element that moves away under a pointer is not pressed.
    afterPress(() => {
      if (!(target instanceof Element) || target !== document.activeElement) return;
      // The page cannot scroll to what the frame has no room for yet.
      measure();
      const { top, bottom } = target.getBoundingClientRect();
      tellFocus({ top: Math.max(0, Math.floor(top) - MARGIN), bottom: Math.max(0, Math.ceil(bottom) + MARGIN) });
    });
  const observer = new ResizeObserver(measure);
  observer.observe(document.body);
  addEventListener('focusin', focused);
  return () => {
    observer.disconnect();
    removeEventListener('focusin', focused);
  };
}
