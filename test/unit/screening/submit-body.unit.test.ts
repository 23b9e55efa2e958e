// The body of POST /screening/submit (docs/contract/platform.md#submission).
import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { foldedApplicant } from '../../../src/published/folded-applicant.js';
import { DomainError } from '../../../src/kernel/domain-error.js';
import { applicantOf, saidIn, SubmitBody } from '../../../src/modules/screening/http/platform/submit-body.js';
import { US_STATES } from '../../../src/modules/screening/http/platform/us-states.js';
import { STRING_CODES } from '../../../src/surfaces/string-codes.js';
import { readBody, refusedBody } from '../../support/bodies.js';
import { REAL_WORLD } from '../../support/real-world.js';

const NOW = new Date('2026-03-01T12:00:00.000Z');
const VALID = {
  firstName: 'Ada',
  lastName: 'Example',
  dateOfBirth: '04121990',
  ssn: '666123456',
  phoneNumber: '(415) 555-0134',
  currentAddress: '1 Main Street, Apt. #4',
  currentCity: 'San Francisco',
  currentState: 'CA',
  currentZip: '94105',
  jscPayload: 'fp-test',
  termsAcceptedAt: '2026-03-01T11:59:30Z',
  userType: 'CONSUMER',
};
const OPTIONAL = {
  middleName: 'Lovelace',
  phoneType: 'H',
  email: 'ada@example.test',
  companyName: 'Example & Sons, Inc.',
  hdimPayload: 'hd-test',
  endUserType: 'REAL_ESTATE_AGENT',
  termsVersion: '2026-01_en.2',
  termsLanguage: 'es',
};
const REQUIRED_STRINGS = [
  'firstName',
  'lastName',
  'dateOfBirth',
  'phoneNumber',
  'currentAddress',
  'currentCity',
  'currentState',
  'currentZip',
  'jscPayload',
  'termsAcceptedAt',
  'userType',
] as const;

const read = (body: unknown, now = NOW): Promise<SubmitBody> => readBody(SubmitBody, body, now);
const accepts = (fields: object, now = NOW): Promise<SubmitBody> => read({ ...VALID, ...fields }, now);
/** The code and the first field, as the caller receives them. */
const refused = async (body: unknown, now = NOW): Promise<string> => {
  const { code, detail } = await refusedBody(SubmitBody, body, now);
  return `${STRING_CODES.errors[code]?.code} ${detail.field ?? '-'}`;
};
const refuses = (fields: object, now = NOW): Promise<string> => refused({ ...VALID, ...fields }, now);

