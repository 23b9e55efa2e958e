import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { freePort } from './redis.js';

/**
 * Production needs these settings in addition to its Redis, because secrets have no default there. The secrets are
 * invented.
 */
export const PRODUCTION = {
  NODE_ENV: 'production',
  PUBLIC_URL: 'https://api.example.com',
  IDENTITY_VENDOR_URL: 'https://vendor.example.com',
  IDENTITY_VENDOR_KEY: 'vendor-key',
  INCOME_VENDOR_URL: 'https://income.example.com',
  INCOME_VENDOR_KEY: 'income-key',
  PROCESSOR_SECRET_KEY: 'sk_live_example',
  PROCESSOR_WEBHOOK_SECRET: 'whsec_example',
  VAULT_MASTER_KEY: `k1:${randomBytes(32).toString('base64')}`,
  SEAL_SIGNING_KEY: `s1:${randomBytes(32).toString('base64')}`,
  JWT_SIGNING_KEY: '{"keys":[]}',
};

/** All settings that production needs. The sandbox acts as the live vendors. Test traffic has no vendors. */
export async function productionHere(): Promise<Record<string, string>> {
  const sandboxPort = String(await freePort());
  const vendor = `http://127.0.0.1:${sandboxPort}`;
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    NODE_ENV: 'production',
    LIMITS: '',
    HOST: '127.0.0.1',
    PUBLIC_URL: 'https://api.example.com',
    REQUIRE_TLS: 'false',
    ACCEPT_PLAIN_HTTP: 'a test on one machine',
    SANDBOX_PORT: sandboxPort,
    SANDBOX_URL: '',
    VAULT_MASTER_KEY: `k1:${randomBytes(32).toString('base64')}`,
    SEAL_SIGNING_KEY: `s1:${randomBytes(32).toString('base64')}`,
    JWT_SIGNING_KEY: JSON.stringify({ keys: [privateKey.export({ format: 'jwk' })] }),
    IDENTITY_VENDOR_URL: vendor,
    // The value differs from the sandbox's default, which production refuses.
    SANDBOX_API_KEY: 'live-vendor-key',
    IDENTITY_VENDOR_KEY: 'live-vendor-key',
    INCOME_VENDOR_URL: vendor,
    INCOME_VENDOR_KEY: 'live-vendor-key',
    PROCESSOR_URL: vendor,
    PROCESSOR_SECRET_KEY: 'sk_live_example',
    PROCESSOR_WEBHOOK_SECRET: 'whsec_example',
  };
}
