// The environment, parsed and validated once. The only file that reads process.env (docs/contract/general.md#configuration).
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isIP, BlockList } from 'node:net';
import { FIRST_VENDORS } from './kernel/vendor-choice.js';
import type { SettingsSchema, VendorSetting, VendorSettings } from './kernel/vendor-settings.js';

/**
 * `investigation` shows what there is: it builds read models, appends no event, stores nothing in the vault, calls nobody and
 * tells nobody. `operator` is the command line, which runs nothing by itself; no ROLE of the environment names it.
 */
export type Role = 'all' | 'api' | 'worker' | 'projector' | 'investigation' | 'operator';

/** What the environment says; also the injection token. */
export abstract class Config {
  abstract readonly production: boolean;
  abstract readonly role: Role;
  abstract readonly port: number;
  abstract readonly host: string;
  /** Where metrics and what vendors tell us are served, when they have a port of their own. */
  abstract readonly metricsHost: string;
  abstract readonly internalHost: string;
  /** Null: `/metrics` is on the main port, for loopback callers only. */
  abstract readonly metricsPort: number | null;
  /** Address the outside knows the service by, without a trailing slash. */
  abstract readonly publicUrl: string;
  /** Whether PUBLIC_URL was configured; without it events carry no report_url. */
  abstract readonly publicUrlConfigured: boolean;
  abstract readonly embeddedUrl: string;
  abstract readonly sandboxUrl: string | null;
  /** Where `npm start` runs the sandbox; null: it runs none. */
  abstract readonly sandboxPort: number | null;
  /** Whether the test environment has vendors: outside production always, in production when a sandbox is named. */
  abstract readonly testVendors: boolean;
  /** By the id of the vendor. */
  abstract readonly vendors: Readonly<Record<string, VendorSettings>>;
  /** Calls to one vendor that a worker process has under way at once. */
  abstract readonly vendorConcurrency: number;
  /** Null: what vendors tell us arrives on the main port, from loopback callers only. */
  abstract readonly internalPort: number | null;
  /** `url`: the mail server, `smtp://` or `smtps://`; null: nothing is mailed. */
  abstract readonly mail: { readonly url: string | null; readonly from: string };
  abstract readonly dataDir: string;
  /** When less is free on the disk of the data folder, the log says so; 0: never. */
  abstract readonly diskLowBytes: number;
  /** Nothing is appended to the log or put into the vault: the role says so, or the data folder is a restored copy that nobody released. */
  abstract readonly readOnly: boolean;
  /** File that names the erased subjects of the vault. Kept apart from backups, so that an older vault can be told of them. */
  abstract readonly erasureLedger: string;
  /** `maxBytes`: what the file of the embedded log may grow to. `testShare`: the fraction of it that test traffic may fill. */
  abstract readonly eventStore:
    | { readonly kind: 'embedded'; readonly maxBytes: number; readonly testShare: number }
    | { readonly kind: 'eventstoredb'; readonly url: string };
  abstract readonly redisUrl: string;
  /** `<key id>:<base64 of 32 bytes>`, comma separated, the first one wraps; null lets a development key be made in the data folder. */
  abstract readonly vaultMasterKey: string | null;
  abstract readonly vault: VaultPlace;
  /** The browser that prints PDFs; null looks for one of the usual names in `searchPath`. */
  abstract readonly chromiumPath: string | null;
  /** Folders in which programs are looked for, as PATH names them. */
  abstract readonly searchPath: string;
  /** PEM, JWK or JWKS of ES256 private keys; null lets a development key be made in the data folder. */
  abstract readonly jwtSigningKey: string | null;
  abstract readonly requireTls: boolean;
  /** Why production takes plain HTTP, as the operator says; null where it does not. */
  abstract readonly plainHttpReason: string | null;
  /** Whether demo accounts are made at the start. */
  abstract readonly demoAccounts: boolean;
  abstract readonly trustedProxies: readonly string[];
  abstract readonly tls: { readonly certPath: string; readonly keyPath: string } | null;
  abstract readonly logLevel: string;
  abstract readonly limits: Limits;
  /** Names of limits that differ from their defaults; a production start logs them. */
  abstract readonly overrides: readonly string[];
  /** Names of limits against abuse that are switched off; a production start logs them. */
  abstract readonly switchedOff: readonly string[];
}

