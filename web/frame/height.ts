// Tells the page how high the frame must be.

const LEAST_HEIGHT = 200;

/** Calls at once and whenever the height of the content changes. Returns what ends that. */
export function tellHeight(tell: (height: number) => void): () => void {
  let told = 0;
  const observer = new ResizeObserver(() => {
    const height = Math.max(LEAST_HEIGHT, Math.ceil(document.body.getBoundingClientRect().height));
    if (height !== told) tell((told = height));
  });
  observer.observe(document.body);
  return () => observer.disconnect();
}
