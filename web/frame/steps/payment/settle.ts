// Follows a payment until the processor has decided.
import type { Answer, Api } from '../../api/api.js';
import type { Payment } from '../../api/wire.js';

/** About five minutes in total. Then the person must request the state again. */
const PAUSES_MS = [1_000, 2_000, 4_000, 8_000, 15_000, ...Array<number>(9).fill(30_000)];

export interface Settling {
  readonly api: Api;
  readonly transactionId: string;
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
  /** The payment is in progress. */
  onProcessing(): void;
  readonly signal: AbortSignal;
}

/**
 * The payment when it is no longer processing, or a refusal that another try would not change. Null after the last try. Each try charges nothing and
 * needs no key.
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