describe('a submit body', () => {
  it('is accepted with only the required fields, and with all fields', async () => {
    expect(await accepts({})).toEqual(VALID);
    expect(await accepts(OPTIONAL)).toEqual({ ...VALID, ...OPTIONAL });
  });

  it('without a required field, or with null or an empty text in it: VALIDATION_ERROR', async () => {
    for (const field of REQUIRED_STRINGS) {
      for (const value of [undefined, null, ''])
        expect(await refuses({ [field]: value })).toBe(`VALIDATION_ERROR ${field}`);
    }
    expect(await refuses({ currentAddress: '  ' })).toBe('VALIDATION_ERROR currentAddress');
    expect(await refuses({ currentCity: '\t' })).toBe('VALIDATION_ERROR currentCity');
  });

  it('with any field that is not a text: VALIDATION_ERROR', async () => {
    for (const field of [...REQUIRED_STRINGS, 'ssn', ...Object.keys(OPTIONAL)]) {
      for (const value of [0, 94105, true, false, [], ['Ada'], {}, { toString: 'Ada' }, { length: 1 }, [['CA']]])
        expect(await refuses({ [field]: value })).toBe(`VALIDATION_ERROR ${field}`);
    }
  });

  it('has the home, product, end user and terms of the screening', async () => {
    const parts = { address: '7 Elm Street', city: 'Springfield', state: 'IL', zip: '62701' };
    for (const unitAddress of ['7 Elm Street #2', 'x'.repeat(255), parts])
      expect(saidIn(await accepts({ ...OPTIONAL, unitAddress }))).toEqual({
        unitAddress,
        endUserType: 'REAL_ESTATE_AGENT',
        termsVersion: '2026-01_en.2',
        termsLanguage: 'es',
      });
    expect(saidIn(await accepts({ unitAddress: { ...parts, tenant: 'Ada' } }))).toEqual({ unitAddress: parts });
    expect(saidIn(await accepts({ unitAddress: null, endUserType: null, termsVersion: null }))).toEqual({});
    expect(applicantOf(await accepts({ productId: 2 }))).toMatchObject({ productId: 2 });
    expect(applicantOf(await accepts({ productId: null }))).not.toHaveProperty('productId');
  });

  it.each([
    ['unitAddress', [' ', '\u200b', 'x'.repeat(256), 7, true, [], ['x'], {}, { address: 'x', city: 'x', state: 'x' }]],
    [
      'unitAddress',
      [
        { address: 'x', city: 'x', state: 'x', zip: '' },
        { address: 'x', city: 'x', state: 'x', zip: 1 },
      ],
    ],
    ['endUserType', ['applicant', 'REAL_ESTATE', 1, ['REAL_ESTATE_AGENT']]],
    ['productId', ['1', '', 1.5, true, [1], {}, NaN]],
    ['termsLanguage', ['de', 'EN', 1, ['en']]],
    ['termsVersion', ['two words', 'v'.repeat(41), 'ü', 'a\n', 1, ['1']]],
  ])('with an invalid %s: VALIDATION_ERROR', async (field, values: readonly unknown[]) => {
    for (const value of values)
      expect([value, await refuses({ [field]: value })]).toEqual([value, `VALIDATION_ERROR ${field}`]);
  });

  it('that is not a JSON object: VALIDATION_ERROR without a field', async () => {
    for (const body of [undefined, null, 'text', 7, true, [], [VALID]])
      expect(await refused(body)).toBe('VALIDATION_ERROR -');
  });

  it('may leave out optional fields, or have null or an empty text in them', async () => {
    for (const field of Object.keys(OPTIONAL))
      for (const nothing of [undefined, null, ''])
        expect(await accepts({ [field]: nothing })).not.toHaveProperty(field);
    expect(saidIn(await accepts({ unitAddress: '' }))).toEqual({});
  });

  it('ignores unknown fields with any names and contents', async () => {
    const junk = JSON.parse(
      '{"__proto__":{"firstName":"Eve","ssn":"1"},"constructor":{"prototype":{"userType":"X"}},"toString":1,"hasOwnProperty":null,"furtherFaults":"x","":[],"score":850,"nested":{"a":[[[{}]]]}}',
    ) as object;
    const body = await read({ ...VALID, ...Object.fromEntries(Object.entries(junk)) });
    expect(body).toEqual(VALID);
    expect(Object.getPrototypeOf(body)).toBe(SubmitBody.prototype);
    expect(({} as { firstName?: string }).firstName).toBeUndefined();
  });

  it('uses no values from a prototype', async () => {
    const body = Object.assign(Object.create({ ssn: '666123456', firstName: 'Eve' }) as object, {
      ...VALID,
      ssn: undefined,
    });
    expect(await refused(body)).toBe('REPORT_MISSING_FIELD ssn');
    const { firstName: _, ...without } = VALID;
    expect(await refused(JSON.parse(JSON.stringify(without).replace('{', '{"__proto__":{"firstName":"Eve"},')))).toBe(
      'VALIDATION_ERROR firstName',
    );
  });
});

describe('names', () => {
  it.each(REAL_WORLD.names.taken)('%j is accepted', async (name) => {
    expect((await accepts({ firstName: name, middleName: name, lastName: name })).firstName).toBe(name);
  });

  it.each(REAL_WORLD.names.refused)('%j: VALIDATION_INVALID_FIELD_FORMAT', async (name) => {
    expect(await refuses({ firstName: name })).toBe('VALIDATION_INVALID_FIELD_FORMAT firstName');
    expect(await refuses({ lastName: name })).toBe('VALIDATION_INVALID_FIELD_FORMAT lastName');
  });

  it('may have digits after the first letter in a middle name, because the sandbox needs them', async () => {
    expect((await accepts({ middleName: 'Upstream407' })).middleName).toBe('Upstream407');
    for (const name of [' ', '9', '9th', 'Ada!', 'a'.repeat(61)])
      expect(await refuses({ middleName: name })).toBe('VALIDATION_INVALID_FIELD_FORMAT middleName');
  });
});

