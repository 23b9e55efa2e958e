// The frame's rules for the details equal the rules of POST /screening/submit. The tests check both sets of rules with
// the same samples.
import { describe, expect, it } from '@jest/globals';
import { BodyPipe } from '../../../src/platform/http/body-pipe.js';
import { SubmitBody } from '../../../src/modules/screening/http/platform/submit-body.js';
import { US_STATES as SERVED } from '../../../src/modules/screening/http/platform/us-states.js';
import type { FrameStart } from '../../../web/contract/messages.js';
import {
  bodyOf,
  isReachable,
  problemsOf,
  readPrefill,
  type Values,
  valuesFrom,
} from '../../../web/frame/steps/details/form.js';
import { readRefusal } from '../../../web/frame/steps/details/refused.js';
import {
  fieldsOf,
  normalized,
  problemOf,
  screenOf,
  SCREENS,
  type FieldName,
} from '../../../web/frame/steps/details/rules.js';
import { testPerson } from '../../../web/frame/steps/details/test-person.js';
import { folded, phoneDigits, zipCode } from '../../../web/frame/steps/details/folded.js';
import { US_STATES } from '../../../web/frame/steps/details/states.js';
import { REAL_WORLD } from '../../support/real-world.js';
import { clockOf } from '../../support/clock.js';

const NOW = new Date('2026-06-15T12:00:00Z');
/** The text that the person has read. */
const TERMS = { version: '1', language: 'en' } as const;

const GOOD: Values = {
  ...valuesFrom({}),
  firstName: 'Ana',
  lastName: 'Smith',
  dateOfBirth: '04121990',
  ssn: '666123456',
  phoneNumber: '(415) 555-0134',
  currentAddress: '1 Main St',
  currentCity: 'Oakland',
  currentState: 'CA',
  currentZip: '94105',
  terms: '2026-06-15T11:59:00.000Z',
};
const START = { userType: 'CONSUMER', unitAddress: '12 Elm Street', endUserType: null, productId: null } as FrameStart;

const SAMPLES: Partial<Record<FieldName, readonly string[]>> = {
  firstName: [
    'Ana',
    "O'Brien",
    'José',
    'Anne-Marie',
    'J. R.',
    'Łukasz',
    '7up',
    '-Ana',
    'Ana1',
    'A',
    'x'.repeat(60),
    'x'.repeat(61),
    'Ana\u0007',
    '王',
  ],
  lastName: ['Smith', 'D’Arcy', 'Smith3', '.', 'van der Berg'],
  middleName: ['', 'B', 'Upstream49', '4x', 'x'.repeat(61)],
  companyName: ['', 'Homes & Co.', 'x'.repeat(120), 'x'.repeat(121), 'a\nb'],
  ssn: ['666123456', '12345678', '1234567890', '66612345a'],
  phoneNumber: ['4155550134', '(415) 555-0134', '415-555-013', '0155550134', '1155550134', 'abc', '41555501345'],
  email: [
    '',
    'a@b.co',
    'a.b+c@example.com',
    'a@b',
    'a@b.c',
    '@b.co',
    'a@',
    'a b@c.com',
    'a..b@c.com',
    '.a@c.com',
    'a@-c.com',
    'a@c-.com',
    `${'x'.repeat(64)}@example.com`,
    `${'x'.repeat(65)}@example.com`,
    'josé@example.com',
    'a@exämple.com',
    'a@b.c0m',
    'a@example.com.',
    'a@@b.co',
    'a@b_c.com',
    'a"b@c.com',
    "o'brien@example.com",
  ],
  currentAddress: ['1 Main St', 'x'.repeat(120), 'x'.repeat(121), 'a\tb'],
  currentCity: ['Oakland', 'x'.repeat(61)],
  dateOfBirth: [
    '04121990',
    '02301990',
    '13011990',
    '02292000',
    '02291900',
    '06152008',
    '06162008',
    '06151906',
    '06141905',
    '06162026',
    '0412199',
    '01010001',
  ],
  currentState: ['CA', 'PR', 'AE', 'XX', 'ca'],
  currentZip: ['94105', '94105-1234', '941051234', '9410', '94105-', 'abcde'],
};

const pipe = new BodyPipe(clockOf(() => NOW));

/** The fields that the API refuses in a body. */
async function refusedFields(body: object): Promise<string[]> {
  try {
    await pipe.transform(body, { type: 'body', metatype: SubmitBody });
    return [];
  } catch (error) {
    return (error as any).detail.details.map(({ field }: { field: string }) => field);
  }
}

