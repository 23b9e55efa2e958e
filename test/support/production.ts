/** What production must be told beside its Redis, because nothing secret has a default there. The secrets are nobody's. */
export const PRODUCTION = {
  NODE_ENV: 'production',
  PUBLIC_URL: 'https://api.example.com',
  IDENTITY_VENDOR_URL: 'https://vendor.example.com',
  IDENTITY_VENDOR_KEY: 'vendor-key',
  INCOME_VENDOR_URL: 'https://income.example.com',
  INCOME_VENDOR_KEY: 'income-key',
  PROCESSOR_SECRET_KEY: 'sk_live_example',
  PROCESSOR_WEBHOOK_SECRET: 'whsec_example',
  VAULT_MASTER_KEY: `k1:${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`,
  JWT_SIGNING_KEY: '{"keys":[]}',
};
