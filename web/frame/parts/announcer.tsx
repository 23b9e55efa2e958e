// The frame's only live region: screen readers speak its text, and the focus does not move.
import { useEffect, useState } from 'preact/hooks';

let speak: (text: string) => void = () => undefined;

/** The screen reader has read the text by this time. A text that stays would be read again with the page. */
const CLEARED_AFTER_MS = 5_000;

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
  useEffect(() => {
    if (said.text === '') return undefined;
    const timer = setTimeout(() => say(({ count }) => ({ text: '', count })), CLEARED_AFTER_MS);
    return () => clearTimeout(timer);
  }, [said]);
  return (
    <div class="unseen" role="status" aria-live="polite">
      {said.text && <span key={said.count}>{said.text}</span>}
    </div>
  );
}
