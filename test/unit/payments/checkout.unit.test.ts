import { describe, expect, it } from '@jest/globals';
import {
  checkout,
  checkoutReference,
  lookAt,
  partyIn,
  type CheckoutCommand,
  type CheckoutEvent,
  type ObservedCheckout,
} from '../../../src/modules/payments/domain/checkout.js';
import { checkoutPrice } from '../../../src/modules/payments/domain/price.js';
import { given } from '../../support/decider.js';

const NOW = new Date('2026-03-01T12:00:00.000Z');
const DAY = 86_400;
const later = (seconds: number): Date => new Date(NOW.getTime() + seconds * 1_000);

const OPENING = {
  attemptId: 'attempt',
  subjectId: 'subject',
  amountCents: 3_500,
  applicationFeeCents: 100,
  currency: 'usd',
  connectedAccount: null,
  reportFlags: { excludeBackground: true },
} as const;
const FIRST = { sessionId: 'session', registeredAt: '2026-03-01T11:00:00.000Z' };
const ANEW = { sessionId: 'newer', registeredAt: '2026-03-01T13:00:00.000Z' };

const open = (now = NOW, newest = FIRST): CheckoutCommand => ({
  kind: 'open',
  now,
  guardSeconds: 30 * DAY,
  newest,
  ...OPENING,
});
const opened = (ordinal = 0, newest = FIRST): CheckoutEvent => ({
  type: 'CheckoutOpened',
  data: { ...OPENING, ordinal, ...newest },
});
const created = (ordinal = 0): CheckoutEvent => ({
  type: 'CheckoutSessionCreated',
  data: { ordinal, checkoutSessionId: `cs_${ordinal}`, expiresAt: '2026-03-02T12:00:00.000Z' },
});
const paid = (ordinal = 0, sessionId = 'session', paidAt = NOW): CheckoutEvent => ({
  type: 'CheckoutPaid',
  data: {
    ordinal,
    sessionId,
    paymentIntentId: 'pi_1',
    amountCents: 3_500,
    currency: 'usd',
    paidAt: paidAt.toISOString(),
  },
});

const seen = (status: ObservedCheckout['status'], id = 'cs_0', toReplace = false, now = NOW): CheckoutCommand => ({
  kind: 'observe',
  now,
  session: {
    id,
    status,
    payment: status === 'complete' ? { intentId: 'pi_1', amountCents: 3_500, currency: 'usd' } : null,
  },
  toReplace,
});
const ON_ITS_WAY: CheckoutCommand = {
  kind: 'observe',
  now: NOW,
  session: { id: 'cs_0', status: 'complete', payment: null },
  toReplace: true,
};

