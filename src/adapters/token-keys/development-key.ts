// Outside production, a signing key need not be configured, because the first start makes one.
import { generateKeyPairSync } from 'node:crypto';
import { fileMadeOnce } from '../file-made-once.js';

/** The JWKS in `<directory>/jwt-signing-keys.json`. To rotate, put a new key at the front and keep the old key for the lifetime of a token. */
export function developmentSigningKeys(directory: string): Promise<string> {
  return fileMadeOnce(directory, 'jwt-signing-keys.json', () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    return `${JSON.stringify({ keys: [privateKey.export({ format: 'jwk' })] })}\n`;
  });
}
