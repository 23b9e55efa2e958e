// Follows a payment until the processor has decided.
import type { Answer, Api } from '../../api/api.js';
import type { Payment } from '../../api/wire.js';

/** Together about five minutes; then it is for the person to ask again. */
const PAUSES_MS = [1_000, 2_000, 4_000, 8_000, 15_000, ...Array<number>(9).fill(30_000)];

export interface Settling {
  readonly api: Api;
  readonly transactionId: string;
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
  /** It is under way. */
  onProcessing(): void;
  readonly signal: AbortSignal;
}

/**
 * How the payment is, once it is not being processed any more, or a refusal that asking again does not change. Null: it has been
 * asked for often enough. Asking charges nothing, and needs no key.
 */
export async function settled(payment: Settling): Promise<Answer<Payment> | null> {
  const { api, transactionId, signal } = payment;
  const confirm = { method: 'POST', path: `/payments/${transactionId}/confirm`, key: null } as const;
  for (const pauseMs of [0, ...PAUSES_MS]) {
    if (pauseMs > 0) await payment.pause(pauseMs, signal);
    const answer = await api.call<Payment>(confirm, signal);
    if (signal.aborted || (answer.ok ? answer.body.status !== 'PROCESSING' : !answer.error.recoverable)) return answer;
    payment.onProcessing();
  }
  return null;
}
