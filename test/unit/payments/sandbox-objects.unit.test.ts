// The sandbox's answers have every field that the processor's API requires.
import { expect, it } from '@jest/globals';
import { chargeObject, sessionObject } from '../../../src/vendors/stripe/double/objects.js';

const intent = { id: 'pi_1', currency: 'usd', metadata: {} } as unknown as Parameters<typeof chargeObject>[1];

it('a charge has the required fields', () => {
  const at = { id: 'ch_1', amount: 100, refunded: 0, created: 0, decline: null } as const;
  expect(chargeObject({ ...at, status: 'succeeded' }, intent)).toMatchObject({
    amount_captured: 100,
    billing_details: { address: null, email: null, name: null, phone: null },
    captured: true,
    disputed: false,
  });
  expect(chargeObject({ ...at, status: 'failed' }, intent)).toMatchObject({ amount_captured: 0, captured: false });
});

it('a checkout session has the required fields', () => {
  const session = { id: 'cs_1', status: 'open', created: 0, expiresAt: 0 } as unknown as Parameters<
    typeof sessionObject
  >[0];
  expect(sessionObject(session)).toMatchObject({
    automatic_tax: { enabled: false },
    custom_fields: [],
    custom_text: {},
    payment_method_types: ['card'],
    shipping_options: [],
  });
});
