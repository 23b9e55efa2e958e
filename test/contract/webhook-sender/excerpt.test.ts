// What is kept of a receiver's answer.
import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { excerptOf } from '../../../src/adapters/webhook-sender/excerpt.js';

function excerpt(text: string, cut = false): string | null {
  return excerptOf(Buffer.from(text), cut);
}

const HEX = randomBytes(32).toString('hex');
const BASE64 = randomBytes(32).toString('base64');
const BASE64URL = randomBytes(32).toString('base64url');

describe('an excerpt shows', () => {
  test.each(['received', '{"ok":true}', '{"error":"invalid signature","status":401}', '<html><h1>502 Bad Gateway</h1></html>', 'Unauthorized', 'Grüße, 世界 🎉', 'evt_1 is a duplicate'])('%s', (text) => {
    expect(excerpt(text)).toBe(text);
  });

  test('nothing of nothing', () => {
    expect(excerpt('')).toBeNull();
  });
});

describe('an excerpt masks', () => {
  test.each([
    ['a signing secret', `the secret whsec_${BASE64} is wrong`, 'the secret *** is wrong'],
    ['a short signing secret', 'for whsec_abc=', 'for ***'],
    ['a secret key', 'with sk_live_abc123', 'with ***'],
    ['a publishable key', 'with pk_test_abc-123, sorry', 'with ***, sorry'],
    ['a key of another vendor', 'with rk_abc', 'with ***'],
    ['a client secret', 'pi_3abc_secret_def failed', '*** failed'],
    ['a bearer token', 'Authorization was Bearer abc.def', 'Authorization was ***'],
    ['basic credentials', 'got Basic dXNlcjpwYXNz', 'got ***'],
    ['a JSON Web Token', 'got eyJhbGciOiJI.eyJzdWIi.sig-_x', 'got ***'],
    ['hexadecimal', `key ${HEX}.`, 'key ***.'],
    ['base64', `key ${BASE64}.`, 'key ***.'],
    ['base64url', `key ${BASE64URL}.`, 'key ***.'],
    ['a signature', `expected v1,${BASE64}`, 'expected v1,***'],
    ['a named value in JSON', '{"api_key":"hunter 2","ok":false}', '{"api_key":***,"ok":false}'],
    ['a named value in quoted JSON', '{\\"password\\":\\"hunter\\"}', '{\\"password\\":***}'],
    ['a named value in a form', 'a=b&client_secret=hunter2&c=d', 'a=b&client_secret=***&c=d'],
    ['a header', 'X-Auth-Token: hunter2', 'X-Auth-Token: ***'],
    ['a social security number', 'ssn 123-45-6789 and 123456789', 'ssn *** and ***'],
    ['a card number', 'card 4242 4242 4242 4242', 'card ***'],
    ['a mail address', 'tell jane.doe+x@mail.example.com', 'tell ***'],
    ['a secret with control characters in it', 'whsec_ab\u0000cd\u200bef', '***'],
  ])('%s', (_, text, shown) => {
    expect(excerpt(text)).toBe(shown);
  });

  test('the beginning of a secret where the answer was cut, and no whole word', () => {
    expect(excerpt('the key is 0123456789', true)).toBe('the key is ***');
    expect(excerpt('the key is unknown', true)).toBe('the key is unknown');
    expect(excerpt('the key is 0123456789', false)).toBe('the key is 0123456789');
  });
});

test('control and formatting characters are gone, line breaks are spaces', () => {
  expect(excerpt('a\r\n\tb\u0000\u001b[31mc\u007f\u0085d\u2028e\u202ef\ufeffg')).toBe('a b[31mc d efg');
});

test('bytes that are no text do no harm', () => {
  const shown = excerptOf(randomBytes(4_096), true);
  expect(shown!.length).toBeLessThanOrEqual(4_096);
  expect(shown).not.toMatch(/\p{Cc}/u);
});

test('is never longer than 4,096 characters and never ends in half a character', () => {
  expect(excerpt('ab '.repeat(2_000))).toHaveLength(4_096);
  // Masks that are longer than what they hide.
  const masked = excerpt('token=a&'.repeat(512));
  expect(masked).toHaveLength(4_096);
  expect(excerpt('🎉'.repeat(1_500))).not.toMatch(/[\ud800-\udbff]$/);
});

test.each<[string, string]>([
  ['names of secrets', 'token'.repeat(820)],
  ['names and spaces', 'secret = '.repeat(455)],
  ['dots', '.'.repeat(4_096)],
  ['signs', '@.'.repeat(2_048)],
  ['digits', '1 '.repeat(2_048)],
  ['quotes', '"token":"\\'.repeat(400)],
  ['pieces of tokens', 'eyJ.'.repeat(1_024)],
  ['underscores', 'a_secret'.repeat(512)],
])('a hostile answer of %s costs no time', (_, text) => {
  const startedAt = performance.now();
  excerpt(text, true);
  expect(performance.now() - startedAt).toBeLessThan(250);
});