describe('the SSN', () => {
  it('is required only for a consumer: REPORT_MISSING_FIELD', async () => {
    for (const ssn of [undefined, null, '']) {
      expect(await refuses({ ssn })).toBe('REPORT_MISSING_FIELD ssn');
      for (const userType of ['AGENT', 'PMC'])
        expect(applicantOf(await accepts({ ssn, userType }))).not.toHaveProperty('ssn');
    }
  });

  it('that does not have nine digits: INVALID_SSN, for every user type', async () => {
    for (const ssn of [
      '12345678',
      '1234567890',
      '666-12-3456',
      '66612345a',
      '666123456\n',
      '666 12 3456',
      '\u0661\u0662\u0663\u0664\u0665\u0666\u0667\u0668\u0669',
    ]) {
      for (const userType of ['CONSUMER', 'AGENT', 'PMC'])
        expect(await refuses({ ssn, userType })).toBe('INVALID_SSN ssn');
    }
  });
});

it('spaces around the SSN are ignored', async () => {
  expect(applicantOf(await accepts({ ssn: '\u00a0666123456 ' })).ssn).toBe('666123456');
});

describe('the birth date', () => {
  const age = async (dateOfBirth: string, now = '2026-03-01T12:00:00.000Z'): Promise<string | null> => {
    const body = { ...VALID, dateOfBirth, termsAcceptedAt: '2000-01-01T00:00:00Z' };
    return read(body, new Date(now)).then(
      () => null,
      (error: DomainError) => STRING_CODES.errors[error.code]?.code ?? 'none',
    );
  };

  it('that is not MMDDYYYY, or not a day of the calendar: INVALID_DOB', async () => {
    for (const dateOfBirth of [
      '1990-04-12',
      '4121990',
      '041219900',
      '04/12/90',
      'abcdefgh',
      '04121990\n',
      '13011990',
      '00101990',
      '04311990',
      '04001990',
      '02301992',
      '02291990',
      '02291900',
      '19900412',
      '00000000',
      '99999999',
    ]) {
      expect(await refuses({ dateOfBirth })).toBe('INVALID_DOB dateOfBirth');
    }
    expect(await age('02291992')).toBeNull();
  });

  it('in the future: INVALID_DOB', async () => {
    expect(await age('03022026')).toBe('INVALID_DOB');
    expect(await age('01012100')).toBe('INVALID_DOB');
  });

  it('under 18 by the UTC date: MINOR_CONSUMER with 422, but 18 today is accepted', async () => {
    expect(await age('03012026')).toBe('MINOR_CONSUMER');
    expect(await age('03022008')).toBe('MINOR_CONSUMER');
    expect(await age('03012008')).toBeNull();
    expect(await age('02292008')).toBeNull();
    expect(STRING_CODES.errors['screening.minor'].status).toBe(422);
    expect(await refuses({ dateOfBirth: '03022008' })).toBe('MINOR_CONSUMER dateOfBirth');
  });

  it('over 120: INVALID_DOB, but 120 is accepted up to the last day', async () => {
    expect(await age('03011906')).toBeNull();
    expect(await age('03021905')).toBeNull();
    expect(await age('03011905')).toBe('INVALID_DOB');
    expect(await age('01010001')).toBe('INVALID_DOB');
  });

  it('on February 29 counts as March 1 in a common year', async () => {
    expect(await age('02292008', '2026-02-28T23:59:59.999Z')).toBe('MINOR_CONSUMER');
    expect(await age('02292008', '2026-03-01T00:00:00.000Z')).toBeNull();
    expect(await age('02291904', '2025-02-28T12:00:00.000Z')).toBeNull();
    expect(await age('02291904', '2025-03-01T00:00:00.000Z')).toBe('INVALID_DOB');
    expect(await age('02282010', '2028-02-28T00:00:00.000Z')).toBeNull();
    expect(await age('02292012', '2028-02-29T00:00:00.000Z')).toBe('MINOR_CONSUMER');
  });

  it("counts by the date in UTC, not by the machine's date", async () => {
    expect(await age('03012008', '2026-02-28T23:59:59.999Z')).toBe('MINOR_CONSUMER');
    expect(await age('03012008', '2026-03-01T00:00:00.000Z')).toBeNull();
    expect(await age('01012006', '2023-12-31T23:59:59.999Z')).toBe('MINOR_CONSUMER');
    expect(await age('01012006', '2024-01-01T00:00:00.000Z')).toBeNull();
  });
});

