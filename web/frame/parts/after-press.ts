// A message that appears under the pointer pushes away what is being pressed, and the press is lost. So what a field says when it is left
// waits until the press that took the focus away has done what it was for.

let isPressed = false;

addEventListener('pointerdown', () => (isPressed = true), { capture: true });
for (const end of ['pointerup', 'pointercancel']) addEventListener(end, () => (isPressed = false), { capture: true });

/** At once, where nothing is being pressed. */
export function afterPress(action: () => void): void {
  if (!isPressed) return action();
  const done = new AbortController();
  const { signal } = done;
  for (const end of ['pointerup', 'pointercancel'])
    addEventListener(
      end,
      () => {
        done.abort();
        // The click comes after the pointer is up.
        setTimeout(action);
      },
      { signal },
    );
}
