// The time for which a person must wait until a button works again.
import { useEffect, useState } from 'preact/hooks';

/** The whole seconds until the time has passed, and a function that starts another countdown. */
export function useCountdown(seconds: number): [number, (seconds: number) => void] {
  const [end, setEnd] = useState(() => Date.now() + seconds * 1_000);
  const [, tick] = useState({});
  const left = Math.max(0, Math.ceil((end - Date.now()) / 1_000));
  useEffect(() => {
    if (left === 0) return undefined;
    const timer = setInterval(() => tick({}), 1_000);
    return () => clearInterval(timer);
  }, [left === 0]);
  return [left, (more) => setEnd(Date.now() + more * 1_000)];
}
