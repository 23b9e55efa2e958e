// The transitions of a hosted checkout session. Pure, apart from new ids. The session's intent exists from the first try to pay.
import { ProcessorError, invalid } from './errors.js';
import { type IntentChange, checkAmount, checkSplit, confirmIntent, createIntent, newId } from './intents.js';
import type { CheckoutSession, Intent } from './state.js';

export type NewCheckoutSession = Omit<
  CheckoutSession,
  'id' | 'status' | 'url' | 'intentId' | 'created' | 'expiresAt'
> & {
  /** Milliseconds since 1970. Null means in 24 hours. */
  readonly expiresAt: number | null;
};

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** `pageRoot`: the address of the pages, without a trailing slash. */
export function openSession(wanted: NewCheckoutSession, pageRoot: string, now: number): CheckoutSession {
  checkAmount(wanted.amount, wanted.currency, 'line_items');
  checkSplit(wanted.amount, wanted.applicationFee, wanted.destination);
  for (const [param, url] of [
    ['success_url', wanted.successUrl],
    ['cancel_url', wanted.cancelUrl],
  ] as const) {
    if (url !== null && !isWebAddress(url)) throw invalid(param, 'url_invalid', `Not a valid URL: ${param}`);
  }
  const expiresAt = wanted.expiresAt ?? now + DAY_MS;
  // The time allows for differing clocks of the two sides.
  if (expiresAt < now + 29 * MINUTE_MS || expiresAt > now + DAY_MS + MINUTE_MS)
    throw invalid('expires_at', null, 'The expiry must be between 30 minutes and 24 hours from now.');
  const id = newId('cs_test');
  return { ...wanted, id, status: 'open', url: `${pageRoot}/${id}`, intentId: null, created: now, expiresAt };
}

/** One try to pay. After a decline, the session stays open. */
export function paySession(
  session: CheckoutSession,
  intent: Intent | null,
  paymentMethod: string,
  { now, settleMs }: { readonly now: number; readonly settleMs: number },
): { readonly session: CheckoutSession; readonly change: IntentChange } {
  checkOpen(session);
  const opened: IntentChange =
    intent === null
      ? createIntent({ ...session, metadata: session.intentMetadata, paymentMethod: null }, now)
      : { intent, happened: [] };
  const tried = confirmIntent(opened.intent, paymentMethod, now, settleMs);
  const change = { ...tried, happened: [...opened.happened, ...tried.happened] };
  return {
    session: {
      ...session,
      intentId: tried.intent.id,
      status: tried.intent.status === 'succeeded' ? 'complete' : 'open',
    },
    change,
  };
}

export function expireSession(session: CheckoutSession): CheckoutSession {
  checkOpen(session);
  return { ...session, status: 'expired' };
}

export function successAddress(session: CheckoutSession): string {
  return session.successUrl.replaceAll('{CHECKOUT_SESSION_ID}', session.id);
}

function checkOpen(session: CheckoutSession): void {
  if (session.status === 'open') return;
  throw new ProcessorError(400, {
    type: 'invalid_request_error',
    message: `This Checkout Session is ${session.status}: only open ones can be paid or expired.`,
  });
}

function isWebAddress(url: string): boolean {
  try {
    return /^https?:$/.test(new URL(url).protocol);
  } catch {
    return false;
  }
}
