// The environment variables of docs/contract/general.md#configuration, and the default limits.
import { resolve } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { readConfig as readAny, type Config } from '../../src/config/config.js';
import { InvalidConfig } from '../../src/config/variables.js';
import { findVendors } from '../../src/vendor-kit/registry.js';
import { PRODUCTION as SETTINGS } from '../support/production.js';

const vendors = await findVendors();
const readConfig = (env: Record<string, string>, options: { lowestPort?: number } = {}): Config =>
  readAny(env, { ...options, vendors });

const MINIMAL = { REDIS_URL: 'redis://127.0.0.1:6379' };
/** Production requires these variables, because its secrets and addresses have no defaults. */
const SECRETS = [
  'IDENTITY_VENDOR_KEY',
  'IDENTITY_VENDOR_URL',
  'INCOME_VENDOR_KEY',
  'INCOME_VENDOR_URL',
  'JWT_SIGNING_KEY',
  'PROCESSOR_SECRET_KEY',
  'PROCESSOR_WEBHOOK_SECRET',
  'PUBLIC_URL',
  'VAULT_MASTER_KEY',
];

const PRODUCTION = { ...SETTINGS, REDIS_URL: 'rediss://:redis-secret@redis.internal:6380' };
/** Production also requires these variables when it serves test traffic. */
const TEST_TRAFFIC = {
  SANDBOX_URL: 'https://sandbox.example.com',
  SANDBOX_VENDOR_KEY: 'test-vendor-key',
  SANDBOX_PROCESSOR_SECRET_KEY: 'sk_test_example',
  SANDBOX_PROCESSOR_WEBHOOK_SECRET: 'whsec_test',
};
const S3 = { VAULT: 's3', VAULT_S3_BUCKET: 'vault', VAULT_S3_REGION: 'us-east-1' };
const read = (env: Record<string, string> = {}): Config => readConfig({ ...MINIMAL, ...env });
const message = (env: Record<string, string>): string => {
  try {
    readConfig(env);
  } catch (error) {
    if (error instanceof InvalidConfig) return error.message;
    throw error;
  }
  throw new Error('The configuration was taken');
};
/** The variables that the error message calls invalid, in the order of the message. */
const wrong = (env: Record<string, string>): string[] =>
  message({ ...MINIMAL, ...env })
    .replace(/^Configuration is not valid: /, '')
    .split('; ')
    .map((fault) => fault.split(' ')[0] as string);

