// The frame's one live region: screen readers speak its text without a move of the focus.
import { useEffect, useState } from 'preact/hooks';

let speak: (text: string) => void = () => undefined;

/** Announces a text once. A repeated call announces the same text again. */
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