describe('the phone number', () => {
  it.each(REAL_WORLD.phones.taken)('%j is read as %s', async (phoneNumber, digits) => {
    expect(applicantOf(await accepts({ phoneNumber })).phoneNumber).toBe(digits);
  });

  it.each([...REAL_WORLD.phones.refused, '+1 415 555 0134', ' ', '4'.repeat(300)])(
    '%j: VALIDATION_INVALID_FIELD_FORMAT',
    async (phoneNumber) => {
      expect(await refuses({ phoneNumber })).toBe('VALIDATION_INVALID_FIELD_FORMAT phoneNumber');
    },
  );

  it('has the type C, H or W, and C when the type is missing', async () => {
    for (const phoneType of ['C', 'H', 'W'])
      expect(applicantOf(await accepts({ phoneType })).phoneType).toBe(phoneType);
    expect(applicantOf(await accepts({})).phoneType).toBe('C');
    for (const phoneType of ['c', 'M', 'CH', ' C', 'mobile'])
      expect(await refuses({ phoneType })).toBe('VALIDATION_INVALID_FIELD_FORMAT phoneType');
  });
});

describe('the address', () => {
  it('has a zip of five digits, or of nine with a dash, a space or nothing between them', async () => {
    for (const [currentZip, written] of REAL_WORLD.zips.taken)
      expect(foldedApplicant(applicantOf(await accepts({ currentZip }))).address?.zip).toBe(written);
    for (const currentZip of REAL_WORLD.zips.refused)
      expect([currentZip, await refuses({ currentZip })]).toEqual([
        currentZip,
        'VALIDATION_INVALID_FIELD_FORMAT currentZip',
      ]);
  });

  it('has the postal code of a state, in upper or lower case', async () => {
    expect(US_STATES).toHaveLength(new Set(US_STATES).size);
    for (const currentState of [...REAL_WORLD.states.taken, 'DC', 'GU', 'AE'])
      expect(US_STATES).toContain(foldedApplicant(applicantOf(await accepts({ currentState }))).address?.state);
    for (const currentState of [
      ...REAL_WORLD.states.refused.filter((state) => state !== ''),
      'constructor',
      '__proto__',
    ])
      expect(await refuses({ currentState })).toBe('VALIDATION_INVALID_FIELD_FORMAT currentState');
  });

  it('has visible characters', async () => {
    for (const field of ['currentAddress', 'currentCity'])
      for (const nothing of ['\u200b', '\u200e \u00a0', '\u3164'])
        expect(await refuses({ [field]: nothing })).toBe(`VALIDATION_ERROR ${field}`);
    expect(await refuses({ companyName: '\u2060' })).toBe('VALIDATION_INVALID_FIELD_FORMAT companyName');
  });

  it('has no control characters, and fits its fields', async () => {
    expect(await accepts({ currentAddress: 'a'.repeat(120), currentCity: 'b'.repeat(60) })).toBeInstanceOf(SubmitBody);
    for (const currentAddress of ['1 Main\u0000Street', '1 Main\nStreet', '1 \ud800 Street', 'a'.repeat(121)])
      expect(await refuses({ currentAddress })).toBe('VALIDATION_INVALID_FIELD_FORMAT currentAddress');
    for (const currentCity of ['Oak\u0007land', 'b'.repeat(61)])
      expect(await refuses({ currentCity })).toBe('VALIDATION_INVALID_FIELD_FORMAT currentCity');
  });
});

describe('the device fingerprint', () => {
  it('has up to 4,000 of the documented characters', async () => {
    const allowed = ' azAZ09&._-';
    for (const field of ['jscPayload', 'hdimPayload']) {
      expect(await accepts({ [field]: allowed })).toBeInstanceOf(SubmitBody);
      expect(await accepts({ [field]: 'x'.repeat(4_000) })).toBeInstanceOf(SubmitBody);
      for (const wrong of [
        'x'.repeat(4_001),
        'a=b',
        'a;b',
        'a/b',
        'a+b',
        'a\nb',
        'a\tb',
        '\u00e9',
        '{"a":1}',
        '<x>',
        '%',
      ])
        expect(await refuses({ [field]: wrong })).toBe(`VALIDATION_INVALID_FIELD_FORMAT ${field}`);
    }
  });
});

