// Reads one answer of the client to its end.
import type { StreamingRead } from '@eventstore/db-client';
import { EventStoreUnavailable } from '../../../ports/event-store.js';
import { storeIsClosed } from './attempts.js';

/**
 * All events of a read. The client gives reads no time limit: here, more than `silenceMs` without a sign of the server
 * is a failure. A read that is called off ends as if it were complete, so nothing that came of it then is used.
 */
export function collect<Event>(read: StreamingRead<Event>, silenceMs: number, closed: AbortSignal): Promise<Event[]> {
  return new Promise((resolve, reject) => {
    const events: Event[] = [];
    let settled = false;
    const settle = (how: () => void): void => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      closed.removeEventListener('abort', close);
      how();
    };
    const abandon = (error: Error): void => {
      settle(() => reject(error));
      read.cancel().catch(() => undefined);
    };
    const close = (): void => abandon(storeIsClosed());
    const timer = setTimeout(
      () => abandon(new EventStoreUnavailable(`nothing read within ${Math.round(silenceMs)} ms`)),
      silenceMs,
    );
    closed.addEventListener('abort', close);
    if (closed.aborted) close();
    // The listener for errors stays: an error that comes after the end would otherwise end the process.
    read.on('error', (error: Error) => settle(() => reject(error)));
    read.on('end', () => settle(() => resolve(events)));
    read.on('data', (event: Event) => {
      timer.refresh();
      events.push(event);
    });
  });
}
