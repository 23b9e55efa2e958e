// Restarts replace the signing keys of tokens (docs/operations/erasure-and-keys.md).
import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { decodeProtectedHeader } from 'jose';
import { Service } from '../../support/service.js';

const UNKNOWN_SESSION = '/screening/01900000-0000-7000-8000-000000000000/status';

describe('token signing keys', () => {
  it('are replaced, and tokens that the old key signed stay valid until the old key is removed', async () => {
    const jwk = () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
    const [old, fresh] = [jwk(), jwk()];
    const service = await Service.start({ JWT_SIGNING_KEY: JSON.stringify(old) });
    try {
      const before = await service.signIn();
      expect((await before.get(UNKNOWN_SESSION)).status).toBe(404);

      const restart = async (keys: object[]): Promise<void> => {
        await service.program.end('SIGTERM');
        Object.assign(service.program.env, { JWT_SIGNING_KEY: JSON.stringify({ keys }) });
        await service.startAgain();
      };
      await restart([fresh, old]);
      const after = await service.signIn();
      const kidOf = ({ headers }: { headers: Readonly<Record<string, string>> }) =>
        decodeProtectedHeader(headers['authorization']!.slice('Bearer '.length)).kid;
      expect(kidOf(after)).not.toBe(kidOf(before));
      expect(
        (await service.request('GET', '/.well-known/jwks.json')).body.keys.map(({ kid }: { kid: string }) => kid),
      ).toEqual([kidOf(after), kidOf(before)]);
      expect([(await before.get(UNKNOWN_SESSION)).status, (await after.get(UNKNOWN_SESSION)).status]).toEqual([
        404, 404,
      ]);

      await restart([fresh]);
      expect([(await before.get(UNKNOWN_SESSION)).status, (await after.get(UNKNOWN_SESSION)).status]).toEqual([
        401, 404,
      ]);
    } finally {
      await service.stop();
    }
  });
});
