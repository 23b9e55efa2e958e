// Text that people type or paste gets a uniform spelling: docs/contract/general.md#text.
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Applicant } from '../../../src/kernel/applicant.js';
import { foldedApplicant, foldedDevice } from '../../../src/published/folded-applicant.js';
import { folded, phoneDigits, zipCode } from '../../../src/published/folded-text.js';
import { REAL_WORLD } from '../../support/real-world.js';

it.each(REAL_WORLD.folded)('%j is simplified to %j', (given, written) => expect(folded(given)).toBe(written));

it('text that was already simplified does not change', () =>
  fc.assert(
    fc.property(
      fc.array(
        fc.constantFrom(...REAL_WORLD.folded.flatMap(([given]) => Array.from(given)), '\u0301', '\u093c', '\u115f'),
      ),
      fc.string({ unit: 'binary' }),
      (parts, any) => {
        for (const text of [parts.join(''), any]) expect(folded(folded(text))).toBe(folded(text));
      },
    ),
  ));

it.each(REAL_WORLD.phones.taken)('the phone number %j becomes %s', (given, digits) =>
  expect(phoneDigits(given)).toBe(digits),
);

it.each(REAL_WORLD.phones.refused)('characters other than formatting stay in the phone number %j', (given) =>
  expect(phoneDigits(given)).not.toMatch(/^(?!1|00)\d{10}$/),
);

it.each(REAL_WORLD.zips.taken)('the postal code %j becomes %s', (given, written) =>
  expect(zipCode(given)).toBe(written),
);

describe('an applicant', () => {
  const applicant: Applicant = {
    userType: 'CONSUMER',
    firstName: ' Ada\u200b',
    middleName: 'O\u2019Neil',
    lastName: '\u2019t\u00a0Hooft',
    companyName: 'Smith\u2010Jones ',
    mothersMaidenName: ' D\u2018Arcy',
    spouseName: 'Nun\u0303ez',
    ssn: ' 666123456 ',
    phoneNumber: '(415) 555\u20110134',
    email: 'a@example.test',
    dateOfBirth: '04121990',
    productId: 2,
    propertyZip: '94105 1234',
    address: { street: ' 1\u00a0Main St', city: 'San\u2003Francisco', state: 'ca', zip: ' 94105' },
    jscPayload: ' fp ',
  };

  it('is sent to the vendor with simplified texts and everything else unchanged', () => {
    expect(foldedApplicant(applicant)).toEqual({
      ...applicant,
      firstName: 'Ada',
      middleName: "O'Neil",
      lastName: "'t Hooft",
      companyName: 'Smith-Jones',
      mothersMaidenName: "D'Arcy",
      spouseName: 'Nu\u00f1ez',
      ssn: '666123456',
      phoneNumber: '4155550134',
      propertyZip: '94105-1234',
      address: { street: '1 Main St', city: 'San Francisco', state: 'CA', zip: '94105' },
    });
  });

  it('keeps values that only the vendor may judge', () => {
    const odd = { phoneNumber: '+65 6123 4567', ssn: '666-12-3456', address: { state: 'nowhere', zip: 'x' } };
    expect(foldedApplicant({ userType: 'AGENT', jscPayload: 'fp', ...odd })).toEqual({
      userType: 'AGENT',
      jscPayload: 'fp',
      phoneNumber: '+6561234567',
      ssn: '666-12-3456',
      address: { state: 'NOWHERE', zip: 'x' },
    });
    expect(foldedDevice({})).toEqual({});
  });
});
