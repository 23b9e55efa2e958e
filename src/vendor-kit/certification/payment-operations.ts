// The operations of a payment processor that its certification runs, for each consumer.
import { randomUUID } from 'node:crypto';
import type { Charge, CheckoutPage, PaymentProcessor } from '../../ports/payment-processor.js';
import type { OpenVendor, PaymentCapability } from '../define-vendor.js';
import type { CertifiedDouble, CertifiedPersona, ExpectedVerdict, RunningDouble } from '../double/certified-double.js';
import { type Act, NotPrepared, type Operation, PERSON, newCall, port, wordsOf } from './operations.js';

type Method = keyof PaymentProcessor;
type Payer = NonNullable<CertifiedPersona['payment']>;

const REFUSED = { kind: 'refused' };

/** `pay`: the act of the consumer at the double. A recording already shows what the consumer did, so a replay has no such act. */
export function paymentOperations(
  payment: PaymentCapability | undefined,
  double: CertifiedDouble,
  personas: readonly CertifiedPersona[],
  pay: RunningDouble['pay'],
): readonly Operation[] {
  if (payment === undefined) return [];
  const connectedAccount = double.connectedAccount ?? null;
  const first: Charge = { amountCents: 4_217, currency: 'usd', connectedAccount, applicationFeeCents: 419 };
  const second: Charge = { ...first, amountCents: 3_964, applicationFeeCents: 387 };
  const operation = (
    [method, name]: readonly [Method, string],
    expected: ExpectedVerdict,
    prepare: Operation['prepare'],
    charge?: Charge,
  ): Operation => {
    const { [method]: semantics } = payment.operations;
    const named = { method, name: `${method}: ${name}`, semantics };
    return { capability: 'payment', ...named, expected, prepare, ...(charge && { charge }) };
  };
  /** The id of a new intent or checkout session, after the act of its consumer. */
  const begun = async (adapters: OpenVendor, what: 'intent' | 'checkout', by: string | null = null) => {
    const made =
      what === 'intent'
        ? await port(adapters, 'payment').createIntent(newCall(), first, names())
        : await port(adapters, 'payment').createCheckout(newCall(), first, page());
    const id = made.kind === 'intent' ? made.intent.id : made.kind === 'checkout' ? made.session.id : null;
    if (id === null) throw new NotPrepared(`the ${what} was answered with ${made.kind}`);
    if (by !== null) await pay?.(id, by);
    return id;
  };
  const about = (
    what: 'intent' | 'checkout',
    by: string | null,
    act: (processor: PaymentProcessor, call: Parameters<Act>[1], id: string) => ReturnType<Act>,
  ): Operation['prepare'] => {
    return async (before) => {
      const id = await begun(before, what, by);
      return (adapters, call) => act(port(adapters, 'payment'), call, id);
    };
  };
  const intent = ({ amountCents, currency }: Charge): ExpectedVerdict => ({
    kind: 'intent',
    intent: { status: 'requires_payment_method', amountCents, currency, receivedCents: 0 },
  });
  const ofPayer = ({ by, intent: seen, refund, checkout, expiry }: Payer): readonly Operation[] => {
    const who = by ?? 'not paid';
    return [
      operation(
        ['retrieveIntent', `${who}, ${wordsOf(seen)}`],
        seen,
        about('intent', by, (to, call, id) => to.retrieveIntent(call, id)),
      ),
      operation(
        ['refundIntent', `${who}, ${wordsOf(refund)}`],
        refund,
        about('intent', by, (to, call, id) => to.refundIntent(call, id)),
      ),
      operation(
        ['retrieveCheckout', `${who}, ${wordsOf(checkout)}`],
        checkout,
        about('checkout', by, (to, call, id) => to.retrieveCheckout(call, id)),
      ),
      operation(
        ['expireCheckout', `${who}, ${wordsOf(expiry)}`],
        expiry,
        about('checkout', by, (to, call, id) => to.expireCheckout(call, id)),
      ),
    ];
  };
  const payers = personas.flatMap(({ payment: payer }) => payer ?? []);
  const paid = payers.find(({ refund }) => refund.kind === 'refunded');
  return [
    operation(
      ['createIntent', 'new'],
      intent(first),
      async () => (adapters, call) => port(adapters, 'payment').createIntent(call, first, names()),
      first,
    ),
    operation(
      ['changeIntent', 'another amount'],
      intent(second),
      about('intent', null, (to, call, id) => to.changeIntent(call, id, second)),
      second,
    ),
    ...(paid === undefined
      ? []
      : [
          operation(
            ['changeIntent', 'after the payment'],
            REFUSED,
            about('intent', paid.by, (to, call, id) => to.changeIntent(call, id, second)),
          ),
        ]),
    operation(
      ['createCheckout', 'new'],
      { kind: 'checkout', session: { status: 'open', payment: null } },
      async () => (adapters, call) => port(adapters, 'payment').createCheckout(call, first, page()),
      first,
    ),
    ...payers.flatMap(ofPayer),
  ];
}

function names(): { readonly transactionId: string; readonly sessionId: string } {
  return { transactionId: `txn_${randomUUID()}`, sessionId: randomUUID() };
}

/** The texts of the page are about the person of the certification. */
function page(): CheckoutPage {
  return {
    reference: `chk_${randomUUID()}`,
    sessionId: randomUUID(),
    successUrl: 'https://certification.example.test/paid',
    cancelUrl: 'https://certification.example.test/canceled',
    description: PERSON.address?.street ?? null,
    email: PERSON.email ?? null,
    notes: { consumer: 'consumer-of-certification' },
  };
}