describe('the configuration', () => {
  it('has the documented defaults', () => {
    expect(read()).toMatchObject({
      process: { production: false, role: 'all', readOnly: false, logLevel: 'info' },
      http: {
        port: 3000,
        host: '127.0.0.1',
        metricsPort: null,
        publicUrl: 'http://localhost:3000',
        publicUrlConfigured: false,
        embeddedUrl: 'http://localhost:3000/embedded',
        servesDocs: true,
        requireTls: false,
        trustedProxies: [],
        tls: null,
      },
      vendors: { sandboxUrl: 'http://127.0.0.1:3001', sandboxPort: 3001 },
      embedded: {
        scripts: {
          live: {
            processor: {
              scriptUrl: 'http://127.0.0.1:3001/browser/processor.js',
              publishableKey: 'pk_test_sandbox_processor',
            },
            fingerprintScriptUrl: 'http://127.0.0.1:3001/browser/fingerprint.js',
          },
        },
      },
      dataFolder: { path: resolve('.data'), diskLowBytes: 1_000_000_000 },
      eventStore: { place: { kind: 'embedded', maxBytes: 16 * 2 ** 30, testTraffic: 0.5 } },
      redis: { url: 'redis://127.0.0.1:6379' },
      vault: {
        masterKey: null,
        place: { kind: 'disk', maxBytes: 64 * 2 ** 30 },
        erasureLedger: resolve('.data/erasures.jsonl'),
      },
      tokenKeys: { signingKey: null },
      pdf: { chromiumPath: null },
      mail: { url: null, from: '' },
      overrides: [],
      switchedOff: [],
    });
  });

  it('reads the witnesses of the log, and names the variable with a wrong key or address', () => {
    const key = 'sandbox.example/witness+cbcbade0+BDlY54HYkUt/HftGL27j0JVo1IRA9+DzyPC6pe1X96g/';
    expect(read().sealing).toMatchObject({ witnesses: [], witnessQuorum: 0 });
    const one = `${key} https://one.example/w/`;
    expect(read({ SEAL_WITNESSES: one }).sealing).toMatchObject({
      witnesses: [{ name: 'sandbox.example/witness', key, url: 'https://one.example/w' }],
      witnessQuorum: 1,
    });
    for (const SEAL_WITNESSES of [
      key,
      `${key} ftp://one.example`,
      `${key.replace('cbcb', 'cbcc')} https://one.example`,
      `${one}, ${one}`,
    ])
      expect([SEAL_WITNESSES, wrong({ SEAL_WITNESSES })]).toEqual([SEAL_WITNESSES, ['SEAL_WITNESSES']]);
    expect(wrong({ SEAL_WITNESSES: one, SEAL_WITNESS_QUORUM: '2' })).toEqual(['SEAL_WITNESS_QUORUM']);
  });

  it('has the documented limits by default', () => {
    const day = 86_400;
    expect(read().limits).toEqual({
      tokenTtl: 3_600,
      tokenExchangePerMinute: 60,
      otpResendInterval: 30,
      stepUpTtl: 1_800,
      stepUpAttempts: 3,
      blockDuration: day,
      reviewLimit: 7 * day,
      applicantKept: 7 * day,
      reportValidity: 30 * day,
      reportRetryInterval: 600,
      shareWindow: null,
      grantTtl: 900,
      checkoutGuard: 30 * day,
      reauthValidity: 365 * day,
      agentLock: day,
      vendorTimeout: 20,
      recoveryInterval: 2,
      webhookTimeout: 8,
      webhookRetryLadder: [60, 300, 1_800, 7_200, 18_000, 21_600, 21_600, 21_600],
      webhookJitter: 0.1,
      webhookFailingAfter: 3,
      webhookDisableAfter: 3 * day,
      webhookRedeliveryInterval: 60,
      webhookEgressAllow: [],
      webhookPorts: [443, 8_443],
      submitsPerMinutePerAddress: 30,
      submitsPerMinute: 600,
      smsPerHour: 6,
      smsPerDay: 30,
      submitsPerHourPerPerson: 5,
      wrongAnswersPerHourPerAddress: 20,
      reportReadsPerMinute: 60,
      pdfsPerMinute: 10,
      pingsPerSecond: 1,
      idempotencyKeysPerLineage: 200,
      idempotencyKeysPerAccount: 10_000,
      vendorShare: 0.25,
      tokenExchangePerMinutePerKey: 600,
      incomeSessionsPerScreening: 3,
      incomeSessionsPerMinute: 1,
      incomeSessionsPerMinutePerAccount: 60,
      paymentIntentsPerMinute: 10,
      confirmsPerMinute: 20,
      sharesPerMinute: 10,
      endpointChangesPerHour: 30,
      testHelpersPerHour: 60,
      vendorPlacesPerLineage: 0.5,
    });
  });

  it('reads every limit from its variable, and lists the limits that differ from their defaults', () => {
    const limits = {
      TOKEN_TTL: '60',
      TOKEN_EXCHANGE_PER_MINUTE: '5',
      OTP_RESEND_INTERVAL: '0.5',
      STEP_UP_TTL: '2',
      STEP_UP_ATTEMPTS: '1',
      BLOCK_DURATION: '1.5',
      REVIEW_LIMIT: '60',
      APPLICANT_KEPT: '61',
      REPORT_VALIDITY: '7',
      REPORT_RETRY_INTERVAL: '0',
      SHARE_WINDOW: '8',
      GRANT_TTL: '9',
      CHECKOUT_GUARD: '10',
      REAUTH_VALIDITY: '11',
      AGENT_LOCK: '12',
      VENDOR_TIMEOUT: '0.5',
      RECOVERY_INTERVAL: '0.2',
      WEBHOOK_TIMEOUT: '0.2',
      WEBHOOK_RETRY_LADDER: '1, 2,0.5',
      WEBHOOK_JITTER: '0',
      WEBHOOK_FAILING_AFTER: '2',
      WEBHOOK_DISABLE_AFTER: '13',
      WEBHOOK_REDELIVERY_INTERVAL: '0',
      WEBHOOK_PORTS: '9443, 443',
      SUBMITS_PER_MINUTE_PER_ADDRESS: '1',
      SUBMITS_PER_MINUTE: '2',
      SMS_PER_HOUR: '3',
      SMS_PER_DAY: '4',
      SUBMITS_PER_HOUR_PER_PERSON: '6',
      WRONG_ANSWERS_PER_HOUR_PER_ADDRESS: '21',
      REPORT_READS_PER_MINUTE: '7',
      PDFS_PER_MINUTE: '8',
      PINGS_PER_SECOND: '9',
      IDEMPOTENCY_KEYS_PER_LINEAGE: '0',
      IDEMPOTENCY_KEYS_PER_ACCOUNT: '0',
      VENDOR_SHARE: '0.5',
      TOKEN_EXCHANGE_PER_MINUTE_PER_KEY: '14',
      INCOME_SESSIONS_PER_SCREENING: '15',
      INCOME_SESSIONS_PER_MINUTE: '16',
      INCOME_SESSIONS_PER_MINUTE_PER_ACCOUNT: '17',
      PAYMENT_INTENTS_PER_MINUTE: '18',
      CONFIRMS_PER_MINUTE: '19',
      SHARES_PER_MINUTE: '20',
      ENDPOINT_CHANGES_PER_HOUR: '21',
      TEST_HELPERS_PER_HOUR: '22',
      VENDOR_PLACES_PER_LINEAGE: '0.75',
    };
    const config = read({ ...limits, WEBHOOK_EGRESS_ALLOW: '127.0.0.1/32,::1' });
    expect(config.limits).toEqual({
      tokenTtl: 60,
      tokenExchangePerMinute: 5,
      otpResendInterval: 0.5,
      stepUpTtl: 2,
      stepUpAttempts: 1,
      blockDuration: 1.5,
      reviewLimit: 60,
      applicantKept: 61,
      reportValidity: 7,
      reportRetryInterval: 0,
      shareWindow: 8,
      grantTtl: 9,
      checkoutGuard: 10,
      reauthValidity: 11,
      agentLock: 12,
      vendorTimeout: 0.5,
      recoveryInterval: 0.2,
      webhookTimeout: 0.2,
      webhookRetryLadder: [1, 2, 0.5],
      webhookJitter: 0,
      webhookFailingAfter: 2,
      webhookDisableAfter: 13,
      webhookRedeliveryInterval: 0,
      webhookEgressAllow: ['127.0.0.1/32', '::1'],
      webhookPorts: [9_443, 443],
      submitsPerMinutePerAddress: 1,
      submitsPerMinute: 2,
      smsPerHour: 3,
      smsPerDay: 4,
      submitsPerHourPerPerson: 6,
      wrongAnswersPerHourPerAddress: 21,
      reportReadsPerMinute: 7,
      pdfsPerMinute: 8,
      pingsPerSecond: 9,
      idempotencyKeysPerLineage: 0,
      idempotencyKeysPerAccount: 0,
      vendorShare: 0.5,
      tokenExchangePerMinutePerKey: 14,
      incomeSessionsPerScreening: 15,
      incomeSessionsPerMinute: 16,
      incomeSessionsPerMinutePerAccount: 17,
      paymentIntentsPerMinute: 18,
      confirmsPerMinute: 19,
      sharesPerMinute: 20,
      endpointChangesPerHour: 21,
      testHelpersPerHour: 22,
      vendorPlacesPerLineage: 0.75,
    });
    expect([...config.overrides].sort()).toEqual(Object.keys(limits).sort());
    expect(config.switchedOff).toEqual(['IDEMPOTENCY_KEYS_PER_LINEAGE', 'IDEMPOTENCY_KEYS_PER_ACCOUNT']);
    expect(
      read({ TOKEN_TTL: '3600', WEBHOOK_RETRY_LADDER: '60,300,1800,7200,18000,21600,21600,21600' }).overrides,
    ).toEqual([]);
  });

  it('sets every unset limit against abuse to 0 when LIMITS is off; production refuses LIMITS=off', () => {
    const on = read().limits;
    const off = read({ LIMITS: 'off', SHARES_PER_MINUTE: '5', VENDOR_SHARE: '' }).limits;
    const changed = Object.fromEntries(
      Object.entries(off).filter(([name, value]) => value !== on[name as keyof typeof on] && !Array.isArray(value)),
    );
    expect(Object.keys(changed).sort()).toEqual(
      [
        'tokenExchangePerMinute',
        'tokenExchangePerMinutePerKey',
        'submitsPerMinutePerAddress',
        'submitsPerMinute',
        'smsPerHour',
        'smsPerDay',
        'submitsPerHourPerPerson',
        'reportReadsPerMinute',
        'pdfsPerMinute',
        'incomeSessionsPerScreening',
        'incomeSessionsPerMinute',
        'incomeSessionsPerMinutePerAccount',
        'paymentIntentsPerMinute',
        'confirmsPerMinute',
        'sharesPerMinute',
        'endpointChangesPerHour',
        'testHelpersPerHour',
        'pingsPerSecond',
        'idempotencyKeysPerAccount',
        'idempotencyKeysPerLineage',
        'wrongAnswersPerHourPerAddress',
        'vendorShare',
        'vendorPlacesPerLineage',
      ].sort(),
    );
    expect(Object.values({ ...changed, sharesPerMinute: 0 }).every((value) => value === 0)).toBe(true);
    expect(off.sharesPerMinute).toBe(5);
    expect(wrong({ LIMITS: 'none' })).toContain('LIMITS');
    expect(wrong({ NODE_ENV: 'production', LIMITS: 'off' })).toContain('LIMITS');
  });

  it('derives the default of one variable from another', () => {
    expect(read({ PORT: '8080' })).toMatchObject({
      http: {
        port: 8080,
        publicUrl: 'http://localhost:8080',
        embeddedUrl: 'http://localhost:8080/embedded',
      },
      vendors: { sandboxUrl: 'http://127.0.0.1:8081' },
    });
    expect(read({ PUBLIC_URL: 'https://api.example.com/' }).http).toMatchObject({
      publicUrl: 'https://api.example.com',
      publicUrlConfigured: true,
      embeddedUrl: 'https://api.example.com/embedded',
    });
    expect(read({ EMBEDDED_URL: 'https://embedded.example.com/x/' }).http.embeddedUrl).toBe(
      'https://embedded.example.com/x',
    );
    expect(read({ SANDBOX_PORT: '9' }).vendors).toMatchObject({ sandboxUrl: 'http://127.0.0.1:9', sandboxPort: 9 });
    expect(read({ SANDBOX_URL: 'http://127.0.0.1:8/' }).vendors).toMatchObject({
      sandboxUrl: 'http://127.0.0.1:8',
      sandboxPort: null,
    });
    expect(read({ METRICS_PORT: '9090' }).http.metricsPort).toBe(9090);
    expect([read({}).http.demoPort, read({ DEMO_PORT: '5999' }).http.demoPort]).toEqual([5173, 5999]);
    expect(read({ EVENT_STORE: 'eventstoredb', EVENTSTORE_URL: 'esdb://a,b,c?tls=true' }).eventStore.place).toEqual({
      kind: 'eventstoredb',
      url: 'esdb://a,b,c?tls=true',
    });
    expect([
      read({}).http.egressIps,
      read({ EGRESS_IPS: '198.51.100.7, 2001:db8::/48,198.51.100.7' }).http.egressIps,
    ]).toEqual([[], ['198.51.100.7', '2001:db8::/48']]);
    expect(read({ TRUSTED_PROXIES: '10.0.0.0/8, 192.168.1.1 ,fd00::/8' }).http.trustedProxies).toEqual([
      '10.0.0.0/8',
      '192.168.1.1',
      'fd00::/8',
    ]);
    expect(read({ TLS_CERT: 'package.json', TLS_KEY: 'tsconfig.json' }).http.tls).toEqual({
      certPath: 'package.json',
      keyPath: 'tsconfig.json',
    });
    for (const role of ['all', 'api', 'worker', 'projector', 'investigation'] as const)
      expect(read({ ROLE: role }).process.role).toBe(role);
  });

  it("gives browsers the sandbox's scripts for live and test keys unless other scripts are configured", () => {
    const { live, test } = read({
      SANDBOX_URL: 'http://sandbox:3001',
      PROCESSOR_JS_URL: 'https://js.example.com/v3/',
      PROCESSOR_PUBLISHABLE_KEY: 'pk_example',
    }).embedded.scripts;
    expect(live).toEqual({
      // The slash at the end is preserved.
      processor: { scriptUrl: 'https://js.example.com/v3/', publishableKey: 'pk_example' },
      fingerprintScriptUrl: 'http://sandbox:3001/browser/fingerprint.js',
    });
    expect(test).toEqual(live);
    for (const url of [
      'x',
      'ftp://x',
      'https://js.example.com/?a=b',
      'https://js.example.com/#a',
      'https://a:b@js.example.com',
    ])
      expect(wrong({ PROCESSOR_JS_URL: url, FINGERPRINT_SCRIPT_URL: url })).toEqual([
        'PROCESSOR_JS_URL',
        'FINGERPRINT_SCRIPT_URL',
      ]);
  });

  it('requires a path in EMBEDDED_URL when the frame has the origin of the API', () => {
    for (const url of ['https://api.example.com', 'https://API.example.com/'])
      expect(wrong({ PUBLIC_URL: 'https://api.example.com', EMBEDDED_URL: url })).toEqual(['EMBEDDED_URL']);
    expect(
      read({ PUBLIC_URL: 'https://api.example.com', EMBEDDED_URL: 'https://embed.example.com' }).http,
    ).toMatchObject({
      embeddedUrl: 'https://embed.example.com',
    });
  });

  it('serves PDFs from an origin whose host serves nothing else', () => {
    const env = { PUBLIC_URL: 'https://api.example.com', EMBEDDED_URL: 'https://embed.example.com' };
    const at = (url: string) => ({ ...env, PDF_PUBLIC_URL: url });
    expect(read(env).http.pdfUrl).toBeNull();
    for (const url of ['https://pdf.example.com', 'https://PDF.example.com:443/'])
      expect(read(at(url)).http.pdfUrl).toBe('https://pdf.example.com');
    expect(read({ PDF_PUBLIC_URL: 'http://127.0.0.1:3000' }).http.pdfUrl).toBe('http://127.0.0.1:3000');
    for (const url of [
      'pdf.example.com',
      'https://pdf.example.com/x',
      'https://pdf.example.com/?x',
      'https://a@pdf.example.com',
      'https://api.example.com',
      'https://API.example.com.:8443',
      'http://embed.example.com',
    ])
      expect([url, wrong(at(url))]).toEqual([url, ['PDF_PUBLIC_URL']]);
    expect(wrong({ PDF_PUBLIC_URL: 'http://localhost:4000' })).toEqual(['PDF_PUBLIC_URL']);
  });

  it('treats an empty variable as unset', () => {
    expect(
      read({ PORT: '', PUBLIC_URL: ' ', TOKEN_TTL: '', ROLE: '', SHARE_WINDOW: '', WEBHOOK_RETRY_LADDER: '' }),
    ).toEqual(read());
  });

  it('lists every invalid variable once in one message, and no valid variable', () => {
    const env = {
      PORT: '70000',
      SANDBOX_PORT: 'x',
      PUBLIC_URL: 'ftp://x',
      EMBEDDED_URL: 'nowhere',
      ROLE: 'king',
      EVENT_STORE: 'paper',
      REDIS_URL: 'http://x',
      NODE_ENV: 'staging',
      REQUIRE_TLS: 'yes',
      TRUSTED_PROXIES: '10.0.0.0/8,proxy',
      EGRESS_IPS: '198.51.100.7,gateway.example.com',
      TLS_CERT: 'package.json',
      LOG_LEVEL: 'loud',
      PROCESSOR_JS_URL: 'x',
      FINGERPRINT_SCRIPT_URL: 'x',
      SMTP_URL: 'http://x',
      MAIL_FROM: 'nobody',
      METRICS_PORT: '-1',
      VENDOR_CONCURRENCY: '0',
      EVENT_LOG_MAX_BYTES: '1000000',
      EVENT_LOG_UNCOMPRESSED: '-1',
      VAULT_MAX_BYTES: '64 GiB',
      TEST_LOG_SHARE: '50',
      READ_MODEL_HOURS: '-1',
      TOKEN_TTL: '0',
      TOKEN_EXCHANGE_PER_MINUTE: '1.5',
      OTP_RESEND_INTERVAL: '-1',
      STEP_UP_TTL: 'soon',
      STEP_UP_ATTEMPTS: '0',
      BLOCK_DURATION: 'NaN',
      REPORT_VALIDITY: '30 days',
      SHARE_WINDOW: 'x',
      GRANT_TTL: 'Infinity',
      CHECKOUT_GUARD: '-0.1',
      REAUTH_VALIDITY: 'x',
      AGENT_LOCK: 'x',
      VENDOR_TIMEOUT: '0',
      RECOVERY_INTERVAL: '16',
      WEBHOOK_TIMEOUT: '0',
      WEBHOOK_RETRY_LADDER: '1,x',
      WEBHOOK_JITTER: '2',
      WEBHOOK_FAILING_AFTER: '0',
      WEBHOOK_DISABLE_AFTER: 'x',
      WEBHOOK_REDELIVERY_INTERVAL: 'x',
      WEBHOOK_EGRESS_ALLOW: '127.0.0.1/40',
      WEBHOOK_PORTS: '443,65536',
      SUBMITS_PER_MINUTE_PER_ADDRESS: '-1',
      SUBMITS_PER_MINUTE: '0.5',
      SMS_PER_HOUR: 'x',
      SMS_PER_DAY: 'x',
      SUBMITS_PER_HOUR_PER_PERSON: 'x',
      WRONG_ANSWERS_PER_HOUR_PER_ADDRESS: 'x',
      REPORT_READS_PER_MINUTE: 'x',
      PDFS_PER_MINUTE: 'x',
      PINGS_PER_SECOND: '0.5',
      IDEMPOTENCY_KEYS_PER_LINEAGE: '-1',
      IDEMPOTENCY_KEYS_PER_ACCOUNT: 'x',
    };
    expect(wrong(env).sort()).toEqual([...Object.keys(env).filter((name) => name !== 'TLS_CERT'), 'TLS_KEY'].sort());
  });

  it('calls only the given variable invalid, and not the variables that are derived from it', () => {
    expect(wrong({ PORT: 'abc' })).toEqual(['PORT']);
    expect(wrong({ PUBLIC_URL: 'api.example.com' })).toEqual(['PUBLIC_URL']);
    expect(wrong({ SANDBOX_PORT: 'abc' })).toEqual(['SANDBOX_PORT']);
    expect(wrong({ NODE_ENV: 'prod' })).toEqual(['NODE_ENV']);
  });

  it('makes demo accounts only outside production, by default only when the service listens on this machine alone', () => {
    for (const HOST of ['', '127.0.0.1', '127.8.0.1', 'localhost', '::1'])
      expect([HOST, read({ HOST }).process.demoAccounts]).toEqual([HOST, true]);
    for (const HOST of ['0.0.0.0', '::', '10.0.0.7', 'screening.internal']) {
      expect([HOST, read({ HOST }).process.demoAccounts]).toEqual([HOST, false]);
      expect(read({ HOST, NODE_ENV: 'development' }).process.demoAccounts).toBe(true);
    }
  });

  it('refuses PORT 65535 when the sandbox would need the next port', () => {
    expect(wrong({ PORT: '65535' })).toEqual(['SANDBOX_PORT']);
    expect(read({ PORT: '65535', SANDBOX_PORT: '9' }).vendors.sandboxPort).toBe(9);
    expect(read({ PORT: '65535', SANDBOX_URL: 'http://127.0.0.1:9' }).http.port).toBe(65_535);
    expect(readConfig({ ...PRODUCTION, PORT: '65535' }).vendors.sandboxPort).toBeNull();
  });

  it('accepts port 0, except when the caller needs a known port', () => {
    const ports = { ...MINIMAL, PORT: '0', SANDBOX_PORT: '0' };
    expect(readConfig(ports)).toMatchObject({ http: { port: 0 }, vendors: { sandboxPort: 0 } });
    expect(() => readConfig(ports, { lowestPort: 1 })).toThrow(
      'PORT must be a whole number from 1 to 65535; SANDBOX_PORT must be a whole number from 1 to 65535.',
    );
  });

  it('never quotes a value, because the value may be a secret', () => {
    const env = {
      PORT: 'pa55word',
      REDIS_URL: 'pa55word',
      VAULT_MASTER_KEY: 'pa55word',
      ROLE: 'pa55word',
      WEBHOOK_EGRESS_ALLOW: 'pa55word',
      EVENT_STORE: 'eventstoredb',
      EVENTSTORE_URL: 'pa55word',
    };
    expect(message(env)).not.toContain('pa55word');
  });

  it('requires a Redis, and an address when the event store is a server', () => {
    expect(message({})).toContain('REDIS_URL must be set');
    for (const url of ['redis://a', 'rediss://a', 'unix:///run/redis.sock'])
      expect(read({ REDIS_URL: url }).redis.url).toBe(url);
    for (const url of ['redis.internal:6379', 'http://a', 'redis:a', 'redis://a:b:c', 'redis://a:70000'])
      expect(wrong({ REDIS_URL: url })).toEqual(['REDIS_URL']);
    expect(wrong({ EVENT_STORE: 'eventstoredb' })).toEqual(['EVENTSTORE_URL']);
    expect(wrong({ EVENT_STORE: 'eventstoredb', EVENTSTORE_URL: 'http://a' })).toEqual(['EVENTSTORE_URL']);
  });

  it('keeps documents of read models for three days by default, and in production for at least two hours', () => {
    expect(read({}).redis.documentsKeptForMs).toBe(72 * 3_600_000);
    expect(read({ READ_MODEL_HOURS: '0' }).redis.documentsKeptForMs).toBe(0);
    expect(wrong({ ...PRODUCTION, READ_MODEL_HOURS: '1' })).toEqual(['READ_MODEL_HOURS']);
    expect(wrong({ READ_MODEL_HOURS: '1.5' })).toEqual(['READ_MODEL_HOURS']);
  });

  it('keeps the vault in S3 with VAULT=s3, and then requires a bucket and a region', () => {
    const place = { VAULT: 's3', VAULT_S3_BUCKET: 'people.example', VAULT_S3_REGION: 'eu-central-1' };
    expect(read(place).vault.place).toEqual({
      kind: 's3',
      bucket: 'people.example',
      region: 'eu-central-1',
      endpoint: null,
      prefix: 'vault',
    });
    expect(
      read({ ...place, VAULT_S3_ENDPOINT: 'http://127.0.0.1:9000/', VAULT_S3_PREFIX: 'service/vault_1' }).vault.place,
    ).toMatchObject({ endpoint: 'http://127.0.0.1:9000', prefix: 'service/vault_1' });
    expect(wrong({ VAULT: 's3' })).toEqual(['VAULT_S3_BUCKET', 'VAULT_S3_REGION']);
    expect(wrong({ VAULT: 'paper' })).toEqual(['VAULT']);
    for (const bucket of ['A', 'ab', 'Upper', '-a-', 'with/slash', 'x'.repeat(64)])
      expect(wrong({ ...place, VAULT_S3_BUCKET: bucket })).toEqual(['VAULT_S3_BUCKET']);
    for (const region of ['eu central', 'EU', 'https://x'])
      expect(wrong({ ...place, VAULT_S3_REGION: region })).toEqual(['VAULT_S3_REGION']);
    for (const prefix of ['/vault', 'vault/', 'a//b', '../x', 'ä', 'x'.repeat(201)])
      expect(wrong({ ...place, VAULT_S3_PREFIX: prefix })).toEqual(['VAULT_S3_PREFIX']);
    expect(wrong({ ...place, VAULT_S3_ENDPOINT: 's3.example.com' })).toEqual(['VAULT_S3_ENDPOINT']);
    // Settings of the other places for the vault are ignored.
    expect(read({ VAULT_S3_BUCKET: 'A', VAULT_S3_ENDPOINT: 'x' }).vault.place).toMatchObject({ kind: 'disk' });
  });

  it('accepts the path of an existing browser, and otherwise searches for a browser', () => {
    expect(read({ CHROMIUM_PATH: process.execPath, PATH: '/a:/b' }).pdf).toMatchObject({
      chromiumPath: process.execPath,
      searchPath: '/a:/b',
      servedPagesOnly: false,
    });
    expect(read({ PDF_SERVED_PAGES_ONLY: 'true' }).pdf.servedPagesOnly).toBe(true);
    expect(wrong({ PDF_SERVED_PAGES_ONLY: 'yes' })).toEqual(['PDF_SERVED_PAGES_ONLY']);
    expect(wrong({ CHROMIUM_PATH: '/no/such/browser' })).toEqual(['CHROMIUM_PATH']);
  });

  it("accepts a mail server only with a sender's address", () => {
    expect(read({ SMTP_URL: 'smtps://user:word@mail.example.com', MAIL_FROM: 'service@example.com' }).mail).toEqual({
      url: 'smtps://user:word@mail.example.com',
      from: 'service@example.com',
    });
    expect(wrong({ SMTP_URL: 'smtp://mail.example.com' })).toEqual(['MAIL_FROM']);
    for (const url of ['mail.example.com', 'https://mail.example.com', 'smtp://'])
      expect(wrong({ SMTP_URL: url, MAIL_FROM: 'service@example.com' })).toEqual(['SMTP_URL']);
    for (const from of ['service', 'Service <service@example.com>', 'a@b\r\nbcc: c@d'])
      expect(wrong({ SMTP_URL: 'smtp://mail.example.com', MAIL_FROM: from })).toEqual(['MAIL_FROM']);
  });

  it('accepts a certificate only together with its key', () => {
    expect(wrong({ TLS_CERT: 'package.json' })).toEqual(['TLS_KEY']);
    expect(wrong({ TLS_KEY: 'tsconfig.json' })).toEqual(['TLS_CERT']);
  });
});

