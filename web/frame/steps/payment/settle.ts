// Follows a payment until the processor has decided.
import type { Answer, Api } from '../../api/api.js';
import type { Payment } from '../../api/wire.js';
import { browser } from '../../browser.js';

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

export interface Settling {
  readonly api: Api;
  readonly transactionId: string;
  /** It is under way. */
  onProcessing(): void;
  readonly signal: AbortSignal;
}

/**
 * How the payment is, once it is not being processed any more: asked for with growing pauses, for as long as the person stays. A
 * refusal that asking again does not change is handed back.
 */
export async function settled(payment: Settling): Promise<Answer<Payment>> {
  const { api, transactionId, signal } = payment;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    const answer = await api.call<Payment>({ method: 'POST', path: `/payments/${transactionId}/confirm` }, signal);
    if (signal.aborted || (answer.ok ? answer.body.status !== 'PROCESSING' : !answer.error.recoverable)) return answer;
    payment.onProcessing();
    await browser.pause(pauseMs, signal);
  }
}