/** Whether a process of this role does what `part` stands for. An investigation does all but work. */
export function runs({ role }: Pick<Config, 'role'>, part: 'api' | 'worker' | 'projector'): boolean {
  if (role === 'investigation') return part !== 'worker';
  return role === 'all' || role === part;
}

/** On disk the vault lies in the data folder, and its values grow to `maxBytes`. Credentials for S3 come from where the AWS SDK looks for them. */
export type VaultPlace =
  | { readonly kind: 'disk'; readonly maxBytes: number }
  | {
      readonly kind: 's3';
      readonly bucket: string;
      readonly region: string;
      readonly endpoint: string | null;
      readonly prefix: string;
    };

/** The limits of docs/contract, by default; seconds unless the name says otherwise. */
export interface Limits {
  readonly tokenTtl: number;
  readonly tokenExchangePerMinute: number;
  readonly otpResendInterval: number;
  readonly stepUpTtl: number;
  readonly stepUpAttempts: number;
  readonly blockDuration: number;
  readonly reportValidity: number;
  /** Null: 24 calendar months. */
  readonly shareWindow: number | null;
  readonly grantTtl: number;
  readonly checkoutGuard: number;
  readonly reauthValidity: number;
  readonly agentLock: number;
  readonly vendorTimeout: number;
  readonly webhookTimeout: number;
  readonly webhookRetryLadder: readonly number[];
  /** Fraction, both ways. */
  readonly webhookJitter: number;
  readonly webhookFailingAfter: number;
  readonly webhookDisableAfter: number;
  readonly webhookRedeliveryInterval: number;
  readonly webhookEgressAllow: readonly string[];
  // Against abuse (docs/contract/general.md#limits-against-abuse); 0 switches one off.
  readonly submitsPerMinutePerAddress: number;
  /** Of an account and environment; an account may have its own. */
  readonly submitsPerMinute: number;
  readonly smsPerHour: number;
  readonly smsPerDay: number;
  readonly submitsPerHourPerPerson: number;
  readonly reportReadsPerMinute: number;
  readonly pdfsPerMinute: number;
  readonly pingsPerSecond: number;
  readonly idempotencyKeysPerAccount: number;
  /** Fraction of a vendor's slots. */
  readonly vendorShare: number;
}

const DAY = 86_400;
/** The largest share of all addresses that may be proxies of ours: sixteen of the widest blocks that anybody holds. */
const MAX_TRUSTED_SHARE = 16 * 2 ** -8;
const GIB = 2 ** 30;
/** Of a file that may grow: less fills up within hours, more is beyond what a machine can address at once. */
const FILE_BYTES = { min: 64 * 2 ** 20, max: 16_384 * GIB };
const HIGHEST_PORT = 65_535;

/** Thrown with one message that names every wrong variable. */
export class InvalidConfig extends Error {
  override readonly name = 'InvalidConfig';
}

/** In a data folder that was restored from a backup: what became of it. Written by `ops backup`. */
export const RESTORED_FILE = 'restored.json';

/**
 * `lowestPort`: of PORT and SANDBOX_PORT; 0 takes a free port, which serves only those who need not know it. `tools`: for the
 * operator command line, which may look at a restored copy whatever the role. `vendors`: those whose settings are read.
 */
