// Opens the payment of a session, or finds out that it was opened before and is under way or over.
import type { Answer } from '../../api/api.js';
import type { Intent, Refusal, SessionStatus } from '../../api/wire.js';
import type { Journey } from '../../journey.js';

export type Opened =
  | { readonly kind: 'intent'; readonly intent: Intent }
  /** Paid, or being paid, in an earlier visit or in another tab. */
  | { readonly kind: 'under-way'; readonly transactionId: string }
  /** Nothing is to be paid, or not any more. */
  | { readonly kind: 'over'; readonly status: SessionStatus }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

const NO_MORE_TO_PAY = ['PAYMENT_ALREADY_COMPLETED', 'PAYMENT_NOT_REQUIRED', 'SCREENING_SESSION_NOT_COMPLETED'];

/** Safe to repeat: of a session there is one open payment, whoever asks and however often. */
export async function openPayment(journey: Journey, signal: AbortSignal): Promise<Opened> {
  const { api, start, session, options } = journey;
  const id = session?.id ?? '';
  const ask = (applicationFee: number | null): Promise<Answer<Intent>> =>
    api.call<Intent>(
      {
        method: 'POST',
        path: '/payments/create-intent',
        body: {
          amount: options.price?.amount ?? 0,
          screeningId: id,
          ...(applicationFee === null ? {} : { applicationFee }),
        },
      },
      signal,
    );
  let answer = await ask(start.applicationFee);
  if (!answer.ok && answer.error.field === 'applicationFee' && start.applicationFee !== null) {
    const message = 'The application fee is not one that the account takes; it is left out.';
    journey.tell('onWarning', { code: 'INVALID_APPLICATION_FEE', message });
    answer = await ask(null);
  }
  if (answer.ok) return { kind: 'intent', intent: answer.body };
  if (!NO_MORE_TO_PAY.includes(answer.error.code)) return { kind: 'refused', refusal: answer.error };
  const status = await api.call<SessionStatus>({ method: 'GET', path: `/screening/${id}/status` }, signal);
  if (!status.ok) return { kind: 'refused', refusal: status.error };
  const { transactionId } = status.body;
  return answer.error.code === 'PAYMENT_ALREADY_COMPLETED' && transactionId !== undefined
    ? { kind: 'under-way', transactionId }
    : { kind: 'over', status: status.body };
}
