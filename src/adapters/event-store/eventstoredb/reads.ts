// Reads one answer of the client to its end.
import type { StreamingRead } from '@eventstore/db-client';
import { within } from './attempts.js';

/**
 * All events of a read. The client gives reads no time limit. Here, silence of the server for more than `silenceMs` is a failure. A canceled read
 * ends as if it were complete, so its result is not used.
 */
export async function collect<Event>(
  read: StreamingRead<Event>,
  silenceMs: number,
  closed: AbortSignal,
): Promise<Event[]> {
  const events: Event[] = [];
  // The error listener stays, because an error event after the end would otherwise end the process.
  const whole = new Promise<Event[]>((resolve, reject) => read.on('error', reject).on('end', () => resolve(events)));
  read.on('data', (event: Event) => events.push(event));
  try {
    return await within(silenceMs, closed, whole, (sign) => read.on('data', sign));
  } catch (error) {
    read.cancel().catch(() => undefined);
    throw error;
  }
}