describe('a hosted checkout', () => {
  it('is opened once, and a second request finds the open checkout', () => {
    given(checkout).when(open()).then(opened()).when(open()).then();
    given(checkout, opened(), created()).when(open()).then();
  });

  it('has one session at the processor, whichever process records the session', () => {
    const record: CheckoutCommand = { kind: 'record-session', ...(created().data as any) };
    given(checkout, opened()).when(record).then(created()).when(record).then();
    given(checkout, opened(), created(), { type: 'CheckoutExpired', data: { ordinal: 0 } }, opened(1))
      .when(record)
      .then();
  });

  it('is recorded as paid once, for the newest screening session of the renter', () => {
    given(checkout, opened(), created()).when(seen('complete')).then(paid()).when(seen('complete')).then();
    given(checkout, opened(), created(), { type: 'RenterRegisteredAnew', data: ANEW })
      .when(seen('complete'))
      .then(paid(0, 'newer'));
  });

  it('expires or is replaced, and can then be opened again', () => {
    given(checkout, opened(), created())
      .when(seen('expired'))
      .then({ type: 'CheckoutExpired', data: { ordinal: 0 } })
      .when(seen('expired'))
      .then()
      .when(open())
      .then(opened(1));
    given(checkout, opened(), created())
      .when(seen('expired', 'cs_0', true))
      .then({ type: 'CheckoutReplaced', data: { ordinal: 0 } })
      .when(open())
      .then(opened(1));
  });

  it('stays open while its session waits for the money, and pending money does not count as paid', () => {
    given(checkout, opened(), created()).when(seen('open')).then();
    given(checkout, opened(), created()).when(ON_ITS_WAY).then().when(open()).then();
  });

  // Received money always counts as paid.
  it('counts as paid even if an earlier look-up found it expired', () => {
    given(checkout, opened(), created(), { type: 'CheckoutExpired', data: { ordinal: 0 } })
      .when(seen('complete'))
      .then(paid());
  });

  it('ignores another session at the processor', () => {
    given(checkout, opened(), created()).when(seen('complete', 'cs_other')).then();
    given(checkout, opened()).when(seen('complete')).then();
  });

  it('is given up when the processor refuses it, and can then be opened again', () => {
    given(checkout, opened())
      .when({ kind: 'abandon', ordinal: 0 })
      .then({ type: 'CheckoutAbandoned', data: { ordinal: 0 } })
      .when(open())
      .then(opened(1));
    given(checkout, opened(), created()).when({ kind: 'abandon', ordinal: 0 }).then();
  });

  it('is not opened again within 30 days of the payment, and can be opened afterwards', () => {
    const after = given(checkout, opened(), created(), paid());
    after.when(open(later(1))).thenRefused('checkout.already_paid');
    after.when(open(later(30 * DAY - 1))).thenRefused('checkout.already_paid');
    after.when(open(later(30 * DAY))).then(opened(1));
  });

  // The 30 days count from the payment, not from a later opening.
  it('remembers the payment through later openings that were not paid', () => {
    given(checkout, opened(), created(), paid(), opened(1), created(1), {
      type: 'CheckoutExpired',
      data: { ordinal: 1 },
    })
      .when(open(later(5)))
      .thenRefused('checkout.already_paid');
  });

  it('may be opened again after a refund of its payment, and the refund is recorded once', () => {
    const refund = (ordinal: number): CheckoutCommand => ({ kind: 'record-refund', ordinal });
    const refunded: CheckoutEvent = { type: 'CheckoutRefunded', data: { ordinal: 0 } };
    given(checkout, opened(), created()).when(refund(0)).then();
    given(checkout, opened(), created(), paid())
      .when(refund(1))
      .then()
      .when(refund(0))
      .then(refunded)
      .when(refund(0))
      .then()
      .when(open(later(1)))
      .then(opened(1));
  });

  it('records a newer registration once, and ignores an older one', () => {
    const register = (of: typeof ANEW): CheckoutCommand => ({ kind: 'register', ...of });
    const noted: CheckoutEvent = { type: 'RenterRegisteredAnew', data: ANEW };
    given(checkout).when(register(ANEW)).then();
    given(checkout, opened()).when(register(ANEW)).then(noted).when(register(ANEW)).then();
    given(checkout, opened(), noted).when(register(FIRST)).then();
  });

  // The opening had read the party before the newer registration existed.
  it('keeps a newer registration when it is opened with an older one', () => {
    given(checkout, opened(), created(), { type: 'CheckoutExpired', data: { ordinal: 0 } })
      .and({ type: 'RenterRegisteredAnew', data: ANEW }, opened(1), created(1))
      .when(seen('complete', 'cs_1'))
      .then(paid(1, 'newer'));
  });

  it('is looked up at the processor while it is open, with growing pauses and by one process at a time', () => {
    const since = NOW.toISOString();
    const look: CheckoutEvent = { type: 'CheckoutLookedUp', data: {} };
    const isOpen = given(checkout, opened(), created());
    const looks = [isOpen, isOpen.and(look), isOpen.and(look, look), isOpen.and(...Array(9).fill(look))];
    expect(looks.map(({ state }) => (lookAt(state, since)?.getTime() ?? 0) - NOW.getTime())).toEqual(
      [1, 4, 16, 240].map((minutes) => minutes * 60_000),
    );
    const opening = given(checkout, opened());
    expect(lookAt(opening.state, since)?.getTime()).toBe(NOW.getTime() + 60_000);
    opening.when({ kind: 'look-up', basedOn: 1 }).then(look);
    const over: CheckoutEvent = { type: 'CheckoutAbandoned', data: { ordinal: 0 } };
    expect([opening.and(over), isOpen.and(paid())].map(({ state }) => lookAt(state, since))).toEqual([null, null]);
    isOpen.when({ kind: 'look-up', basedOn: 2 }).then(look).when({ kind: 'look-up', basedOn: 2 }).then();
  });
});

describe('the reference of an opening', () => {
  it("contains the party's id", () => {
    const id = '01890000-0000-7000-8000-000000000000';
    expect(partyIn(checkoutReference(id, 12))).toBe(id);
  });

  it.each([
    '',
    'chk_',
    'txn_01890000-0000-7000-8000-000000000000',
    'chk_01890000-0000-7000-8000-000000000000',
    `chk_${'x'.repeat(36)}_0`,
    'chk_01890000-0000-7000-8000-000000000000_01',
  ])('does not exist for %j', (text) => {
    expect(partyIn(text)).toBeNull();
  });
});

describe('the price of a hosted checkout', () => {
  const account = { feeCents: 3_500, applicationFeeCents: null, maxApplicationFeeCents: null };

  it("is the account's fee, and the platform keeps the account's application fee", () => {
    expect(checkoutPrice(account)).toEqual({ amountCents: 3_500, applicationFeeCents: 0 });
    expect(checkoutPrice({ ...account, applicationFeeCents: 500 })).toEqual({
      amountCents: 3_500,
      applicationFeeCents: 500,
    });
  });

  it.each([
    ['a fee that the processor does not take', { ...account, feeCents: 49 }],
    ['no fee', { ...account, feeCents: 0 }],
    ['more for the platform than is paid', { ...account, applicationFeeCents: 3_501 }],
    ['more for the platform than is allowed', { ...account, applicationFeeCents: 500, maxApplicationFeeCents: 400 }],
  ])('does not exist with %s', (_name, settings) => {
    expect(checkoutPrice(settings)).toBeNull();
  });
});
