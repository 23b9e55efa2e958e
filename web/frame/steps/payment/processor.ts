// The parts of the payment processor's browser library that the frame uses. People type card data into a frame of the processor's origin. Card data
// are sent from there to the processor, and this service never sees them. Reference: https://docs.stripe.com/js
import type { Language } from '../../../contract/language.js';
import type { Problem } from './texts.js';

interface ProcessorError {
  readonly type?: string;
  readonly code?: string;
  readonly decline_code?: string;
}

interface PaymentElement {
  mount(place: HTMLElement): void;
  destroy(): void;
  on(event: 'ready' | 'loaderror', listener: () => void): void;
  on(event: 'change', listener: (change: { readonly complete: boolean }) => void): void;
}

interface Elements {
  create(kind: 'payment'): PaymentElement;
}

interface Processor {
  elements(options: { clientSecret: string; appearance: object; locale: string }): Elements;
  confirmPayment(options: {
    elements: Elements;
    redirect: 'if_required';
  }): Promise<{ readonly error?: ProcessorError }>;
}

declare global {
  var Stripe: ((publishableKey: string) => Processor) | undefined;
}

export interface CardFormOptions {
  readonly publishableKey: string;
  readonly clientSecret: string;
  readonly language: Language;
  readonly place: HTMLElement;
  onReady(): void;
  /** The card fields could not be loaded. */
  onFailed(): void;
  onChange(complete: boolean): void;
}

export interface CardForm {
  /** `settled`: the processor has the result, so the page requests it from the service. */
  pay(): Promise<'settled' | Problem>;
  close(): void;
}

/** Longer than the time that banks give people to authenticate. */
const PAYING_LIMIT_MS = 600_000;

/** Shows the card fields of one payment intent. The library must be loaded. */
export function openCardForm({ place, language, publishableKey, clientSecret, ...told }: CardFormOptions): CardForm {
  if (!globalThis.Stripe) throw new Error('The processor has not set its global.');
  const processor = globalThis.Stripe(publishableKey);
  const elements = processor.elements({ clientSecret, locale: language, appearance: appearanceOf(place) });
  const element = elements.create('payment');
  element.on('ready', () => told.onReady());
  element.on('loaderror', () => told.onFailed());
  element.on('change', ({ complete }) => told.onChange(complete));
  element.mount(place);
  return {
    async pay() {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const limit = new Promise<object>((resolve) => (timer = setTimeout(resolve, PAYING_LIMIT_MS, {})));
      try {
        // The service makes only intents whose payment stays on the page, so a return address is not needed.
        const paying = processor.confirmPayment({ elements, redirect: 'if_required' });
        const { error }: { readonly error?: ProcessorError } = await Promise.race([paying, limit]);
        return error ? problemOf(error) : 'settled';
      } catch {
        // The library failed during the payment. Only the processor knows whether the card was charged.
        return 'settled';
      } finally {
        clearTimeout(timer);
      }
    },
    close: () => element.destroy(),
  };
}

/** When the library reports a stolen or suspect card, the person only reads that the card was declined. */
const PROBLEMS: Readonly<Record<string, Problem | 'settled'>> = {
  insufficient_funds: 'insufficientFunds',
  withdrawal_count_limit_exceeded: 'insufficientFunds',
  expired_card: 'expiredCard',
  invalid_expiry_month: 'expiredCard',
  invalid_expiry_year: 'expiredCard',
  incorrect_number: 'wrongNumber',
  invalid_number: 'wrongNumber',
  incorrect_cvc: 'wrongCode',
  invalid_cvc: 'wrongCode',
  card_not_supported: 'notSupported',
  currency_not_supported: 'notSupported',
  card_velocity_exceeded: 'tooOften',
  card_decline_rate_limit_exceeded: 'tooOften',
  processing_error: 'bankBusy',
  issuer_not_available: 'bankBusy',
  try_again_later: 'bankBusy',
  reenter_transaction: 'bankBusy',
  authentication_required: 'notAuthenticated',
  payment_intent_authentication_failure: 'notAuthenticated',
  // The intent was paid elsewhere, such as in another tab.
  payment_intent_unexpected_state: 'settled',
};

export function problemOf({ type, code, decline_code: declineCode }: ProcessorError): Problem | 'settled' {
  if (type === 'validation_error') return 'incomplete';
  const known = PROBLEMS[declineCode ?? ''] ?? PROBLEMS[code ?? ''];
  // After any other error, such as a broken connection, the service asks the processor for the result.
  return known ?? (type === 'card_error' ? 'declined' : 'settled');
}

/** The style of the frame around the fields, in the library's terms. */
function appearanceOf(place: HTMLElement): object {
  const style = getComputedStyle(place);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  return {
    theme: style.colorScheme === 'dark' ? 'night' : 'stripe',
    variables: {
      colorPrimary: colour('--accent'),
      colorBackground: colour('--background'),
      colorText: colour('--text'),
      colorDanger: colour('--problem'),
      fontFamily: style.fontFamily,
      borderRadius: colour('--radius'),
    },
  };
}
