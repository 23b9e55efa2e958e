import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { derivedId, newId } from '../../../src/kernel/ids.js';
import { createLog, describeError, masked } from '../../../src/platform/observability/log.js';

const digits = (min: number, max = min): fc.Arbitrary<string> =>
  fc.array(fc.integer({ min: 0, max: 9 }), { minLength: min, maxLength: max }).map((all) => all.join(''));
const day = fc.tuple(
  fc.integer({ min: 1920, max: 2010 }),
  fc.integer({ min: 1, max: 12 }),
  fc.integer({ min: 1, max: 28 }),
);
const two = (number: number): string => String(number).padStart(2, '0');

const personal: Readonly<Record<string, fc.Arbitrary<string>>> = {
  'a social security number': fc
    .tuple(digits(3), digits(2), digits(4), fc.constantFrom('', '-', ' ', '.'))
    .map(([a, b, c, separator]) => [a, b, c].join(separator)),
  'a telephone number': fc
    .tuple(digits(3), digits(3), digits(4), fc.constantFrom('', '+1 ', '+1', '1-'))
    .chain(([a, b, c, country]) =>
      fc.constantFrom(
        `${country}${a}${b}${c}`,
        `${country}(${a}) ${b}-${c}`,
        `${country}${a}-${b}-${c}`,
        `${country}${a}.${b}.${c}`,
        `${country}${a} ${b} ${c}`,
      ),
    ),
  'a date of birth': day.chain(([y, m, d]) =>
    fc.constantFrom(
      `${two(m)}${two(d)}${y}`,
      `${y}${two(m)}${two(d)}`,
      `${y}-${two(m)}-${two(d)}`,
      `${two(m)}/${two(d)}/${y}`,
      `${m}/${d}/${y}`,
      `${d}.${m}.${y}`,
      `${m}/${d}/${y % 100}`,
      `${y}-${two(m)}-${two(d)}T00:00:00.000Z`,
    ),
  ),
  'a card number': digits(13, 19).chain((card) =>
    fc.constantFrom(card, card.replace(/(.{4})(?=.)/g, '$1 '), card.replace(/(.{4})(?=.)/g, '$1-')),
  ),
  'a one-time code': digits(4, 8),
};

const harmless: Readonly<Record<string, fc.Arbitrary<string>>> = {
  'an id': fc
    .tuple(fc.constantFrom('', 'screening_session-', 'evt_', 'Report '), fc.nat())
    .chain(([prefix, seed]) => fc.constantFrom(prefix + newId(), prefix + derivedId(String(seed)))),
  'a position of the log': fc.nat(1e12).map((position) => String(position).padStart(20, '0')),
  sizes: fc.tuple(fc.nat(1e12), fc.nat(1e12)).map(([used, total]) => `${used} of ${total} bytes`),
  'a time': fc.nat(1e7).map((ms) => `${ms} ms`),
  'an address': fc.tuple(fc.ipV4(), fc.integer({ min: 1, max: 65_535 })).map(([address, port]) => `${address}:${port}`),
  'an id of the processor': fc.stringMatching(/^(pi|cs|ch|re|req|evt)_([0-9a-zA-Z]{5}[a-zA-Z]){3,5}$/),
};

/** Text that the message of a library may have around the value. */
const before = fc.constantFrom(
  '',
  'value ',
  'Invalid ssn "',
  'ssn=',
  'x',
  'phone:',
  '{"dateOfBirth":"',
  'status 12, ',
  '(',
  'code_',
  'é',
  'pi_',
  'a-',
);
const after = fc.constantFrom('', '"', ' is not valid', ',', 'x', ')', '.', ' of', '\n');
const DIGIT_LEFT = /\d{2,}/;

describe('errors in the log', () => {
  for (const [what, values] of Object.entries(personal)) {
    it(`never show ${what}`, () => {
      fc.assert(
        fc.property(before, values, after, (start, value, end) => {
          // The time of a full date may stay, because it is midnight.
          const left = masked(start + value + end)
            .replace('status 12, ', '')
            .replace('T00:00:00.000Z', '');
          expect(left).not.toMatch(DIGIT_LEFT);
        }),
        { numRuns: 500 },
      );
    });
  }

  for (const [what, values] of Object.entries(harmless)) {
    it(`show ${what} unchanged`, () => {
      fc.assert(
        fc.property(
          fc.constantFrom('', 'lost at ', '7, ', '"'),
          values,
          fc.constantFrom('', ' is missing', '"', ', 3 of them'),
          (start, value, end) => {
            expect(masked(start + value + end)).toBe(start + value + end);
          },
        ),
        { numRuns: 500 },
      );
    });
  }

  it('have a type, a message and a cause, with personal data masked', () => {
    const cause = new RangeError('987-01-3377 is taken');
    const id = newId();
    expect(
      describeError(new Error(`Report ${id} was not stored: 61866147840 of 68719476736 bytes used`, { cause })),
    ).toMatchObject({
      type: 'Error',
      message: `Report ${id} was not stored: 61866147840 of 68719476736 bytes used`,
      cause: { type: 'RangeError', message: '# is taken' },
    });
  });
});

describe('the log', () => {
  it('redacts keys and personal fields by their names', () => {
    const lines: string[] = [];
    const log = createLog('info', 'api', { write: (line: string) => void lines.push(line) });
    const secrets = {
      'x-api-key': 'canary',
      'x-secret-key': 'canary',
      'x-session-token': 'canary',
      authorization: 'canary',
    };
    const personal = {
      UserToken: 'canary',
      unitAddress: 'canary',
      ipAddress: 'canary',
      kbaAnswers: 'canary',
      apiKey: 'canary',
    };
    log.info({
      ...secrets,
      ...personal,
      headers: secrets,
      body: personal,
      request: { headers: secrets, body: personal },
    });
    expect(lines.join('')).toContain('[redacted]');
    expect(lines.join('')).not.toContain('canary');
  });
});
