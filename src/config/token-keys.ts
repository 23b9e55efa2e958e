import type { Variables } from './variables.js';

/** The keys that sign tokens. This class is also the injection token. */
export abstract class TokenKeySettings {
  /** PEM, JWK or JWKS of ES256 private keys. With null, the service makes a development key in the data folder. */
  abstract readonly signingKey: string | null;
}

export function readTokenKeys(env: Variables): TokenKeySettings {
  const signingKey = env.inProduction('JWT_SIGNING_KEY', env.text('JWT_SIGNING_KEY'));
  if (signingKey !== null && !/^(-----BEGIN |\{)/.test(signingKey))
    env.fault('JWT_SIGNING_KEY', 'must be a PEM, JWK or JWKS of ES256 private keys');
  return { signingKey };
}
