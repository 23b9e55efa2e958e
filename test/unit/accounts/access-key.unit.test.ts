import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fold } from '../../../src/kernel/decider.js';
import { newId } from '../../../src/kernel/ids.js';
import { DomainError } from '../../../src/kernel/domain-error.js';
import {
  accessKey,
  allowsOrigin,
  type AccessKeyCommand,
  type AccessKeyEvent,
  type KeyUse,
} from '../../../src/modules/accounts/domain/access-key.js';
import { embeddableBy } from '../../../src/surfaces/embedded/content-security-policy.js';
import { hashKey, isKey, keyIdIn, writeKey } from '../../../src/modules/accounts/domain/key-text.js';

const ACCOUNT = '0190a6d0-0000-7000-8000-000000000001';
const PUBLISHABLE: KeyUse = { kind: 'publishable', allowedOrigins: ['https://app.example.test'], perMinute: null };

function issued(use: KeyUse = PUBLISHABLE, environment: 'live' | 'test' = 'test'): AccessKeyEvent {
  return { type: 'AccessKeyIssued', data: { accountId: ACCOUNT, environment, use, keyHash: 'hash' } };
}

function issue(use: KeyUse, environment: 'live' | 'test' = 'test'): AccessKeyCommand {
  return { kind: 'issue', accountId: ACCOUNT, environment, use, keyHash: 'hash' };
}

function given(...events: AccessKeyEvent[]) {
  return {
    when: (command: AccessKeyCommand) => accessKey.decide(command, fold(accessKey, events)),
    state: () => fold(accessKey, events),
  };
}