describe('the configuration of production', () => {
  it('requires TLS, listens on all addresses and has no sandbox', () => {
    expect(readConfig(PRODUCTION)).toMatchObject({
      process: { production: true, demoAccounts: false },
      http: { requireTls: true, plainHttpReason: null, host: '0.0.0.0' },
      vendors: {
        sandboxUrl: null,
        byId: { idv: { live: { url: 'https://vendor.example.com', credential: 'vendor-key' }, test: null } },
      },
    });
  });

  it('accepts plain HTTP only with a reason, which the start logs', () => {
    expect(wrong({ ...PRODUCTION, REQUIRE_TLS: 'false' })).toEqual(['REQUIRE_TLS']);
    expect(
      readConfig({ ...PRODUCTION, REQUIRE_TLS: 'false', ACCEPT_PLAIN_HTTP: 'the mesh encrypts' }).http,
    ).toMatchObject({
      requireTls: false,
      plainHttpReason: 'the mesh encrypts',
    });
    expect(readConfig({ ...PRODUCTION, ACCEPT_PLAIN_HTTP: 'unused' }).http).toMatchObject({
      requireTls: true,
      plainHttpReason: null,
    });
  });

  it.each(['PUBLIC_URL', 'EMBEDDED_URL', 'IDENTITY_VENDOR_URL', 'INCOME_VENDOR_URL', 'PROCESSOR_URL'])(
    'refuses %s over plain HTTP',
    (name) => {
      for (const url of [
        'http://vendor.example.com',
        'HTTP://10.0.0.7:8080',
        'http://127.0.0.1.example.com',
        'http://localhost.example.com',
      ])
        expect(wrong({ ...PRODUCTION, [name]: url })).toEqual([name]);
      const reached = ['http://127.0.0.1:9000', 'http://localhost:9000', 'http://[::1]:9000'];
      // A sidecar on this machine may encrypt the connection to a vendor. Requests from other machines use the
      // service's own addresses, and tokens are sent to these.
      if (/^(PUBLIC|EMBEDDED)/.test(name))
        for (const url of reached) expect(wrong({ ...PRODUCTION, [name]: url })).toEqual([name]);
      else for (const url of reached) expect(() => readConfig({ ...PRODUCTION, [name]: url })).not.toThrow();
    },
  );

  it('refuses the secrets that the sandbox publishes, even for test traffic', () => {
    const sandbox = {
      SANDBOX_URL: 'https://sandbox.example.com',
      SANDBOX_VENDOR_KEY: 'test-vendor-key',
      SANDBOX_PROCESSOR_SECRET_KEY: 'sk_test_example',
      SANDBOX_PROCESSOR_WEBHOOK_SECRET: 'whsec_test',
    };
    const published = {
      IDENTITY_VENDOR_KEY: 'sandbox-vendor-key',
      INCOME_VENDOR_KEY: 'sandbox-vendor-key',
      PROCESSOR_SECRET_KEY: 'sk_test_sandbox_processor',
      PROCESSOR_WEBHOOK_SECRET: 'whsec_own, whsec_sandbox_processor_events',
      SANDBOX_VENDOR_KEY: 'sandbox-vendor-key',
      SANDBOX_PROCESSOR_SECRET_KEY: 'sk_test_sandbox_processor',
      SANDBOX_PROCESSOR_WEBHOOK_SECRET: 'whsec_sandbox_processor_events',
    };
    for (const [name, value] of Object.entries(published))
      expect(wrong({ ...PRODUCTION, ...sandbox, [name]: value })).toEqual([name]);
  });

  it('refuses two master keys with the same id', () => {
    expect(wrong({ VAULT_MASTER_KEY: `${PRODUCTION.VAULT_MASTER_KEY},${PRODUCTION.VAULT_MASTER_KEY}` })).toEqual([
      'VAULT_MASTER_KEY',
    ]);
  });

  it.each(['https://user:word@api.example.com', 'https://api.example.com/?a=b', 'https://api.example.com/#a'])(
    'refuses %s as a public address',
    (address) => {
      expect([wrong({ PUBLIC_URL: address }), wrong({ EMBEDDED_URL: address })]).toEqual([
        ['PUBLIC_URL'],
        ['EMBEDDED_URL'],
      ]);
    },
  );

  it('refuses a master key that repeats one byte', () => {
    const key = (byte: number): string => Buffer.alloc(32, byte).toString('base64');
    for (const keys of [`k1:${key(0)}`, `k1:${key(255)}`, `${PRODUCTION.VAULT_MASTER_KEY},old:${key(0)}`])
      expect(wrong({ ...PRODUCTION, VAULT_MASTER_KEY: keys })).toEqual(['VAULT_MASTER_KEY']);
  });

  it('refuses trusted proxies that cover all addresses', () => {
    const halves = '0.0.0.0/1,128.0.0.0/1';
    const eighths = Array.from({ length: 32 }, (_, index) => `${index * 8}.0.0.0/5`).join();
    for (const ranges of [
      '0.0.0.0/0',
      '::/0',
      '10.0.0.0/8,0.0.0.0/0',
      halves,
      eighths,
      '::/1,8000::/1',
      '2000::/3',
      '::ffff:0.0.0.0/96',
      '::ffff:0:0/97,::ffff:128.0.0.0/97',
    ]) {
      expect([ranges, wrong({ ...PRODUCTION, TRUSTED_PROXIES: ranges })]).toEqual([ranges, ['TRUSTED_PROXIES']]);
    }
    for (const ranges of ['10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,fc00::/7', '127.0.0.1,::1', '203.0.113.7'])
      expect(readConfig({ ...PRODUCTION, TRUSTED_PROXIES: ranges }).http.trustedProxies).toEqual(ranges.split(','));
  });

  it('refuses a Redis on another host without a password', () => {
    for (const url of [
      'redis://redis.internal:6379',
      'rediss://redis.internal',
      'redis://user@10.0.0.7',
      'redis://:@redis',
    ])
      expect(wrong({ ...PRODUCTION, REDIS_URL: url })).toEqual(['REDIS_URL']);
    for (const url of [
      'rediss://:redis-secret@redis.internal',
      'redis://127.0.0.1:6379',
      'redis://localhost',
      'redis://[::1]',
      'unix:///run/redis.sock',
    ])
      expect(readConfig({ ...PRODUCTION, REDIS_URL: url }).redis.url).toBe(url);
  });

  it.each([
    ['REDIS_URL', 'redis://user:redis-secret@redis.internal:6379', {}],
    ['SANDBOX_URL', 'http://redis.internal:3001', TEST_TRAFFIC],
    ['VAULT_S3_ENDPOINT', 'http://redis.internal:9000', S3],
    ['EVENTSTORE_URL', 'esdb://redis.internal:2113?tls=false', { EVENT_STORE: 'eventstoredb' }],
    [
      'EVENTSTORE_URL',
      'esdb+discover://u:p@redis.internal?nodePreference=leader&TLS=False',
      { EVENT_STORE: 'eventstoredb' },
    ],
    ['EVENTSTORE_URL', 'esdb://localhost:1,redis.internal:2?tls=false', { EVENT_STORE: 'eventstoredb' }],
  ])('refuses %s %s without TLS, unless PLAINTEXT_HOSTS names its host', (name, url, more) => {
    const env = { ...PRODUCTION, ...more, [name]: url };
    expect(wrong(env)).toEqual([name]);
    for (const hosts of ['other.internal', 'internal', '10.0.0.7'])
      expect(wrong({ ...env, PLAINTEXT_HOSTS: hosts })).toEqual([name]);
    for (const hosts of ['redis.internal', 'other,Redis.Internal'])
      expect(() => readConfig({ ...env, PLAINTEXT_HOSTS: hosts })).not.toThrow();
    expect(() => readConfig({ ...env, [name]: url.replace('redis.internal', '127.0.0.1') })).not.toThrow();
  });

  it.each(['*.internal', '*', 'redis.internal:6379', 'redis://redis', '10.0.0.0/8', '.internal'])(
    'refuses %s as a host that needs no TLS',
    (host) => expect(wrong({ ...PRODUCTION, PLAINTEXT_HOSTS: `redis,${host}` })).toEqual(['PLAINTEXT_HOSTS']),
  );

  it.each([
    ...['IDENTITY_VENDOR_KEY', 'INCOME_VENDOR_KEY', 'PROCESSOR_SECRET_KEY', 'PROCESSOR_WEBHOOK_SECRET'],
    ...['SANDBOX_VENDOR_KEY', 'SANDBOX_PROCESSOR_SECRET_KEY', 'SANDBOX_PROCESSOR_WEBHOOK_SECRET'],
  ])('refuses a weak secret in %s', (name) => {
    for (const weak of ['x', '1234567', 'aaaaaaaaaaaa', 'abababababab'])
      expect(wrong({ ...PRODUCTION, ...TEST_TRAFFIC, [name]: weak })).toEqual([name]);
  });

  it('refuses a weak password of Redis', () => {
    for (const password of ['x', 'secret', 'aaaaaaaaaa', '%61%61%61%61%61%61%61%61'])
      expect(wrong({ ...PRODUCTION, REDIS_URL: `rediss://:${password}@redis.internal` })).toEqual(['REDIS_URL']);
  });

  it('refuses a test secret as a live secret, a live secret as a test secret, and one secret for both', () => {
    const both = { ...PRODUCTION, ...TEST_TRAFFIC };
    for (const key of ['sk_test_example', 'rk_test_example'])
      expect(wrong({ ...both, PROCESSOR_SECRET_KEY: key })).toContain('PROCESSOR_SECRET_KEY');
    for (const key of ['sk_live_other_key', 'rk_live_other_key', PRODUCTION.PROCESSOR_SECRET_KEY])
      expect(wrong({ ...both, SANDBOX_PROCESSOR_SECRET_KEY: key })).toEqual(['SANDBOX_PROCESSOR_SECRET_KEY']);
    expect(wrong({ ...both, SANDBOX_VENDOR_KEY: PRODUCTION.IDENTITY_VENDOR_KEY })).toEqual(['SANDBOX_VENDOR_KEY']);
    expect(wrong({ ...both, SANDBOX_VENDOR_KEY: PRODUCTION.INCOME_VENDOR_KEY })).toEqual(['SANDBOX_VENDOR_KEY']);
    const shared = 'whsec_new, whsec_example';
    expect(wrong({ ...both, SANDBOX_PROCESSOR_WEBHOOK_SECRET: shared })).toEqual(['SANDBOX_PROCESSOR_WEBHOOK_SECRET']);
  });

  it.each([
    ['text', Buffer.from('correct horse battery staple 123')],
    ['bytes that count up', Buffer.from(Array.from({ length: 32 }, (_, index) => index))],
    ['bytes that count down past zero', Buffer.from(Array.from({ length: 32 }, (_, index) => (260 - 7 * index) % 256))],
  ])('refuses a master key of %s', (_, bytes) => {
    expect(wrong({ ...PRODUCTION, VAULT_MASTER_KEY: `k1:${bytes.toString('base64')}` })).toEqual(['VAULT_MASTER_KEY']);
  });

  it("serves metrics and the processor's events on this machine only, unless another address is configured", () => {
    expect(readConfig({ ...PRODUCTION, METRICS_PORT: '9464', INTERNAL_PORT: '3002' }).http).toMatchObject({
      host: '0.0.0.0',
      metricsHost: '127.0.0.1',
      internalHost: '127.0.0.1',
    });
    expect(readConfig({ ...PRODUCTION, METRICS_HOST: '10.0.0.7', INTERNAL_HOST: '10.0.0.8' }).http).toMatchObject({
      host: '0.0.0.0',
      metricsHost: '10.0.0.7',
      internalHost: '10.0.0.8',
    });
  });

  it('accepts a sandbox only for test traffic, with secrets of its own', () => {
    const sandbox = {
      SANDBOX_URL: 'https://sandbox.example.com',
      SANDBOX_VENDOR_KEY: 'test-vendor-key',
      SANDBOX_PROCESSOR_SECRET_KEY: 'sk_test_example',
      SANDBOX_PROCESSOR_WEBHOOK_SECRET: 'whsec_test',
    };
    expect(readConfig(PRODUCTION).vendors.forTest).toBe(false);
    const test = { url: 'https://sandbox.example.com', credential: 'test-vendor-key' };
    expect(readConfig({ ...PRODUCTION, ...sandbox }).vendors).toMatchObject({
      forTest: true,
      byId: {
        idv: { live: { url: 'https://vendor.example.com' }, test },
        voie: { live: { url: 'https://income.example.com' }, test },
        stripe: {
          live: { url: null, secretKey: 'sk_live_example', webhookSecrets: 'whsec_example' },
          test: { url: test.url, secretKey: 'sk_test_example', webhookSecrets: 'whsec_test' },
        },
      },
    });
    for (const name of ['SANDBOX_VENDOR_KEY', 'SANDBOX_PROCESSOR_SECRET_KEY', 'SANDBOX_PROCESSOR_WEBHOOK_SECRET'])
      expect(wrong({ ...PRODUCTION, ...sandbox, [name]: '' })).toEqual([name]);
  });

  describe('the configuration of the embedded component', () => {
    const scripts = {
      PROCESSOR_JS_URL: 'https://js.example.com/v3/',
      PROCESSOR_PUBLISHABLE_KEY: 'pk_live_example',
      FINGERPRINT_SCRIPT_URL: 'https://device.example.com/collect.js',
    };
    const testScripts = {
      SANDBOX_PROCESSOR_JS_URL: 'https://sandbox.example.com/browser/processor.js',
      // The sandbox publishes this key, so it is not secret.
      SANDBOX_PROCESSOR_PUBLISHABLE_KEY: 'pk_test_sandbox_processor',
      SANDBOX_FINGERPRINT_SCRIPT_URL: 'https://sandbox.example.com/browser/fingerprint.js',
    };
    const sandbox = {
      SANDBOX_URL: 'https://sandbox.internal',
      SANDBOX_VENDOR_KEY: 'test-vendor-key',
      SANDBOX_PROCESSOR_SECRET_KEY: 'sk_test_example',
      SANDBOX_PROCESSOR_WEBHOOK_SECRET: 'whsec_test',
    };
    const live = {
      processor: { scriptUrl: 'https://js.example.com/v3/', publishableKey: 'pk_live_example' },
      fingerprintScriptUrl: 'https://device.example.com/collect.js',
    };

    it('has scripts for each environment in which all three are configured', () => {
      expect(readConfig(PRODUCTION).embedded.scripts).toEqual({ live: null, test: null });
      expect(readConfig({ ...PRODUCTION, ...scripts }).embedded.scripts).toEqual({ live, test: null });
      expect(readConfig({ ...PRODUCTION, ...scripts, ...sandbox }).embedded.scripts).toEqual({ live, test: null });
      expect(readConfig({ ...PRODUCTION, ...sandbox, ...testScripts }).embedded.scripts).toEqual({
        live: null,
        test: {
          processor: {
            scriptUrl: 'https://sandbox.example.com/browser/processor.js',
            publishableKey: 'pk_test_sandbox_processor',
          },
          fingerprintScriptUrl: 'https://sandbox.example.com/browser/fingerprint.js',
        },
      });
    });

    it('accepts no scripts for test keys without test traffic', () => {
      expect(readConfig({ ...PRODUCTION, ...testScripts }).embedded.scripts).toEqual({ live: null, test: null });
    });

    it('lists the missing scripts when only some are configured', () => {
      for (const [names, more] of [
        [scripts, {}],
        [testScripts, sandbox],
      ] as const) {
        for (const name of Object.keys(names)) {
          const rest = Object.keys(names).filter((other) => other !== name);
          expect(wrong({ ...PRODUCTION, ...more, ...names, [name]: '' })).toEqual([name]);
          expect(
            wrong({ ...PRODUCTION, ...more, [name]: Object.entries(names).find(([n]) => n === name)![1] }),
          ).toEqual(rest);
        }
      }
    });

    it("refuses scripts without https, and refuses the sandbox's publishable key for live traffic", () => {
      for (const name of ['PROCESSOR_JS_URL', 'FINGERPRINT_SCRIPT_URL'])
        for (const url of ['http://js.example.com/x.js', 'http://127.0.0.1:3001/x.js'])
          expect(wrong({ ...PRODUCTION, ...scripts, [name]: url })).toEqual([name]);
      for (const name of ['SANDBOX_PROCESSOR_JS_URL', 'SANDBOX_FINGERPRINT_SCRIPT_URL'])
        expect(wrong({ ...PRODUCTION, ...sandbox, ...testScripts, [name]: 'http://127.0.0.1:3001/x.js' })).toEqual([
          name,
        ]);
      expect(wrong({ ...PRODUCTION, ...scripts, PROCESSOR_PUBLISHABLE_KEY: 'pk_test_sandbox_processor' })).toEqual([
        'PROCESSOR_PUBLISHABLE_KEY',
      ]);
    });
  });

  it('has no default for a secret', () => {
    expect(wrong({ NODE_ENV: 'production' }).sort()).toEqual(SECRETS);
    for (const name of [...SECRETS, 'REDIS_URL']) expect(wrong({ ...PRODUCTION, [name]: '' })).toEqual([name]);
  });

  it('forbids webhooks to private addresses', () => {
    expect(wrong({ ...PRODUCTION, WEBHOOK_EGRESS_ALLOW: '127.0.0.1/32' })).toEqual(['WEBHOOK_EGRESS_ALLOW']);
  });
});
