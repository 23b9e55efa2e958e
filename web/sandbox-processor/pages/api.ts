// The calls of the pages, with the publishable key and the client secret of an intent.
import { type Access, isRecord, NOT_REACHED, type PaymentIntent, type PaymentIntentResult } from '../messages.js';

const WITHIN_MS = 30_000;

export interface Card {
  readonly number: string;
  readonly month: string;
  readonly year: string;
  readonly cvc: string;
  readonly postalCode: string;
}

export function retrieve(access: Access): Promise<PaymentIntentResult> {
  return call(`${pathOf(access)}?${new URLSearchParams(credentials(access))}`, { method: 'GET' });
}

export function confirm(access: Access, card: Card): Promise<PaymentIntentResult> {
  const data = (name: string): string => `payment_method_data[${name}]`;
  return post(access, 'confirm', {
    [data('type')]: 'card',
    [`${data('card')}[number]`]: card.number,
    [`${data('card')}[exp_month]`]: card.month,
    [`${data('card')}[exp_year]`]: card.year,
    [`${data('card')}[cvc]`]: card.cvc,
    [`${data('billing_details')}[address][postal_code]`]: card.postalCode,
    use_stripe_sdk: 'true',
  });
}

export function authenticate(access: Access, outcome: 'success' | 'failure'): Promise<PaymentIntentResult> {
  return post(access, 'authenticate', { outcome });
}

/** A call whose answer is lost is repeated once. The sandbox executes the call only once. */
async function post(
  access: Access,
  action: string,
  form: Readonly<Record<string, string>>,
): Promise<PaymentIntentResult> {
  const request = {
    method: 'POST',
    headers: { 'idempotency-key': crypto.randomUUID() },
    body: new URLSearchParams({ ...credentials(access), ...form }),
  };
  const path = `${pathOf(access)}/${action}`;
  const first = await call(path, request);
  return first.error?.type === NOT_REACHED.type ? call(path, request) : first;
}

async function call(path: string, request: RequestInit): Promise<PaymentIntentResult> {
  try {
    const response = await fetch(path, { ...request, credentials: 'omit', signal: AbortSignal.timeout(WITHIN_MS) });
    const body: unknown = await response.json();
    // The sandbox's answers have the form in its documentation.
    if (response.ok) return { paymentIntent: body as PaymentIntent };
    const { error } = isRecord(body) ? body : {};
    return { error: isRecord(error) ? (error as never) : NOT_REACHED };
  } catch {
    return { error: NOT_REACHED };
  }
}

function pathOf({ clientSecret }: Access): string {
  return `/v1/payment_intents/${clientSecret.slice(0, clientSecret.indexOf('_secret_'))}`;
}

function credentials({ key, clientSecret }: Access): Record<string, string> {
  return { key, client_secret: clientSecret };
}
