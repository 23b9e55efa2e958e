// Tells the page how high the frame must be.
import { MIN_HEIGHT } from '../contract/read-messages.js';

/** Calls at once and whenever the height of the content changes. Returns what ends that. */
export function tellHeight(tell: (height: number) => void): () => void {
  let told = 0;
  const observer = new ResizeObserver(() => {
    const { width, height: needed } = document.body.getBoundingClientRect();
    // In a place that is not shown yet, every letter would have a line of its own.
    if (width === 0) return;
    const height = Math.max(MIN_HEIGHT, Math.ceil(needed));
    if (height !== told) tell((told = height));
  });
  observer.observe(document.body);
  return () => observer.disconnect();
}
