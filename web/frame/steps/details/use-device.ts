// The device check of the details step. The check begins when the step opens, so that the submission need not wait for it.
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Collected, collectFingerprint } from '../../fingerprint.js';
import type { Journey } from '../../journey.js';

type Failure = Extract<Collected, { ok: false }>;

export interface DeviceCheck {
  /** Null until the check has failed. */
  readonly failure: Failure['code'] | null;
  /** The collected result, or the running collection. Tries again after a failure. */
  readonly collected: () => Promise<Collected>;
  readonly again: () => void;
}

export function useDevice(journey: Journey): DeviceCheck {
  const [failure, setFailure] = useState<Failure['code'] | null>(null);
  const running = useRef<Promise<Collected> | null>(null);

  const collect = (): Promise<Collected> => {
    setFailure(null);
    const collecting = collectFingerprint(journey.settings).then((collected) => {
      if (!collected.ok) {
        running.current = null;
        setFailure(collected.code);
        journey.fail(collected.code);
      }
      return collected;
    });
    running.current = collecting;
    return collecting;
  };
  useEffect(() => void collect(), []);
  return {
    failure,
    collected: () => running.current ?? collect(),
    again: () => void collect(),
  };
}