const sent = (field: FieldName, value: string) =>
  bodyOf({ ...GOOD, [field]: value }, { ...START, userType: field === 'companyName' ? 'PMC' : 'CONSUMER' }, TERMS, {
    jscPayload: 'fp-demo',
  });

describe('A field', () => {
  for (const [field, samples] of Object.entries(SAMPLES) as [FieldName, readonly string[]][])
    it.each(samples.map((sample) => [sample]))(
      `${field} %j is accepted exactly when the API accepts it`,
      async (sample) => {
        const isTaken = problemOf(field, normalized(field, sample), NOW) === null;
        expect(await refusedFields(sent(field, sample))).toEqual(isTaken ? [] : [field]);
      },
    );

  it.each(fieldsOf('CONSUMER').filter((field) => field !== 'terms'))(
    '%s is required exactly when the API requires it',
    async (field) => {
      const isTaken = problemOf(field, '', NOW) === null;
      expect(await refusedFields(sent(field, ''))).toEqual(isTaken ? [] : [field]);
    },
  );

  it('accepts the states that the API accepts', () => {
    expect(US_STATES.map(({ value }) => value).sort()).toEqual([...SERVED].sort());
  });
});

describe('Text as people write it', () => {
  it.each(REAL_WORLD.folded)('%j is simplified to %j', (given, written) => {
    expect(folded(given)).toBe(written);
    expect(folded(written)).toBe(written);
  });

  const { names, phones, states, zips, mail } = REAL_WORLD;
  const judged: readonly [FieldName, readonly string[], boolean][] = [
    ['lastName', names.taken, true],
    ['lastName', names.refused, false],
    ['phoneNumber', phones.taken.map(([given]) => given), true],
    ['phoneNumber', phones.refused.filter((phone) => !phone.startsWith('+4155')), false],
    ['currentState', states.taken, true],
    ['currentState', states.refused, false],
    ['currentZip', zips.taken.map(([given]) => given), true],
    ['currentZip', zips.refused, false],
    ['email', mail.taken, true],
  ];
  it.each(judged)('%s is accepted or refused as by the API', async (field, samples, isTaken) => {
    for (const sample of samples) {
      const written = { phoneNumber: phoneDigits, currentZip: zipCode }[field as string] ?? folded;
      const problem = problemOf(field, field === 'currentState' ? normalized(field, sample) : written(sample), NOW);
      expect([sample, problem === null]).toEqual([sample, isTaken]);
      expect(await refusedFields({ ...sent(field, sample), [field]: sample })).toEqual(isTaken ? [] : [field]);
    }
  });

  it('is sent in the form that the API stores', () => {
    expect(sent('lastName', ' \u2019t\u00a0Hooft\u200e')).toMatchObject({ lastName: "'t Hooft" });
    expect(sent('currentZip', ' 94105 1234')).toMatchObject({ currentZip: '94105-1234' });
    expect(sent('currentState', 'ca')).toMatchObject({ currentState: 'CA' });
    for (const email of ['\u200ba@example.com', 'a@exam\u200bple.com\u200f'])
      expect(sent('email', email)).toMatchObject({ email: 'a@example.com' });
  });

  it.each(['+1 (415) 555-0134', '1 415 555 0134', '+1415.555.0134', '\u202a+1 415-555-0134\u202c'])(
    'is sent without the country when it is a phone number: %j',
    (phone) => expect(sent('phoneNumber', phone)).toMatchObject({ phoneNumber: '4155550134' }),
  );

  it('in lower case from the page still selects the state', () => {
    expect(valuesFrom({ currentState: 'tx' }).currentState).toBe('TX');
  });
});

