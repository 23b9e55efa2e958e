// Adds time limits and retries to the client's calls, because the client has none.
import { setTimeout as pause } from 'node:timers/promises';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { EventStoreUnavailable } from '../../../ports/event-store.js';
import type { RoleClient } from './guarded-client.js';

export interface Limits {
  /** The time limit for all attempts together. */
  readonly totalMs: number;
  /** The time limit for one attempt. */
  readonly attemptMs: number;
  readonly retries: number;
  /** The pause before the first retry. Later pauses are longer, and all pauses vary by up to a half. */
  readonly pauseMs: number;
}

const PAUSE_GROWTH = 2.5;
/** When less time than this is left, another attempt could not be answered. */
const LEAST_ATTEMPT_MS = 50;

/**
 * Runs a repeatable operation (a read, or an append with the same ids and expected revision) until it answers. Every error counts as "outcome
 * unknown". The operation returns its answers as values.
 */
export async function attempt<T>(
  role: RoleClient,
  limits: Limits,
  closed: AbortSignal,
  operation: (client: EventStoreDBClient, limitMs: number) => Promise<T>,
): Promise<T> {
  const end = performance.now() + limits.totalMs;
  for (let retry = 0; ; retry++) {
    const limitMs = Math.min(limits.attemptMs, end - performance.now());
    if (closed.aborted) throw storeIsClosed();
    const { client } = role;
    let failure: unknown;
    try {
      const answer = await operation(client, limitMs);
      role.succeeded(client);
      return answer;
    } catch (error) {
      failure = error;
    }
    if (closed.aborted) throw storeIsClosed();
    role.failed(client, failure);
    const pauseMs = limits.pauseMs * PAUSE_GROWTH ** retry * (0.5 + Math.random() / 2);
    if (retry >= limits.retries || end - performance.now() < pauseMs + LEAST_ATTEMPT_MS) throw unavailable(failure);
    await pause(pauseMs, undefined, { signal: closed }).catch(() => undefined);
  }
}

/** Settles like the promise, but within a time limit that starts again with each sign of life. A late result is ignored. */
export function within<T>(
  limitMs: number,
  closed: AbortSignal,
  promise: Promise<T>,
  listen?: (sign: () => void) => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => settle(() => reject(new EventStoreUnavailable(`no answer within ${Math.round(limitMs)} ms`))),
      limitMs,
    );
    const close = (): void => settle(() => reject(storeIsClosed()));
    const settle = (how: () => void): void => {
      clearTimeout(timer);
      closed.removeEventListener('abort', close);
      how();
    };
    closed.addEventListener('abort', close);
    if (closed.aborted) close();
    listen?.(() => timer.refresh());
    promise.then(
      (value) => settle(() => resolve(value)),
      (error: unknown) => settle(() => reject(error instanceof Error ? error : new Error(String(error)))),
    );
  });
}

export function storeIsClosed(): EventStoreUnavailable {
  return new EventStoreUnavailable('The event store is closed.');
}

export function unavailable(failure: unknown): EventStoreUnavailable {
  const said = failure instanceof Error ? failure.message : String(failure);
  return new EventStoreUnavailable(`The event store does not answer: ${said}`, { cause: failure });
}
