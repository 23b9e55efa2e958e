// The signatures of deliveries, compared with the published example of Standard Webhooks, its reference library and the example for receivers.
import { execFileSync } from 'node:child_process';
import { createPublicKey, verify } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import {
  keySignatureOf,
  publicKeyOf,
  publicKeyText,
  secretText,
  signatureOf,
} from '../../../src/modules/webhooks/domain/signature.js';

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

describe('the signature of a key pair', () => {
  // RFC 8032, section 7.1, test 1.
  const PRIVATE = Buffer.from('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60', 'hex');
  const PUBLIC = Buffer.from('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a', 'hex');

  it('has the public key of the private key', () => {
    expect(publicKeyOf(PRIVATE)).toBe(PUBLIC.toString('base64'));
    expect(publicKeyText(publicKeyOf(PRIVATE))).toMatch(/^whpk_[A-Za-z0-9+/]{43}=$/);
  });

  it('is Ed25519 over id, time and body, with an entry for each key, the current one first', () => {
    fc.assert(
      fc.property(secrets, secrets, fc.uint8Array(), (current, previous, body) => {
        const entries = keySignatureOf([current, previous], 'evt_1', 7, body).split(' ');
        expect(entries).toHaveLength(2);
        for (const [at, seed] of [current, previous].entries()) {
          const x = Buffer.from(publicKeyOf(seed), 'base64').toString('base64url');
          const key = createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', x } });
          const [, version, signature = ''] = /^(v1a),(.+)$/.exec(entries[at] ?? '') ?? [];
          const signed = Buffer.concat([Buffer.from('evt_1.7.'), body]);
          expect([version, verify(null, signed, key, Buffer.from(signature, 'base64'))]).toEqual(['v1a', true]);
        }
      }),
    );
  });

  it('is verified by the example for receivers, which refuses other bodies, keys and times', () => {
    const page = readFileSync('docs/how-to/receive-webhooks.md', 'utf8');
    const [, example = ''] =
      /^```js\n((?:(?!^```)[\s\S])*?v1a[\s\S]*?)^```$/m.exec(page.slice(page.indexOf('## Verify without'))) ?? [];
    const folder = mkdtempSync(join(tmpdir(), 'example-'));
    try {
      const file = join(folder, 'example.mjs');
      const asked = '(await import("node:fs")).readFileSync(0, "utf8")';
      writeFileSync(
        file,
        `${example}\nconsole.log(JSON.stringify(JSON.parse(${asked}).map((one) => genuine(one.headers, Buffer.from(one.body), one.keys))));\n`,
      );
      const now = Math.floor(Date.now() / 1_000);
      const body = '{"test": 2432232314}';
      const signed = (seed: Uint8Array, time: number) => ({
        headers: headers('evt_1', time, `v1,x ${keySignatureOf([seed], 'evt_1', time, Buffer.from(body))}`),
        keys: [
          { public_key: publicKeyText(publicKeyOf(Buffer.alloc(32, 1))) },
          { public_key: publicKeyText(PUBLIC.toString('base64')) },
        ],
        body,
      });
      const given = [
        signed(PRIVATE, now),
        { ...signed(PRIVATE, now), body: `${body} ` },
        signed(Buffer.alloc(32, 2), now),
        signed(PRIVATE, now - 400),
      ];
      const answers = execFileSync(process.execPath, [file], { input: JSON.stringify(given), encoding: 'utf8' });
      expect(JSON.parse(answers)).toEqual([true, false, false, false]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
