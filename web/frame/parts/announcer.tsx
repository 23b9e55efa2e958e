// The frame's only live region: screen readers speak its text, and the focus does not move.
import { useEffect, useState } from 'preact/hooks';

interface Said {
  readonly text: string;
  /** Renders a repeated text as a new element, so that it is read again. */
  readonly count: number;
}

const SILENCE: Said = { text: '', count: 0 };

let announced = 0;
let show: (change: (now: Said) => Said) => void = () => undefined;

/** The screen reader has read the text by this time. A text that stays would be read again with the page. */
const CLEARED_AFTER_MS = 5_000;

/** Announces a text once. A repeated call announces the same text again. The returned function removes the text, if no other text has followed. */
export function announce(text: string): () => void {
  const mine: Said = { text, count: ++announced };
  show(() => mine);
  return () => show((now) => (now === mine ? SILENCE : now));
}

/** Announces a text when the work that it names begins, and removes the text when the work ends. Null means that no work goes on. */
export function useAnnounced(text: string | null): void {
  useEffect(() => (text === null ? undefined : announce(text)), [text]);
}

export function Announcer() {
  const [now, setNow] = useState(SILENCE);
  useEffect(() => {
    show = setNow;
    return () => {
      show = () => undefined;
    };
  }, []);
  useEffect(() => {
    if (now === SILENCE) return undefined;
    const timer = setTimeout(() => setNow(SILENCE), CLEARED_AFTER_MS);
    return () => clearTimeout(timer);
  }, [now]);
  return (
    <div class="unseen" role="status" aria-live="polite">
      {now.text && <span key={now.count}>{now.text}</span>}
    </div>
  );
}
