// A message that appears under the pointer moves the pressed element away, and the press is lost. A field's message therefore waits until the press
// that took the focus has had its effect.

let isPressed = false;

addEventListener('pointerdown', () => (isPressed = true), { capture: true });
for (const end of ['pointerup', 'pointercancel']) addEventListener(end, () => (isPressed = false), { capture: true });

/** Runs the action at once, or after the present press. */
export function afterPress(action: () => void): void {
  if (!isPressed) return action();
  const done = new AbortController();
  const { signal } = done;
  for (const end of ['pointerup', 'pointercancel'])
    addEventListener(
      end,
      () => {
        done.abort();
        // The click event follows when the pointer is released.
        setTimeout(action);
      },
      { signal },
    );
}
