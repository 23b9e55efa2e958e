// The browser functions that the API client needs.
import type { Surroundings } from './api/client.js';

export const browser: Omit<Surroundings, 'apiUrl' | 'token'> = {
  fetch: (input, init) => fetch(input, init),
  pause: (ms, signal) => until((done) => void setTimeout(done, ms), signal),
  isOnline: () => navigator.onLine,
  online: (signal) =>
    navigator.onLine
      ? Promise.resolve()
      : until((done) => addEventListener('online', done, { once: true, ...(signal ? { signal } : {}) }), signal),
};

function until(happens: (done: () => void) => void, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal?.addEventListener('abort', () => resolve(), { once: true });
    happens(resolve);
  });
}
