// A call that may be sent again: one that changes nothing, or that the vendor executes once per idempotency key.
import type { NoVerdict, VendorCall } from '../ports/vendor-call.js';
import { type VendorAnswer, errorOf, turnedAway, upstreamCode } from './answer.js';
import { type Exchange, type Limit, type VendorHttp, withoutAnswer } from './exchange.js';

type Attempt<Verdict> = Verdict | NoVerdict | 'ambiguous';

/**
 * Sends a call, and once more when its end is ambiguous, all within one time limit. `read` gets the answers that
 * `noVerdictOf` has nothing to say about.
 */
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
    // That the second was not executed says nothing of the first.
    return second === 'ambiguous' || second.kind === 'unavailable' ? { kind: 'timed-out' } : second;
  });
}

function verdictOf<Verdict>(exchange: Exchange, read: (answer: VendorAnswer) => Verdict | NoVerdict): Attempt<Verdict> {
  return exchange.end === 'answered'
    ? (noVerdictOf(exchange.answer) ?? read(exchange.answer))
    : withoutAnswer(exchange);
}

/** What an answer says about the call instead of its subject; null when it carries an upstream number, or says nothing of the call. */
function noVerdictOf(answer: VendorAnswer): NoVerdict | null {
  if (answer.status === 200 || upstreamCode(answer) !== null) return null;
  const { code } = errorOf(answer);
  if (turnedAway(answer.status) || code === 'key_closed') return { kind: 'unavailable' };
  return code === 'call_in_progress' ? { kind: 'timed-out' } : null;
}
