// The body of a request for a hosted checkout (docs/contract/direct.md#checkout).
import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { CheckoutBody, checkoutOf } from '../../../src/modules/payments/http/direct/checkout-bodies.js';
import { readBody, refusedBody } from '../../support/bodies.js';

const NOW = new Date('2026-03-01T12:00:00.000Z');
const PAGE = { successUrl: 'https://app.example.test/paid', cancelUrl: 'https://app.example.test/canceled' };
const given = (fields: object): object => ({ renterId: 'r-1', ...PAGE, ...fields });
const read = (fields: object): Promise<CheckoutBody> => readBody(CheckoutBody, given(fields), NOW);

describe('the id of the renter', () => {
  // The characters are counted as in the path of the renter's registration.
  it('has at most 128 characters, whatever its length in UTF-16', async () => {
    const renterId = '\u{1F3E0}'.repeat(128);
    expect((await read({ renterId })).renterId).toBe(renterId);
    const { detail } = await refusedBody(CheckoutBody, given({ renterId: `${renterId}x` }), NOW);
    expect(detail).toMatchObject({ field: 'renterId', details: [{ message: 'must have at most 128 characters' }] });
  });
});

describe('the address of the property', () => {
  it.each<[unknown, string | null]>([
    [undefined, null],
    ['1 Main St', '1 Main St'],
    [{ zip: '94105', address: '1 Main St', city: 'San Francisco', state: 'CA' }, '1 Main St, San Francisco, CA, 94105'],
    [{ city: 'San Francisco' }, 'San Francisco'],
    ['\u{1F3E0}'.repeat(255), '\u{1F3E0}'.repeat(255)],
    [' 1\u00a0Main\u200b St ', '1 Main St'],
    ['', null],
    [{ zip: ' 94105', city: '' }, '94105'],
  ])('given as %j is shown as %j', async (propertyAddress, shown) => {
    expect(checkoutOf(await read({ propertyAddress }), 'live').wish.description).toBe(shown);
  });

  it.each([
    7,
    ' ',
    '\u200b',
    'x'.repeat(256),
    {},
    [],
    ['1 Main St'],
    { zip: 94105 },
    { zip: '', city: '' },
    { zip: '94105', city: ' ' },
    { street: 'x' },
  ])('is refused when it is %j', async (propertyAddress) => {
    const { detail } = await refusedBody(CheckoutBody, given({ propertyAddress }), NOW);
    expect(detail.field).toBe('propertyAddress');
  });
});