describe('the time at which the person accepted the terms', () => {
  it('is ISO 8601 with a zone', async () => {
    for (const [termsAcceptedAt, utc] of [
      ['2026-03-01T11:59:30Z', '2026-03-01T11:59:30.000Z'],
      ['2026-03-01T11:59:30.5Z', '2026-03-01T11:59:30.500Z'],
      ['2026-03-01T11:59:30.123456789Z', '2026-03-01T11:59:30.123Z'],
      ['2026-03-01T11:59Z', '2026-03-01T11:59:00.000Z'],
      ['2026-03-01T06:59:30-05:00', '2026-03-01T11:59:30.000Z'],
      ['2026-03-01T06:59:30-0500', '2026-03-01T11:59:30.000Z'],
      ['2026-03-01T17:29:30+05:30', '2026-03-01T11:59:30.000Z'],
      ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
      ['1999-12-31T23:59:59Z', '1999-12-31T23:59:59.000Z'],
    ] as const) {
      expect(applicantOf(await accepts({ termsAcceptedAt })).termsAcceptedAt).toBe(utc);
    }
  });

  it('without a zone, in another form, or not in the calendar: VALIDATION_ERROR', async () => {
    for (const termsAcceptedAt of [
      '2026-03-01T11:59:30',
      '2026-03-01',
      '2026-03-01 11:59:30Z',
      'yesterday',
      '1772366370',
      'Sun, 01 Mar 2026 11:59:30 GMT',
      '2026-13-01T11:59:30Z',
      '2026-03-32T11:59:30Z',
      '2026-02-30T11:59:30Z',
      '2025-02-29T11:59:30Z',
      '2026-04-31T00:00:00Z',
      '2026-03-01T25:00:00Z',
      '2026-03-01T11:60:00Z',
      '2026-03-01T11:59:60Z',
      '2026-03-01T11:59:30+25:00',
      '2026-03-01T11:59:30Z\n',
      '\u0662\u0660\u0662\u0666-03-01T11:59:30Z',
      '+002026-03-01T11:59:30Z',
      `2026-03-01T11:59:30.${'0'.repeat(60)}Z`,
    ]) {
      expect([termsAcceptedAt, await refuses({ termsAcceptedAt })]).toEqual([
        termsAcceptedAt,
        'VALIDATION_ERROR termsAcceptedAt',
      ]);
    }
  });

  it('is not more than five minutes ahead', async () => {
    expect(await accepts({ termsAcceptedAt: '2026-03-01T12:05:00Z' })).toBeInstanceOf(SubmitBody);
    expect(await refuses({ termsAcceptedAt: '2026-03-01T12:05:00.001Z' })).toBe('VALIDATION_ERROR termsAcceptedAt');
    expect(await refuses({ termsAcceptedAt: '2027-01-01T00:00:00Z' })).toBe('VALIDATION_ERROR termsAcceptedAt');
  });
});

describe('the user type', () => {
  it('is CONSUMER, AGENT or PMC, otherwise VALIDATION_ERROR', async () => {
    for (const userType of ['CONSUMER', 'AGENT', 'PMC']) expect((await accepts({ userType })).userType).toBe(userType);
    for (const userType of ['consumer', 'RENTER', ' PMC', 'toString'])
      expect(await refuses({ userType })).toBe('VALIDATION_ERROR userType');
  });
});

describe('the mail address and company', () => {
  it('are well formed, otherwise VALIDATION_INVALID_FIELD_FORMAT', async () => {
    for (const email of ['a@example.test', 'a.b+c@sub.example.com', ...REAL_WORLD.mail.taken])
      expect((await accepts({ email })).email).toBe(email);
    for (const email of [
      'a',
      'a@',
      '@b.test',
      'a b@c.test',
      'a@b',
      'a@@b.test',
      '\ud800@example.test',
      'a\ud800b@example.test',
      'a@exam\udc00ple.test',
      `${'a'.repeat(300)}@example.test`,
      ...REAL_WORLD.mail.refused,
    ]) {
      expect([email, await refuses({ email })]).toEqual([email, 'VALIDATION_INVALID_FIELD_FORMAT email']);
    }
    for (const companyName of ['a'.repeat(121), 'Acme\u0000', 'Ac\ud800me'])
      expect(await refuses({ companyName })).toBe('VALIDATION_INVALID_FIELD_FORMAT companyName');
  });
});

