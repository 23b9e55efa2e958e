// Opens the payment of a session, or finds a payment that is in progress or has ended.
import type { Answer } from '../../api/api.js';
import type { Intent, Refusal, ScreeningOptions, SessionStatus } from '../../api/wire.js';
import type { Journey } from '../../journey.js';
import { placeOf } from '../../place.js';

export type Opened =
  /** `applicationFee`: cents of the amount, as the service accepted it. */
  | { readonly kind: 'intent'; readonly intent: Intent; readonly applicationFee: number | null }
  /** The session is paid, or its payment is in progress, from an earlier visit or another tab. */
  | { readonly kind: 'under-way'; readonly transactionId: string }
  /** No payment is needed, or no longer. */
  | { readonly kind: 'over'; readonly status: SessionStatus }
  /** No payment is needed, but the session's status does not show this yet. */
  | { readonly kind: 'unsettled' }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

export type Pause = (ms: number, signal: AbortSignal) => Promise<void>;

const NO_MORE_TO_PAY = ['PAYMENT_ALREADY_COMPLETED', 'PAYMENT_NOT_REQUIRED', 'SCREENING_SESSION_NOT_COMPLETED'];
/** The status is older by moments. */
const STATUS_PAUSES_MS = [0, 500, 1_000, 2_000];

/** Safe to repeat, because a session has only one open payment. */
export async function openPayment(journey: Journey, pause: Pause, signal: AbortSignal): Promise<Opened> {
  const { start, options } = journey;
  let amount = options.price?.amount ?? 0;
  let { applicationFee } = start;
  let answer = await ask(journey, amount, applicationFee, signal);
  if (isAbout('amount', answer)) {
    const path = `/screening/options?language=${journey.language}`;
    const now = await journey.api.call<ScreeningOptions>({ method: 'GET', path }, signal);
    if (!now.ok) return { kind: 'refused', refusal: now.error };
    amount = now.body.price?.amount ?? 0;
    answer = await ask(journey, amount, applicationFee, signal);
  }
  if (isAbout('applicationFee', answer) && applicationFee !== null) {
    const message = 'The application fee is not one that the account takes; it is left out.';
    journey.tell('onWarning', { code: 'INVALID_APPLICATION_FEE', message });
    applicationFee = null;
    answer = await ask(journey, amount, applicationFee, signal);
  }
  if (answer.ok) return { kind: 'intent', intent: answer.body, applicationFee };
  const { error } = answer;
  if (!NO_MORE_TO_PAY.includes(error.code)) return { kind: 'refused', refusal: error };
  return standing(journey, error.code === 'PAYMENT_ALREADY_COMPLETED', pause, signal);
}

function isAbout(field: string, answer: Answer<Intent>): boolean {
  return !answer.ok && answer.error.field === field;
}

function ask(
  { api, session }: Journey,
  amount: number,
  applicationFee: number | null,
  signal: AbortSignal,
): Promise<Answer<Intent>> {
  const wish = { amount, screeningId: session?.id ?? '', ...(applicationFee === null ? {} : { applicationFee }) };
  return api.call<Intent>({ method: 'POST', path: '/payments/create-intent', body: wish }, signal);
}

async function standing(journey: Journey, isPaid: boolean, pause: Pause, signal: AbortSignal): Promise<Opened> {
  const path = `/screening/${journey.session?.id ?? ''}/status`;
  for (const pauseMs of STATUS_PAUSES_MS) {
    if (pauseMs > 0) await pause(pauseMs, signal);
    const status = await journey.api.call<SessionStatus>({ method: 'GET', path }, signal);
    if (!status.ok) return { kind: 'refused', refusal: status.error };
    const { transactionId } = status.body;
    if (isPaid && transactionId !== undefined) return { kind: 'under-way', transactionId };
    if (placeOf(status.body, journey.start.userType, 'payment') !== 'payment')
      return { kind: 'over', status: status.body };
  }
  return { kind: 'unsettled' };
}
