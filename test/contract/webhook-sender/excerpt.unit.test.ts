// The kept part of a receiver's answer.
import { createHash, randomBytes, randomInt } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { excerptOf } from '../../../src/adapters/webhook-sender/excerpt.js';
import { processorMs } from '../../support/measuring.js';

function excerpt(text: string, cut = false): string | null {
  return excerptOf(Buffer.from(text), cut);
}

const KEY = createHash('sha256').update('a key').digest();
const HEX = KEY.toString('hex');
const BASE64 = KEY.toString('base64');
const BASE64URL = KEY.toString('base64url');

describe("an excerpt of a receiver's answer shows", () => {
  test.each([
    'received',
    '{"ok":true}',
    '{"error":"invalid signature","status":401}',
    '<html><h1>502 Bad Gateway</h1></html>',
    'Unauthorized',
    'Grüße, 世界 🎉',
    'evt_1 is a duplicate',
  ])('%s', (text) => {
    expect(excerpt(text)).toBe(text);
  });

  test.each([
    ['one character many times', 'a'.repeat(32)],
    ['a few characters many times', 'Ab1'.repeat(20)],
    ['a UUID', 'no 0190a6d0-0000-7000-8000-000000000001, sorry'],
    ['an event id', '{"id":"evt_00000000-0000-4000-8000-000000000001"}'],
    [
      'UUIDs in a path',
      '/v1/deliveries/dlv_6f1c2b9e-8d3a-4c57-9b1e-2f0a7d4c8e13/txn_B7E0A4D2-1C35-4F68-8A9B-0D1E2F3A4B5C',
    ],
    ['a path', 'at next (/usr/lib/node_modules/express/lib/router/index.js:144:13)'],
    ['a path with versions and platforms', '/opt/python3/lib/x86_64-linux-gnu/site-packages/cp312/base64'],
    ['a long name in camel case', 'java.lang.AbstractSingletonProxyFactoryBeanException'],
    ['words joined', 'the-signature-was-computed-over-another_body_than_this'],
    ['numbers', 'port 8443, 1200 of 35000 in 2025, at 1763717485 and 1763717485123, 2025-11-21T09:31:25.123Z'],
    ['a URL', 'see https://hooks.example.com:8443/a@b?c=d'],
    ['a year and a place of birth', 'birth: required, birthplace: Graz, born 1988'],
  ])('%s', (_, text) => {
    expect(excerpt(text)).toBe(text);
  });

  test('a long answer up to 4,096 characters, even if it varies little', () => {
    for (const piece of ['x', '0', 'abc', '0123456789', '/usr/lib/modules']) {
      expect(excerpt(piece.repeat(5_000), true)).toBe(piece.repeat(5_000).slice(0, 4_096));
    }
    // The hidden part at the end is at most as long as the beginning of a secret.
    const path = '/opt/python3/lib/x86/quux/handy/jumps/fog'.repeat(5_000);
    expect(excerpt(path, true)).toBe(`${path.slice(0, 4_096 - 64)}***`);
  });

  test('nothing of an empty answer', () => {
    expect(excerpt('')).toBeNull();
  });
});

