/** What production must be told beside its Redis, because nothing secret has a default there. The secrets are nobody's. */
export const PRODUCTION = {
  NODE_ENV: 'production',
  IDENTITY_VENDOR_URL: 'https://vendor.example.com',
  IDENTITY_VENDOR_KEY: 'vendor-key',
  INCOME_VENDOR_URL: 'https://income.example.com',
  INCOME_VENDOR_KEY: 'income-key',
  PROCESSOR_SECRET_KEY: 'sk_live_example',
  PROCESSOR_WEBHOOK_SECRET: 'whsec_example',
  VAULT_MASTER_KEY: `k1:${Buffer.alloc(32).toString('base64')}`,
  JWT_SIGNING_KEY: '{"keys":[]}',
};
