// Reports to the page the height that the frame needs, and the part of the frame that has the focus.
import type { Area } from '../contract/messages.js';
import { MIN_HEIGHT } from '../contract/read-messages.js';
import { afterPress } from './parts/after-press.js';

/** The space for the ring around the focused element. */
const MARGIN = 8;

/** Reports the height at once and after every change of the content. Returns a function that ends the reports. */
export function tellGeometry(tellHeight: (height: number) => void, tellFocus: (area: Area) => void): () => void {
  let told = 0;
  const measure = (): void => {
    const { width, height: needed } = document.body.getBoundingClientRect();
    // In a hidden element the content has no width, so its height would be far too large.
    if (width === 0) return;
    const height = Math.max(MIN_HEIGHT, Math.ceil(needed));
    if (height !== told) tellHeight((told = height));
  };
  const focused = ({ target }: Event): void =>
    // If an element moves away under the pointer, the press misses it.
    afterPress(() => {
      if (!(target instanceof Element) || target !== document.activeElement) return;
      // The page cannot scroll to a part of the frame for which it has no room yet.
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
