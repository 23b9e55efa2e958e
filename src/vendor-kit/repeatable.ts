// A call that may be repeated, because it changes nothing or because the vendor executes it once for each idempotency key.
import type { NoVerdict, VendorCall } from '../ports/vendor-call.js';
import { type VendorAnswer, errorOf, turnedAway, upstreamCode } from './answer.js';
import { type Exchange, type Limit, type VendorHttp, withoutAnswer } from './exchange.js';

type Attempt<Verdict> = Verdict | NoVerdict | 'ambiguous';

/** Sends a call, and repeats it once when its outcome is unknown, within one time limit. `read` gets answers for which `noVerdictOf` is null. */
export function repeatable<Verdict extends { readonly kind: string }>(
  http: VendorHttp,
  call: VendorCall,
  send: (limit: Limit) => Promise<Exchange>,
  read: (answer: VendorAnswer) => Verdict | NoVerdict,
): Promise<Verdict | NoVerdict> {
  return http.withinLimit(call, async (limit) => {
    const first = verdictOf(await send(limit), read);
    if (first !== 'ambiguous') return first;
    const second = verdictOf(await send(limit), read);
    // If the second request was not executed, the first may still have been executed.
    return second === 'ambiguous' || second.kind === 'unavailable' ? { kind: 'timed-out' } : second;
  });
}

function verdictOf<Verdict>(exchange: Exchange, read: (answer: VendorAnswer) => Verdict | NoVerdict): Attempt<Verdict> {
  return exchange.end === 'answered'
    ? (noVerdictOf(exchange.answer) ?? read(exchange.answer))
    : withoutAnswer(exchange);
}

/** The verdict of an answer that concerns only the call. Null if the answer has a vendor's number, or concerns the subject. */
function noVerdictOf(answer: VendorAnswer): NoVerdict | null {
  if (answer.status === 200 || upstreamCode(answer) !== null) return null;
  const { code } = errorOf(answer);
  if (turnedAway(answer.status) || code === 'key_closed') return { kind: 'unavailable' };
  return code === 'call_in_progress' ? { kind: 'timed-out' } : null;
}