describe("an excerpt of a receiver's answer masks", () => {
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
    ['a bearer token in its header', 'Authorization: Bearer hunter2-abc, sorry', 'Authorization: ***, sorry'],
    ['basic credentials in their header', 'Authorization: Basic dXNlcjpwYXNz', 'Authorization: ***'],
    [
      'a token of another scheme in a header of JSON',
      '{"authorization":"Token hunter2","a":1}',
      '{"authorization":***,"a":1}',
    ],
    [
      'user and password in a URL',
      'no postgres://user:p@w@db.example.com:5432/x',
      'no postgres://***@db.example.com:5432/x',
    ],
    ['a user in a URL', 'redis://hunter2@cache', 'redis://***@cache'],
    ['tokens of a code host', 'ghp_16C7e42F gho_16C7e42F github_pat_11AB_cd', '*** *** ***'],
    ['tokens of a chat', 'xoxb-123-abc xoxp-1-2', '*** ***'],
    ['ids of access keys', 'AKIAIOSFODNN7EXAMPLE and ASIAIOSFODNN7EXAMPLE', '*** and ***'],
    ['an access key with slashes', 'key wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY', 'key ***'],
    ['base32 with one number in it', 'key JBSWYADPEHPKPXPRST34VWXYZABCDEFG', 'key ***'],
    ['a key in a path', 'at /v1/invitations/accept/q3ZkT0vW8yLrB1nXeJdUa5HsGf7CmP2i', 'at ***'],
    ['hexadecimal', `key ${HEX}.`, 'key ***.'],
    ['base64', `key ${BASE64}.`, 'key ***.'],
    ['base64url', `key ${BASE64URL}.`, 'key ***.'],
    ['a signature', `expected v1,${BASE64}`, 'expected v1,***'],
    ['a named value in JSON', '{"api_key":"hunter 2","ok":false}', '{"api_key":***,"ok":false}'],
    ['a named value in quoted JSON', '{\\"password\\":\\"hunter\\"}', '{\\"password\\":***}'],
    ['a named value in a form', 'a=b&client_secret=hunter2&c=d', 'a=b&client_secret=***&c=d'],
    ['a header', 'X-Auth-Token: hunter2', 'X-Auth-Token: ***'],
    ['a social security number', 'ssn 123-45-6789 and 123456789', 'ssn *** and ***'],
    [
      'telephone numbers',
      '(512) 555-0143, 512-555-0143, 512.555.0143, +1 512 555 0143, +15125550143, 1-512-555-0143.',
      '***, ***, ***, ***, ***, ***.',
    ],
    [
      'dates of birth',
      'dob 1988-04-15, {"birthDate":"1988-04-15"} date_of_birth: 04/15/1988 born on April 15, 1988',
      'dob ***, {"birthDate":"***"} date_of_birth: *** born on ***',
    ],
    ['a card number', 'card 4242 4242 4242 4242', 'card ***'],
    ['a mail address', 'tell jane.doe+x@mail.example.com', 'tell ***'],
    ['a secret with control characters in it', 'whsec_ab\u0000cd\u200bef', '***'],
  ])('%s', (_, text, shown) => {
    expect(excerpt(text)).toBe(shown);
  });

  test('the beginning of a secret that was cut off with the answer, but no whole word', () => {
    expect(excerpt('the key is 0123456789', true)).toBe('the key is ***');
    expect(excerpt('the key is unknown', true)).toBe('the key is unknown');
    expect(excerpt('the key is 0123456789', false)).toBe('the key is 0123456789');
    expect(excerpt('the service is unavailable', true)).toBe('the service is unavailable');
    expect(excerpt('at /usr/lib/node_modules/express', true)).toBe('at /usr/lib/node_modules/express');
    expect(excerpt('id evt_0190a6d0-0000-7000-80', true)).toBe('id evt_0190a6d0-0000-7000-80');
    for (const key of [HEX, BASE64, BASE64URL]) {
      for (let length = 16; length < key.length; length += 1) {
        expect(excerpt(`the key is ${key.slice(0, length)}`, true)).toBe('the key is ***');
        expect(excerpt(`${'x'.repeat(99)} ${key.slice(0, length)}`, true)).toBe(`${'x'.repeat(99)} ***`);
      }
    }
    expect(excerpt('call (512) 555-01', true)).toBe('call ***');
    expect(excerpt('card 4242 4242 42', true)).toBe('card ***');
    expect(excerpt('tell jane@exam', true)).toBe('tell ***');
    expect(excerpt('no postgres://user:pa', true)).toBe('no postgres://***');
    expect(excerpt('no https://host:84', true)).toBe('no https://host:84');
  });

  const LOWER = 'abcdefghijklmnopqrstuvwxyz';
  const UPPER = LOWER.toUpperCase();
  const DIGITS = '0123456789';
  const BASE32 = `${UPPER}234567`;
  const from = (alphabet: string, length: number): string =>
    Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('');
  const groups = (alphabet: string, count: number, length: number, by = '-'): string =>
    Array.from({ length: count }, () => from(alphabet, length)).join(by);

  test.each<[what: string, key: () => string]>([
    ['hexadecimal', () => randomBytes(32).toString('hex')],
    ['base64', () => randomBytes(32).toString('base64')],
    ['base64url', () => randomBytes(32).toString('base64url')],
    ['base64url of 24 bytes', () => randomBytes(24).toString('base64url')],
    ['small letters', () => from(LOWER, 32)],
    ['capitals', () => from(UPPER, 40)],
    ['letters', () => from(LOWER + UPPER, 32)],
    ['digits', () => from(DIGITS, 40)],
    ['base32 in eight groups', () => groups(BASE32, 8, 4)],
    ['base32 in seven groups', () => groups(BASE32, 7, 5)],
    ['hexadecimal in groups', () => groups('0123456789abcdef', 8, 4, '_')],
    ['base36 in eight groups', () => groups(LOWER + DIGITS, 8, 4)],
    ['base36 in four groups', () => groups(LOWER + DIGITS, 4, 8)],
    ['base62 in groups', () => groups(LOWER + UPPER + DIGITS, 8, 4)],
  ])('keys of %s, in at least 97 of 100 texts', (_, key) => {
    const shown = Array.from({ length: 1_000 }, () => excerpt(`key ${key()} end`)).filter(
      (text) => text !== 'key *** end',
    );
    expect(shown.length).toBeLessThan(30);
  });
});

test('control and formatting characters are removed, and line breaks become spaces', () => {
  expect(excerpt('a\r\n\tb\u0000\u001b[31mc\u007f\u0085d\u2028e\u202ef\ufeffg')).toBe('a b[31mc d efg');
});

test('bytes that are not text do no harm', () => {
  const shown = excerptOf(randomBytes(4_096), true);
  expect(shown!.length).toBeLessThanOrEqual(4_096);
  expect(shown).not.toMatch(/\p{Cc}/u);
});

test('an excerpt is never longer than 4,096 characters and never ends with half of a character', () => {
  expect(excerpt('ab '.repeat(2_000))).toHaveLength(4_096);
  // These masks are longer than the text that they hide.
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
  ['capitals', 'aB'.repeat(2_048)],
  ['letters and digits', 'abcdefghij1'.repeat(373)],
  ['pieces of UUIDs', '0190a6d0-0000-'.repeat(293)],
  ['schemes', '://a:'.repeat(820)],
  ['births', 'birth '.repeat(683)],
  ['telephone numbers', '512-555-014'.repeat(373)],
])('a hostile answer of %s takes no noticeable time', (_, text) => {
  expect(processorMs(() => excerpt(text, true))).toBeLessThan(250);
});
