// The signature of deliveries, compared with the published example of Standard Webhooks and its reference library.
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { secretText, signatureOf } from '../../../src/modules/webhooks/domain/signature.js';

const EXAMPLE = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  timestamp: 1_614_265_330,
  body: '{"test": 2432232314}',
};
const bytesOf = (secret: string): Buffer => Buffer.from(secret.replace('whsec_', ''), 'base64');
const secrets = fc.uint8Array({ minLength: 32, maxLength: 32 });
const headers = (id: string, timestamp: number, signature: string): Record<string, string> => ({
  'webhook-id': id,
  'webhook-timestamp': String(timestamp),
  'webhook-signature': signature,
});

describe('the signature of a delivery', () => {
  it('equals the signature of the published example', () => {
    expect(signatureOf([bytesOf(EXAMPLE.secret)], EXAMPLE.id, EXAMPLE.timestamp, Buffer.from(EXAMPLE.body))).toBe(
      'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    );
  });

  it('equals the signature that the reference library makes for the same body, and the library accepts it', () => {
    fc.assert(
      fc.property(secrets, fc.uuid(), fc.string({ unit: 'binary' }), (secret, id, body) => {
        const now = Math.floor(Date.now() / 1_000);
        const judge = new Webhook(secretText(secret));
        const signature = signatureOf([secret], `evt_${id}`, now, Buffer.from(body));
        expect(signature).toBe(judge.sign(`evt_${id}`, new Date(now * 1_000), body));
        expect(() =>
          judge.verify(Buffer.from(body), headers(`evt_${id}`, now, signature), { jsonParse: false }),
        ).not.toThrow();
      }),
    );
  });

  it('has an entry for each valid secret, the current one first, and each secret verifies it', () => {
    fc.assert(
      fc.property(secrets, secrets, fc.json(), (current, previous, body) => {
        const now = Math.floor(Date.now() / 1_000);
        const signature = signatureOf([current, previous], 'evt_1', now, Buffer.from(body));
        expect(signature).toBe(
          `${signatureOf([current], 'evt_1', now, Buffer.from(body))} ${signatureOf([previous], 'evt_1', now, Buffer.from(body))}`,
        );
        for (const secret of [current, previous])
          expect(() => new Webhook(secretText(secret)).verify(body, headers('evt_1', now, signature))).not.toThrow();
      }),
    );
  });

  it('is valid only for one body, id, time and secret', () => {
    const secret = bytesOf(EXAMPLE.secret);
    const now = Math.floor(Date.now() / 1_000);
    const signature = signatureOf([secret], EXAMPLE.id, now, Buffer.from(EXAMPLE.body));
    const judge = new Webhook(EXAMPLE.secret);
    judge.verify(EXAMPLE.body, headers(EXAMPLE.id, now, signature));
    expect(() => judge.verify('{"test":2432232314}', headers(EXAMPLE.id, now, signature))).toThrow();
    expect(() => judge.verify(EXAMPLE.body, headers('msg_other', now, signature))).toThrow();
    expect(() => judge.verify(EXAMPLE.body, headers(EXAMPLE.id, now + 1, signature))).toThrow();
    expect(() =>
      new Webhook(secretText(Buffer.alloc(32))).verify(EXAMPLE.body, headers(EXAMPLE.id, now, signature)),
    ).toThrow();
  });
});

describe('a secret in its displayed form', () => {
  it("is a prefix and the base64 of the secret's bytes, and can be converted back to the secret", () => {
    fc.assert(
      fc.property(secrets, (secret) => {
        const text = secretText(secret);
        expect(text).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
        expect(bytesOf(text)).toEqual(Buffer.from(secret));
      }),
    );
  });
});
