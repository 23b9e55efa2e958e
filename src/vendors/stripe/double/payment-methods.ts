// The test payment methods and their behaviour.
import { invalid } from './errors.js';
import type { Decline } from './state.js';

export type Behaviour =
  | { readonly kind: 'succeed' }
  | { readonly kind: 'decline'; readonly decline: Decline }
  /** `decline`: the result even if the authentication is passed. */
  | { readonly kind: 'authenticate'; readonly decline: Decline | null }
  /** The payment takes some time, and then is declined or succeeds. */
  | { readonly kind: 'process'; readonly decline: Decline | null };

const DECLINED = {
  kind: 'decline',
  decline: { code: 'card_declined', declineCode: 'generic_decline' },
} as const satisfies Behaviour;

const BEHAVIOURS: ReadonlyMap<string, Behaviour> = new Map<string, Behaviour>([
  ['pm_card_visa', { kind: 'succeed' }],
  ['pm_card_chargeDeclined', DECLINED],
  ['pm_card_visa_chargeDeclined', DECLINED],
  [
    'pm_card_chargeDeclinedInsufficientFunds',
    { kind: 'decline', decline: { code: 'card_declined', declineCode: 'insufficient_funds' } },
  ],
  ['pm_card_chargeDeclinedExpiredCard', { kind: 'decline', decline: { code: 'expired_card', declineCode: null } }],
  [
    'pm_card_chargeDeclinedIncorrectCvc',
    { kind: 'decline', decline: { code: 'incorrect_cvc', declineCode: 'incorrect_cvc' } },
  ],
  [
    'pm_card_chargeDeclinedProcessingError',
    { kind: 'decline', decline: { code: 'processing_error', declineCode: null } },
  ],
  ['pm_card_authenticationRequired', { kind: 'authenticate', decline: null }],
  ['pm_card_threeDSecureRequiredChargeDeclined', { kind: 'authenticate', decline: DECLINED.decline }],
  ['pm_card_processing', { kind: 'process', decline: null }],
  ['pm_usBankAccount', { kind: 'process', decline: null }],
  [
    'pm_usBankAccount_insufficientFunds',
    { kind: 'process', decline: { code: 'payment_method_provider_decline', declineCode: 'insufficient_funds' } },
  ],
]);

export function behaviourOf(paymentMethod: string): Behaviour {
  const behaviour = BEHAVIOURS.get(paymentMethod);
  if (behaviour === undefined) throw invalid('payment_method', 'resource_missing', 'No such PaymentMethod');
  return behaviour;
}