describe('A form', () => {
  it('without a fault makes a body that the API accepts, for every kind of user', async () => {
    for (const userType of ['CONSUMER', 'AGENT', 'PMC'] as const) {
      expect(problemsOf(GOOD, userType, NOW)).toEqual({});
      const body = bodyOf(GOOD, { ...START, userType }, TERMS, { jscPayload: 'fp-demo' });
      expect(await refusedFields(body)).toEqual([]);
      expect('ssn' in body).toBe(userType === 'CONSUMER');
    }
  });

  it('opens at a field if all screens before it are complete', () => {
    const later = { ...GOOD, ssn: '', phoneNumber: '', currentZip: '', terms: '' };
    expect(isReachable('phoneNumber', later, 'CONSUMER', NOW)).toBe(true);
    expect(isReachable('phoneNumber', { ...later, lastName: '' }, 'CONSUMER', NOW)).toBe(false);
    expect(isReachable('currentZip', later, 'CONSUMER', NOW)).toBe(false);
  });

  it('is not complete before the terms are accepted', () => {
    expect(problemsOf({ ...GOOD, terms: '' }, 'CONSUMER', NOW)).toEqual({ terms: 'required' });
  });

  it('sends the digits of a phone number, without the country', () => {
    expect(sent('phoneNumber', '+1 (415) 555-0134')).toMatchObject({ phoneNumber: '4155550134' });
  });

  it('accepts valid prefilled values from the page, and names the invalid fields without their values', () => {
    expect(readPrefill({ firstName: 'Ana', currentZip: 'x', dateOfBirth: '13011990', email: 'a@b.co' }, NOW)).toEqual({
      valid: { firstName: 'Ana', email: 'a@b.co' },
      invalid: ['currentZip', 'dateOfBirth'],
    });
  });
});

describe('The screens', () => {
  it.each(['CONSUMER', 'AGENT', 'PMC'] as const)('of %s follow the order of the fields', (userType) => {
    const screens = fieldsOf(userType).map(screenOf);
    expect(screens.filter((screen, at) => screen !== screens[at - 1])).toEqual(SCREENS);
  });
});

describe('A test person', () => {
  it.each(['CONSUMER', 'AGENT', 'PMC'] as const)('of %s completes the details', async (userType) => {
    const values = testPerson(valuesFrom({}), userType, NOW, 0.5);
    expect(problemsOf(values, userType, NOW)).toEqual({});
    expect(await refusedFields(bodyOf(values, { ...START, userType }, TERMS, { jscPayload: 'fp-demo' }))).toEqual([]);
  });

  it('keeps valid values and replaces invalid ones', () => {
    const typed = { ...valuesFrom({ lastName: 'Otptest', email: 'a@b.co' }), currentZip: '12', middleName: 'Bea' };
    expect(testPerson(typed, 'CONSUMER', NOW, 0)).toMatchObject({
      firstName: 'Robin',
      middleName: 'Bea',
      lastName: 'Otptest',
      email: 'a@b.co',
      currentZip: '78702',
    });
  });

  it('has another SSN each time, and always the same good score in the sandbox', () => {
    const numbers = [0, 0.25, 0.999_999].map((random) => testPerson(valuesFrom({}), 'CONSUMER', NOW, random).ssn);
    expect(new Set(numbers).size).toBe(3);
    for (const ssn of numbers) {
      expect(ssn).toMatch(/^666\d{6}$/);
      expect(300 + (Number(ssn) % 551)).toBe(745);
    }
  });
});

describe('A refusal by the API', () => {
  const refusal = (code: string, more: object = {}) => readRefusal({ code, message: '', recoverable: true, ...more });

  it.each([
    ['INVALID_SSN', 'ssn', 'ssnProblem'],
    ['REPORT_MISSING_FIELD', 'ssn', 'ssnProblem'],
    ['INVALID_DOB', 'dateOfBirth', 'date'],
    ['MINOR_CONSUMER', 'dateOfBirth', 'minor'],
    ['INVALID_ADDRESS', 'currentAddress', 'addressRefused'],
  ])('%s is shown at %s, with or without the name of the field in the error', (code, field, text) => {
    expect(refusal(code).fields).toEqual({ [field]: text });
    expect(refusal(code, { field }).fields).toEqual({ [field]: text });
  });

  it('is shown at every field of its details, with a text of its own for each', () => {
    const details = ['dateOfBirth', 'currentZip', 'termsAcceptedAt', 'jscPayload'].map((field) => ({
      field,
      message: '',
    }));
    expect(refusal('MINOR_CONSUMER', { field: 'dateOfBirth', details }).fields).toEqual({
      dateOfBirth: 'minor',
      currentZip: 'zip',
      terms: 'clock',
    });
  });

  it.each([
    'ALREADY_REGISTERED',
    'USER_BLOCKED',
    'IDENTITY_NOT_FOUND',
    'PRODUCT_NOT_ENABLED',
    'ACCOUNT_NOT_PROVISIONED',
  ])('%s ends the form', (code) => expect(refusal(code)).toMatchObject({ isFinal: true, fields: {} }));

  it("names the option and no field when the page's option was wrong", () => {
    expect(refusal('VALIDATION_ERROR', { field: 'endUserType' })).toEqual({
      fields: {},
      isFinal: false,
      option: 'endUserType',
    });
  });
});