function refusal(decide: () => unknown): DomainError {
  try {
    decide();
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
  throw new Error('Nothing was refused');
}

describe('an access key', () => {
  it.each<[string, KeyUse]>([
    ['publishable', PUBLISHABLE],
    ['secret', { kind: 'secret' }],
    ['API', { kind: 'api', clientClass: 'partner' }],
  ])('is issued as a %s key', (_, use) => {
    expect(given().when(issue(use))).toEqual([issued(use)]);
    expect(given(issued(use)).state()).toEqual({
      status: 'active',
      accountId: ACCOUNT,
      environment: 'test',
      use,
      keyHash: 'hash',
    });
  });

  it('is issued only once', () => {
    expect(refusal(() => given(issued()).when(issue(PUBLISHABLE))).code).toBe('request.invalid');
  });

  it('keeps its origins as browsers send them, each origin once', () => {
    const [event] = given().when(
      issue({
        kind: 'publishable',
        allowedOrigins: ['HTTPS://App.Example.Test:443/', 'https://app.example.test', 'http://localhost:5173'],
        perMinute: 3,
      }),
    );
    expect(event?.data).toMatchObject({
      use: { allowedOrigins: ['https://app.example.test', 'http://localhost:5173'], perMinute: 3 },
    });
  });

  it.each([
    'app.example.test',
    'https://app.example.test/path',
    'https://app.example.test?x',
    'https://u:p@app.example.test',
    'ftp://app.example.test',
    'null',
    '*',
    'https://',
    'https://*',
    'https://*.example.test',
    'https://app.*.test',
    "'self'",
    "https://'unsafe-inline'",
    'https://app.example.test;script-src',
    "https://app.example.test,'unsafe-inline'",
    'https://[2001:db8::1]',
    'http://[::1]:3000',
    'https://a..b.test',
  ])('refuses the origin %s', (origin) => {
    expect(
      refusal(() => given().when(issue({ kind: 'publishable', allowedOrigins: [origin], perMinute: null }))),
    ).toMatchObject({ detail: { field: 'origins' } });
    expect(refusal(() => given(issued()).when({ kind: 'allow-origins', allowedOrigins: [origin] }))).toMatchObject({
      detail: { field: 'origins' },
    });
  });

  it.each([
    'https://xn--bcher-kva.example',
    'https://B\u00fccher.example',
    'http://127.0.0.1:8080',
    'https://my_host.test.',
  ])('accepts the origin %s, which a content security policy can name', (origin) => {
    const [event] = given().when(issue({ kind: 'publishable', allowedOrigins: [origin], perMinute: null }));
    const { use } = (event as Extract<AccessKeyEvent, { type: 'AccessKeyIssued' }>).data;
    const allowedOrigins = use.kind === 'publishable' ? use.allowedOrigins : [];
    expect(embeddableBy({ environment: 'test', allowedOrigins })).toEqual([new URL(origin).origin]);
  });

  it('keeps an origin that an earlier version stored, although no page can have this origin', () => {
    const before = { type: 'OriginsAllowed', data: { allowedOrigins: ['https://*.example.test'] } } as const;
    expect(given(issued(), before).state()).toMatchObject({ use: { allowedOrigins: ['https://*.example.test'] } });
    expect(given(issued(), before).when({ kind: 'limit-exchanges', perMinute: 9 })).toHaveLength(1);
  });

  it('refuses a publishable key without origins, and a live one with plain HTTP', () => {
    const withOrigins = (...allowedOrigins: string[]): KeyUse => ({
      kind: 'publishable',
      allowedOrigins,
      perMinute: null,
    });
    expect(refusal(() => given().when(issue(withOrigins()))).code).toBe('request.invalid');
    expect(refusal(() => given().when(issue(withOrigins('http://localhost:5173'), 'live'))).code).toBe(
      'request.invalid',
    );
    expect(given().when(issue(withOrigins('http://localhost:5173'), 'test'))).toHaveLength(1);
  });

  it('may get other origins and another limit; the text of the key does not change', () => {
    const events = given(issued()).when({ kind: 'allow-origins', allowedOrigins: ['https://other.example.test'] });
    expect(events).toEqual([{ type: 'OriginsAllowed', data: { allowedOrigins: ['https://other.example.test'] } }]);
    const limited = given(issued()).when({ kind: 'limit-exchanges', perMinute: 5 });
    expect(limited).toEqual([{ type: 'ExchangeLimitSet', data: { perMinute: 5 } }]);
    expect(given(issued(), ...events, ...limited).state()).toMatchObject({
      use: { allowedOrigins: ['https://other.example.test'], perMinute: 5 },
    });
  });

  it('changes nothing when the origins and the limit are the present ones', () => {
    expect(given(issued()).when({ kind: 'allow-origins', allowedOrigins: ['https://app.example.test'] })).toEqual([]);
    expect(given(issued()).when({ kind: 'limit-exchanges', perMinute: null })).toEqual([]);
  });

  it('has no origins when it is a secret key', () => {
    expect(
      refusal(() =>
        given(issued({ kind: 'secret' })).when({ kind: 'allow-origins', allowedOrigins: ['https://a.test'] }),
      ).code,
    ).toBe('request.invalid');
    expect(refusal(() => given(issued({ kind: 'secret' })).when({ kind: 'limit-exchanges', perMinute: 5 })).code).toBe(
      'request.invalid',
    );
  });

  it('is deactivated permanently', () => {
    expect(given(issued()).when({ kind: 'deactivate' })).toEqual([{ type: 'AccessKeyDeactivated', data: {} }]);
    const gone: AccessKeyEvent[] = [issued(), { type: 'AccessKeyDeactivated', data: {} }];
    expect(given(...gone).state()).toMatchObject({ status: 'inactive' });
    expect(given(...gone).when({ kind: 'deactivate' })).toEqual([]);
  });

  it.each<AccessKeyCommand>([
    { kind: 'deactivate' },
    { kind: 'allow-origins', allowedOrigins: ['https://a.test'] },
    { kind: 'limit-exchanges', perMinute: 1 },
  ])('that was never issued is not found by the command $kind', (command) => {
    expect(refusal(() => given().when(command)).code).toBe('request.not_found');
  });
});

describe('the origin of a page', () => {
  const key = { environment: 'test', allowedOrigins: ['https://app.example.test', 'http://localhost:5173'] } as const;

  it.each(['https://app.example.test', 'http://localhost:5173'])('%s may use the test key', (origin) => {
    expect(allowsOrigin(key, origin)).toBe(true);
  });

  it.each([
    'http://app.example.test',
    'https://app.example.test:8443',
    'https://app.example.test/',
    'https://sub.app.example.test',
    'https://app.example.test.evil.test',
    'https://localhost:5173',
    'http://localhost',
    'http://localhost:5174',
    'null',
    '',
  ])('%j may not use the key', (origin) => {
    expect(allowsOrigin(key, origin)).toBe(false);
  });

  it('never allows null or plain HTTP for a live key, even when its stored list names them', () => {
    const live = {
      environment: 'live',
      allowedOrigins: ['http://localhost:5173', 'null', 'https://app.example.test'],
    } as const;
    expect(allowsOrigin(live, 'http://localhost:5173')).toBe(false);
    expect(allowsOrigin(live, 'null')).toBe(false);
    expect(allowsOrigin(live, 'https://app.example.test')).toBe(true);
    expect(allowsOrigin({ environment: 'test', allowedOrigins: ['null'] }, 'null')).toBe(false);
  });
});

describe('the text of a key', () => {
  it("carries the key's id, has the documented form and matches its own hash", () => {
    fc.assert(
      fc.property(
        fc.constantFrom('publishable', 'secret', 'api', 'grant'),
        fc.constantFrom('live', 'test'),
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        (kind, environment, secret) => {
          const id = newId();
          const text = writeKey(kind, environment, id, secret);
          const prefix = { publishable: 'pk', secret: 'sk', api: 'ak', grant: 'sgt' }[kind];
          expect(text).toMatch(new RegExp(`^${prefix}_${environment}_[A-Za-z0-9_-]{16,}$`));
          expect(keyIdIn(kind, text)).toBe(id);
          expect(isKey(text, hashKey(text))).toBe(true);
        },
      ),
    );
  });

  it('matches neither a key in which a character or the environment differs, nor a missing hash', () => {
    const text = writeKey('secret', 'test', newId(), randomBytes(32));
    const hash = hashKey(text);
    expect(isKey(`${text.slice(0, -1)}${text.endsWith('A') ? 'B' : 'A'}`, hash)).toBe(false);
    expect(isKey(text.replace('sk_test', 'sk_live'), hash)).toBe(false);
    expect(isKey(text, null)).toBe(false);
  });

  it.each([
    '',
    'pk_test_',
    'pk_test_short',
    'pk_prod_AAAAAAAAAAAAAAAAAAAAAAAA',
    'sk_test_AAAAAAAAAAAAAAAAAAAAAAAAAA',
    `pk_test_${'A'.repeat(129)}`,
    'pk_test_AAAAAAAAAAAAAAAA',
  ])('gives an id that no key has when it is malformed: %j', (text) => {
    expect(keyIdIn('publishable', text)).toBe('00000000-0000-0000-0000-000000000000');
  });
});
