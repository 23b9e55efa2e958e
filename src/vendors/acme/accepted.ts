// Requests that acme accepts with 202 and answers later. The client looks at the result until the time limit of the call.
import type { NoVerdict } from '../../ports/vendor-call.js';
import * as v from 'valibot';
import { type Reader, type VendorAnswer, readerAbout } from '../../vendor-kit/http/answer.js';
import type { Conversation } from '../../vendor-kit/http/client.js';
import { read as readAs } from '../../vendor-kit/reading.js';

/** acme works on the request. Its result is at the path. */
export interface Accepted {
  readonly kind: 'accepted';
  /** Ends in the id of the result. */
  readonly path: string;
  /** Seconds. */
  readonly firstLookAfter?: number | undefined;
}

/** The result of an accepted request. A verdict inside it never makes the client look again. */
export interface Settled<Verdict> {
  readonly kind: 'settled';
  readonly verdict: Verdict;
}

const named = v.object({ id: v.string() });

/** acme repeats the id of the request in each answer but problems. */
export function about<Verdict>(id: string, reader: Reader<Verdict>): Reader<Verdict> {
  return readerAbout(id, idIn, reader);
}

function idIn({ body }: VendorAnswer): string | null {
  return readAs(named, body)?.id ?? null;
}

/** For an answer without `Retry-After`, such as the record of an earlier request. */
const PAUSE_SECONDS = 0.25;

export async function follow<Verdict>(
  acme: Conversation,
  { path, firstLookAfter }: Accepted,
  read: Reader<Settled<Verdict>>,
  pending: (answer: VendorAnswer) => boolean,
): Promise<Settled<Verdict> | NoVerdict> {
  const id = path.slice(path.lastIndexOf('/') + 1);
  const found = await acme.poll(
    { method: 'GET', path },
    {
      read: about(id, read),
      pending: (answer) => idIn(answer) === id && pending(answer),
      pauseSeconds: PAUSE_SECONDS,
      firstAfterSeconds: firstLookAfter,
    },
  );
  return found.kind === 'pending' ? { kind: 'timed-out' } : found;
}
