// Repeats requests to the service while it does not answer, with growing pauses, and says so.
import { setTimeout as wait } from 'node:timers/promises';
import { Temporary } from './problem.mjs';

const PAUSES_MS = [1_000, 2_000, 4_000, 8_000, 15_000, 30_000];

export class Patience {
  #failures = 0;
  /** The pause that all requests share which fail at the same time. */
  #pause = null;

  /** `warn` gets sentences. `pause` waits, and ends early with the signal. */
  constructor({ warn, signal, pause = (ms) => pauseFor(ms, signal) }) {
    this.warn = warn;
    this.signal = signal;
    this.pause = pause;
  }

  /** Null when the signal ended the work. Fails only with a failure that does not pass. */
  async until(ask) {
    while (!this.signal.aborted) {
      try {
        const reply = await ask();
        if (this.#failures > 0) this.warn('The service answers again.');
        this.#failures = 0;
        return reply;
      } catch (error) {
        if (this.signal.aborted) return null;
        if (!(error instanceof Temporary)) throw error;
        this.#pause ??= this.#afterFailure(error);
        await this.#pause;
      }
    }
    return null;
  }

  async #afterFailure({ message, retryAfterMs }) {
    const pauseMs = Math.max(retryAfterMs, PAUSES_MS[Math.min(this.#failures, PAUSES_MS.length - 1)]);
    this.#failures += 1;
    this.warn(`${message} The next try is in ${Math.ceil(pauseMs / 1_000)} s.`);
    await this.pause(pauseMs);
    this.#pause = null;
  }
}

export async function pauseFor(ms, signal) {
  await wait(ms, undefined, { signal }).catch((error) => {
    if (!signal?.aborted) throw error;
  });
}
