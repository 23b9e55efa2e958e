// Requests that acme accepts with 202 and answers later. The client looks at the result until the time limit of the call.
import type { NoVerdict } from '../../ports/vendor-call.js';
import type { Reader, VendorAnswer } from '../../vendor-kit/http/answer.js';
import type { Conversation } from '../../vendor-kit/http/client.js';

/** acme works on the request. Its result is at the path. */
export interface Accepted {
  readonly kind: 'accepted';
  readonly path: string;
  /** Seconds. */
  readonly firstLookAfter?: number | undefined;
}

/** The result of an accepted request. A verdict inside it never makes the client look again. */
export interface Settled<Verdict> {
  readonly kind: 'settled';
  readonly verdict: Verdict;
}

/** For an answer without `Retry-After`, such as the record of an earlier request. */
const PAUSE_SECONDS = 0.25;

export async function follow<Verdict>(
  acme: Conversation,
  { path, firstLookAfter }: Accepted,
  read: Reader<Settled<Verdict>>,
  pending: (answer: VendorAnswer) => boolean,
): Promise<Settled<Verdict> | NoVerdict> {
  const found = await acme.poll(
    { method: 'GET', path },
    { read, pending, pauseSeconds: PAUSE_SECONDS, firstAfterSeconds: firstLookAfter },
  );
  return found.kind === 'pending' ? { kind: 'timed-out' } : found;
}