export function readConfig(
  env: NodeJS.ProcessEnv,
  {
    lowestPort = 0,
    tools = false,
    vendors = [],
  }: {
    readonly lowestPort?: number;
    readonly tools?: boolean;
    readonly vendors?: readonly { readonly id: string; readonly settings: SettingsSchema }[];
  } = {},
): Config {
  const faults = new Map<string, string>();
  const overrides: string[] = [];
  const switchedOff: string[] = [];
  const fault = (name: string, rule: string): void => void (faults.has(name) || faults.set(name, rule));
  const text = (name: string): string | null => {
    const value = env[name]?.trim();
    return value === undefined || value === '' ? null : value;
  };
  const oneOf = <Value extends string>(name: string, values: readonly Value[], fallback: Value): Value => {
    const value = text(name) ?? fallback;
    if (!(values as readonly string[]).includes(value)) fault(name, `must be one of ${values.join(', ')}`);
    return value as Value;
  };
  const number = (
    name: string,
    fallback: number,
    { min = 0, max = Number.MAX_SAFE_INTEGER, whole = true } = {},
  ): number => {
    const value = text(name);
    if (value === null) return fallback;
    const parsed = Number(value);
    if (!Number.isFinite(parsed) || parsed < min || parsed > max || (whole && !Number.isInteger(parsed))) {
      fault(name, `must be a${whole ? ' whole' : ''} number from ${min} to ${max}`);
      // What is derived from it is not wrong as well.
      return fallback;
    }
    return parsed;
  };
  const limit = (
    name: string,
    fallback: number,
    options: { min?: number; max?: number; whole?: boolean } = {},
  ): number => {
    const value = number(name, fallback, { whole: false, ...options });
    if (value !== fallback) overrides.push(name);
    return value;
  };
  const rate = (name: string, fallback: number, options: { max?: number; whole?: boolean } = {}): number => {
    const value = limit(name, fallback, { whole: true, ...options });
    if (value === 0) switchedOff.push(name);
    return value;
  };
  const flag = (name: string, fallback: boolean): boolean => {
    const value = text(name);
    if (value === null) return fallback;
    if (value !== 'true' && value !== 'false') fault(name, 'must be true or false');
    return value === 'true';
  };
  const url = (name: string, fallback: string | null): string | null => {
    const value = text(name) ?? fallback;
    if (value === null) return null;
    if (!URL.canParse(value) || !/^https?:$/.test(new URL(value).protocol)) {
      fault(name, 'must be an http or https URL');
      return fallback;
    }
    return value.replace(/\/+$/, '');
  };
  /** A URL over which secrets and personal data travel; `local`: they may stay on this machine, with whoever sends them on. */
  const secureUrl = (name: string, fallback: string | null, { local = false } = {}): string | null => {
    const value = url(name, fallback);
    const named = value === null || text(name) === null ? null : new URL(value);
    if (!local && named !== null && `${named.username}${named.password}${named.search}${named.hash}` !== '')
      fault(name, 'must be an address without user, query and fragment');
    if (production && named !== null) {
      const { protocol, hostname } = named;
      if (protocol !== 'https:' && !(local && isLoopback(hostname))) fault(name, 'must be an https URL in production');
    }
    return value;
  };
  const port = (name: string, fallback: number, min = 0): number => number(name, fallback, { min, max: HIGHEST_PORT });

  const production = oneOf('NODE_ENV', ['production', 'development', 'test'], 'development') === 'production';
  const inProduction = (name: string, value: string | null): string | null => {
    if (production && value === null) fault(name, 'must be set in production');
    return value;
  };

  const published = vendors.flatMap(({ settings }) => Object.values(settings).map((setting) => setting.published));
  /** A secret, or a list of them, that outside production is the sandbox's. */
  const secret = (name: string, sandbox: string): string => {
    const value = text(name) ?? (production ? null : sandbox);
    if (production && list(value).some((one) => published.includes(one)))
      fault(name, 'must not be the published secret of the sandbox in production');
    return inProduction(name, value) ?? '';
  };

  const listenPort = port('PORT', 3000, lowestPort);
  const publicUrl = inProduction('PUBLIC_URL', secureUrl('PUBLIC_URL', null));
  const base = publicUrl ?? `http://localhost:${listenPort}`;
  const namedSandboxPort = port('SANDBOX_PORT', Math.min(listenPort + 1, HIGHEST_PORT), lowestPort);
  const sandboxPort = production || text('SANDBOX_URL') !== null ? null : namedSandboxPort;
  if (sandboxPort !== null && listenPort === HIGHEST_PORT && text('SANDBOX_PORT') === null)
    fault('SANDBOX_PORT', `must be set when PORT is ${HIGHEST_PORT}`);
  const sandboxUrl = sandboxPort === null ? url('SANDBOX_URL', null) : `http://127.0.0.1:${sandboxPort}`;
  // In production the live vendors are named each, and a sandbox serves test traffic only.
  const vendorUrl = production ? null : sandboxUrl;
  const withSandbox = (name: string): string => {
    if (text(name) === null) fault(name, 'must be set together with SANDBOX_URL');
    return secret(name, '');
  };
  const liveSetting = ({ kind, variable, optional, published = '' }: VendorSetting): string | null => {
    if (kind !== 'url') return secret(variable, published);
    const value = secureUrl(variable, vendorUrl, { local: true });
    return optional ? value : inProduction(variable, value);
  };
  const testSetting = ({ kind, testVariable }: VendorSetting): string | null => {
    if (kind !== 'url') return testVariable === undefined ? null : withSandbox(testVariable);
    return testVariable === undefined ? sandboxUrl : secureUrl(testVariable, sandboxUrl, { local: true });
  };
  /** The vendors of accounts that chose none must be set up; another one is when any of its variables is set. */
  const settingsOf = ({ id, settings }: { readonly id: string; readonly settings: SettingsSchema }): VendorSettings => {
    const needed = Object.values<string>(FIRST_VENDORS).includes(id);
    const named = (variable: 'variable' | 'testVariable'): boolean =>
      Object.values(settings).some((setting) => text(setting[variable] ?? '') !== null);
    const read = (how: typeof liveSetting): Readonly<Record<string, string | null>> =>
      Object.fromEntries(Object.entries(settings).map(([name, setting]) => [name, how(setting)]));
    const live = !production || needed || named('variable') ? read(liveSetting) : null;
    if (!production) return { live, test: live };
    return { live, test: sandboxUrl !== null && (needed || named('testVariable')) ? read(testSetting) : null };
  };
  const vendorSettings = Object.fromEntries(vendors.map((vendor) => [vendor.id, settingsOf(vendor)]));
  const kind = oneOf('EVENT_STORE', ['embedded', 'eventstoredb'], 'embedded');
  const eventStoreUrl = text('EVENTSTORE_URL');
  if (kind === 'eventstoredb' && !eventStoreUrl?.match(/^esdb(\+discover)?:\/\//))
    fault('EVENTSTORE_URL', 'must be an esdb:// connection string when EVENT_STORE is eventstoredb');
  const redisUrl = text('REDIS_URL');
  if (redisUrl === null) fault('REDIS_URL', 'must be set (npm start finds or runs a Redis by itself)');
  else if (!/^(rediss?|unix):\/\//.test(redisUrl) || !URL.canParse(redisUrl))
    fault('REDIS_URL', 'must be a redis://, rediss:// or unix:// URL');
  else if (production && !isOwnOrGuarded(new URL(redisUrl)))
    fault('REDIS_URL', 'must have a password in production when the server is on another host');
  const certPath = text('TLS_CERT');
  const keyPath = text('TLS_KEY');
  if ((certPath === null) !== (keyPath === null))
    fault(
      certPath === null ? 'TLS_CERT' : 'TLS_KEY',
      'must be set together with the other one of TLS_CERT and TLS_KEY',
    );
  for (const [name, path] of [
    ['TLS_CERT', certPath],
    ['TLS_KEY', keyPath],
  ] as const) {
    if (path !== null && !existsSync(path)) fault(name, 'must name a file that exists');
  }
  const masterKey = text('VAULT_MASTER_KEY');
  if (masterKey !== null && !list(masterKey).every((key) => /^[\w.-]{1,32}:[A-Za-z0-9+/]{43}=$/.test(key))) {
    fault('VAULT_MASTER_KEY', 'must be a comma list of <key id>:<base64 of 32 bytes>');
  } else if (
    masterKey !== null &&
    new Set(list(masterKey).map((key) => key.split(':')[0])).size < list(masterKey).length
  ) {
    fault('VAULT_MASTER_KEY', 'must give each key an id of its own');
  } else if (production && list(masterKey).some(isOneByteRepeated)) {
    fault('VAULT_MASTER_KEY', 'must hold random keys, not one byte again and again');
  }
  const chromiumPath = text('CHROMIUM_PATH');
  if (chromiumPath !== null && !existsSync(chromiumPath)) fault('CHROMIUM_PATH', 'must name a file that exists');
  const s3 = oneOf('VAULT', ['disk', 's3'], 'disk') === 's3';
  const ofS3 = (name: string, fallback: string | null, form: RegExp, rule: string): string => {
    const value = text(name) ?? fallback;
    if (s3 && (value === null || !form.test(value))) fault(name, `must be ${rule} when VAULT is s3`);
    return value ?? '';
  };
  const s3Vault: VaultPlace = {
    kind: 's3',
    bucket: ofS3('VAULT_S3_BUCKET', null, /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'the name of a bucket'),
    region: ofS3('VAULT_S3_REGION', null, /^[a-z0-9-]{1,40}$/, 'the name of a region, such as us-east-1'),
    endpoint: s3 ? url('VAULT_S3_ENDPOINT', null) : null,
    prefix: ofS3(
      'VAULT_S3_PREFIX',
      'vault',
      /^(?=.{1,200}$)[A-Za-z0-9_-]+(\/[A-Za-z0-9_-]+)*$/,
      'at most 200 letters, digits, dashes and underscores, with slashes between them,',
    ),
  };
  const signingKey = text('JWT_SIGNING_KEY');
  if (signingKey !== null && !/^(-----BEGIN |\{)/.test(signingKey))
    fault('JWT_SIGNING_KEY', 'must be a PEM, JWK or JWKS of ES256 private keys');
  const smtpUrl = text('SMTP_URL');
  if (
    smtpUrl !== null &&
    (!URL.canParse(smtpUrl) || !/^smtps?:$/.test(new URL(smtpUrl).protocol) || new URL(smtpUrl).hostname === '')
  )
    fault('SMTP_URL', 'must be an smtp:// or smtps:// URL');
  const mailFrom = text('MAIL_FROM');
  if (mailFrom === null ? smtpUrl !== null : !/^[^\s@<>]+@[^\s@<>]+$/.test(mailFrom))
    fault('MAIL_FROM', 'must be the address that mails come from when SMTP_URL is set');
  const trustedProxies = list(text('TRUSTED_PROXIES'));
  if (!trustedProxies.every(isAddressOrCidr))
    fault('TRUSTED_PROXIES', 'must be a comma list of IP addresses and CIDR ranges');
  else if (production && [4, 6].some((family) => shareOf(trustedProxies, family) > MAX_TRUSTED_SHARE))
    fault('TRUSTED_PROXIES', 'must name the proxies in front, not everybody');
  const egressAllow = list(text('WEBHOOK_EGRESS_ALLOW'));
  if (!egressAllow.every(isAddressOrCidr)) fault('WEBHOOK_EGRESS_ALLOW', 'must be a comma list of CIDR ranges');
  if (production && egressAllow.length > 0)
    fault('WEBHOOK_EGRESS_ALLOW', 'is for tests and must not be set in production');
  const defaultLadder = [60, 300, 1_800, 7_200, 18_000, 21_600, 21_600, 21_600];
  const ladder = text('WEBHOOK_RETRY_LADDER') === null ? defaultLadder : list(text('WEBHOOK_RETRY_LADDER')).map(Number);
  if (ladder.length === 0 || !ladder.every((delay) => Number.isFinite(delay) && delay >= 0))
    fault('WEBHOOK_RETRY_LADDER', 'must be a comma list of seconds');
  if (ladder.join() !== defaultLadder.join()) overrides.push('WEBHOOK_RETRY_LADDER');
  const internalPort = text('INTERNAL_PORT') === null ? null : port('INTERNAL_PORT', 0);
  const requireTls = flag('REQUIRE_TLS', production);
  const plainHttpReason = production && !requireTls ? text('ACCEPT_PLAIN_HTTP') : null;
  if (production && !requireTls && plainHttpReason === null)
    fault('REQUIRE_TLS', 'must be true in production, unless ACCEPT_PLAIN_HTTP says why plain HTTP is taken');
  const host = text('HOST') ?? (production ? '0.0.0.0' : '127.0.0.1');
  const dataDir = resolve(text('DATA_DIR') ?? '.data');
  const role = oneOf('ROLE', ['all', 'api', 'worker', 'projector', 'investigation'], 'all');
  const restored = restoredStateOf(dataDir);
  if (restored === 'unfinished') fault('DATA_DIR', 'must not be a folder whose restore broke off (restore once more)');
  if (restored === 'quarantined' && role !== 'investigation' && !tools) {
    fault(
      'ROLE',
      'must be investigation, because DATA_DIR is a restored copy (npm run ops -- backup release <folder> --reason <text> makes it an ordinary one)',
    );
  }
  const metricsPort = text('METRICS_PORT') === null ? null : port('METRICS_PORT', 0);

  const config: Config = {
    production,
    role: tools ? 'operator' : role,
    port: listenPort,
    host,
    metricsHost: text('METRICS_HOST') ?? '127.0.0.1',
    internalHost: text('INTERNAL_HOST') ?? '127.0.0.1',
    metricsPort,
    publicUrl: base,
    publicUrlConfigured: publicUrl !== null,
    embeddedUrl: secureUrl('EMBEDDED_URL', `${base}/embedded`) ?? '',
    sandboxUrl,
    sandboxPort,
    testVendors: !production || sandboxUrl !== null,
    vendors: vendorSettings,
    vendorConcurrency: number('VENDOR_CONCURRENCY', 64, { min: 1, max: 1_000 }),
    internalPort,
    mail: { url: smtpUrl, from: mailFrom ?? '' },
    diskLowBytes: number('DISK_LOW_BYTES', 1_000_000_000),
    dataDir,
    readOnly: role === 'investigation' || restored === 'quarantined',
    erasureLedger: resolve(text('ERASURE_LEDGER') ?? join(dataDir, 'erasures.jsonl')),
    eventStore:
      kind === 'eventstoredb'
        ? { kind, url: eventStoreUrl ?? '' }
        : {
            kind,
            maxBytes: number('EVENT_LOG_MAX_BYTES', 16 * GIB, FILE_BYTES),
            testShare: number('TEST_LOG_SHARE', 0.5, { min: 0.001, max: 1, whole: false }),
          },
    redisUrl: redisUrl ?? '',
    vault: s3 ? s3Vault : { kind: 'disk', maxBytes: number('VAULT_MAX_BYTES', 64 * GIB, FILE_BYTES) },
    chromiumPath,
    searchPath: text('PATH') ?? '',
    vaultMasterKey: inProduction('VAULT_MASTER_KEY', masterKey),
    jwtSigningKey: inProduction('JWT_SIGNING_KEY', signingKey),
    requireTls,
    plainHttpReason,
    // Whoever forgot to say that this is production has no accounts made whose keys lie in a file, unless nobody else gets here.
    demoAccounts: !production && (text('NODE_ENV') !== null || isLoopback(host)),
    trustedProxies,
    tls: certPath !== null && keyPath !== null ? { certPath, keyPath } : null,
    logLevel: oneOf('LOG_LEVEL', ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], 'info'),
    limits: {
      tokenTtl: limit('TOKEN_TTL', 3_600, { min: 1, whole: true }),
      tokenExchangePerMinute: rate('TOKEN_EXCHANGE_PER_MINUTE', 60),
      otpResendInterval: limit('OTP_RESEND_INTERVAL', 30),
      stepUpTtl: limit('STEP_UP_TTL', 1_800),
      stepUpAttempts: limit('STEP_UP_ATTEMPTS', 3, { min: 1, whole: true }),
      blockDuration: limit('BLOCK_DURATION', DAY),
      reportValidity: limit('REPORT_VALIDITY', 30 * DAY),
      shareWindow: text('SHARE_WINDOW') === null ? null : limit('SHARE_WINDOW', 0),
      grantTtl: limit('GRANT_TTL', 900),
      checkoutGuard: limit('CHECKOUT_GUARD', 30 * DAY),
      reauthValidity: limit('REAUTH_VALIDITY', 365 * DAY),
      agentLock: limit('AGENT_LOCK', DAY),
      vendorTimeout: limit('VENDOR_TIMEOUT', 20, { min: 0.1, max: 120 }),
      webhookTimeout: limit('WEBHOOK_TIMEOUT', 8, { min: 0.1 }),
      webhookRetryLadder: ladder,
      webhookJitter: limit('WEBHOOK_JITTER', 0.1, { max: 1 }),
      webhookFailingAfter: limit('WEBHOOK_FAILING_AFTER', 3, { min: 1, whole: true }),
      webhookDisableAfter: limit('WEBHOOK_DISABLE_AFTER', 3 * DAY),
      webhookRedeliveryInterval: limit('WEBHOOK_REDELIVERY_INTERVAL', 60),
      webhookEgressAllow: egressAllow,
      submitsPerMinutePerAddress: rate('SUBMITS_PER_MINUTE_PER_ADDRESS', 30),
      submitsPerMinute: rate('SUBMITS_PER_MINUTE', 600),
      smsPerHour: rate('SMS_PER_HOUR', 6),
      smsPerDay: rate('SMS_PER_DAY', 12),
      submitsPerHourPerPerson: rate('SUBMITS_PER_HOUR_PER_PERSON', 5),
      reportReadsPerMinute: rate('REPORT_READS_PER_MINUTE', 60),
      pdfsPerMinute: rate('PDFS_PER_MINUTE', 10),
      pingsPerSecond: rate('PINGS_PER_SECOND', 1),
      idempotencyKeysPerAccount: rate('IDEMPOTENCY_KEYS_PER_ACCOUNT', 10_000),
      vendorShare: rate('VENDOR_SHARE', 0.25, { max: 1, whole: false }),
    },
    overrides,
    switchedOff,
  };
  if (faults.size > 0)
    throw new InvalidConfig(`Configuration is not valid: ${[...faults].map((fault) => fault.join(' ')).join('; ')}.`);
  return config;
}

/** Null for a folder that was not restored, or was released since. */
function restoredStateOf(dataDir: string): 'unfinished' | 'quarantined' | null {
  const file = join(dataDir, RESTORED_FILE);
  if (!existsSync(file)) return null;
  try {
    const { state } = JSON.parse(readFileSync(file, 'utf8')) as { readonly state?: unknown };
    if (state === 'released') return null;
    return state === 'quarantined' ? state : 'unfinished';
  } catch {
    return 'unfinished';
  }
}

function list(value: string | null): string[] {
  return (value ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** `hostname`: as in a URL, or as a host to listen on. */
function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || /^127\.\d+\.\d+\.\d+$/.test(hostname) || /^\[?::1\]?$/.test(hostname);
}

function isOwnOrGuarded({ protocol, hostname, password }: URL): boolean {
  return protocol === 'unix:' || isLoopback(hostname) || password !== '';
}

/** `key`: `<key id>:<base64>`. */
function isOneByteRepeated(key: string): boolean {
  return new Set(Buffer.from(key.slice(key.indexOf(':') + 1), 'base64')).size === 1;
}

/** How much of all addresses of a family lies in these ranges; IPv4 addresses that are written as IPv6 count as IPv4. */
function shareOf(ranges: readonly string[], family: number): number {
  const prefixes = [...new Set(ranges)].map((range): [family: number, prefix: number] => {
    const [address = '', prefix] = range.split('/');
    if (isIP(address) === 4) return [4, Number(prefix ?? 32)];
    const bits = Number(prefix ?? 128);
    return /^::ffff:/i.test(address) && bits >= 96 ? [4, bits - 96] : [6, bits];
  });
  return prefixes.filter(([of]) => of === family).reduce((sum, [, prefix]) => sum + 2 ** -prefix, 0);
}

function isAddressOrCidr(value: string): boolean {
  const [address = '', prefix, ...rest] = value.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  if (prefix === undefined) return true;
  try {
    new BlockList().addSubnet(address, Number(prefix), family === 6 ? 'ipv6' : 'ipv4');
    return /^\d+$/.test(prefix);
  } catch {
    return false;
  }
}
