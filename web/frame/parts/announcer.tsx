// The one live region of the frame: what a screen reader says without the focus moving.
import { useEffect, useState } from 'preact/hooks';

let speak: (text: string) => void = () => undefined;

/** Says a text once; the same text again is said again. */
export function announce(text: string): void {
  speak(text);
}

export function Announcer() {
  const [said, say] = useState({ text: '', count: 0 });
  useEffect(() => {
    speak = (text) => say(({ count }) => ({ text, count: count + 1 }));
    return () => {
      speak = () => undefined;
    };
  }, []);
  return (
    <div class="unseen" role="status" aria-live="polite">
      <span key={said.count}>{said.text}</span>
    </div>
  );
}