describe('several faults in a body', () => {
  it('are listed in body order, the first decides the code, and no message quotes a value', async () => {
    const { code, detail } = await refusedBody(
      SubmitBody,
      {
        ...VALID,
        userType: 'EVIL',
        termsAcceptedAt: 'EVIL',
        ssn: 'EVIL',
        phoneNumber: 'EVIL',
        lastName: 'EVIL7',
        dateOfBirth: '01012020',
        currentState: 'EVIL',
        firstName: undefined,
      },
      NOW,
    );
    expect([STRING_CODES.errors[code]?.code, detail.field]).toEqual(['VALIDATION_ERROR', 'firstName']);
    expect(detail.details?.map(({ field }) => field)).toEqual([
      'firstName',
      'lastName',
      'dateOfBirth',
      'ssn',
      'phoneNumber',
      'currentState',
      'termsAcceptedAt',
      'userType',
    ]);
    for (const { message } of detail.details ?? []) {
      expect(message).toMatch(/\S/);
      expect(message).not.toMatch(/EVIL|2020/);
    }
  });

  it('are listed once for each field, and a single fault is listed too', async () => {
    const { detail } = await refusedBody(SubmitBody, {}, NOW);
    expect(detail.details?.map(({ field }) => field)).toEqual(REQUIRED_STRINGS);
    expect((await refusedBody(SubmitBody, { ...VALID, currentZip: 'x' }, NOW)).detail.details).toEqual([
      { field: 'currentZip', message: 'must have five digits, or nine with or without a dash' },
    ]);
  });

  it('are listed at the first field in body order when a rule covers several fields', async () => {
    expect(await refuses({ ssn: undefined, currentZip: 'x' })).toBe('REPORT_MISSING_FIELD ssn');
    expect(await refuses({ ssn: undefined, firstName: '7' })).toBe('VALIDATION_INVALID_FIELD_FORMAT firstName');
    expect(await refuses({ dateOfBirth: '03022008', ssn: 'x' })).toBe('MINOR_CONSUMER dateOfBirth');
  });
});

describe('the applicant that is sent to the vendor', () => {
  it('has the data of the body in the terms of the vendor port', async () => {
    expect(applicantOf(await accepts({ ...OPTIONAL, jscPayload: 'js' }))).toEqual({
      userType: 'CONSUMER',
      firstName: 'Ada',
      middleName: 'Lovelace',
      lastName: 'Example',
      dateOfBirth: '04121990',
      ssn: '666123456',
      phoneNumber: '4155550134',
      phoneType: 'H',
      email: 'ada@example.test',
      companyName: 'Example & Sons, Inc.',
      address: { street: '1 Main Street, Apt. #4', city: 'San Francisco', state: 'CA', zip: '94105' },
      jscPayload: 'js',
      hdimPayload: 'hd-test',
      termsAcceptedAt: '2026-03-01T11:59:30.000Z',
    });
  });
});

describe('any body at all', () => {
  it('is accepted or refused, without an unexpected error', async () => {
    const fields = Object.keys({ ...VALID, ...OPTIONAL });
    const odd = fc.oneof(
      fc.anything(),
      fc.string({ unit: 'binary' }),
      fc.jsonValue(),
      fc.constantFrom('\ud800', '', ' ', '\u0000', '__proto__'),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          odd,
          fc.dictionary(fc.constantFrom(...fields), odd).map((wrong) => ({ ...VALID, ...wrong })),
        ),
        async (body) => {
          try {
            applicantOf(await read(body));
          } catch (error) {
            if (!(error instanceof DomainError)) throw error;
            expect(STRING_CODES.errors[error.code]?.status).toBeLessThan(500);
          }
        },
      ),
      { numRuns: 800 },
    );
  });
});
