import { isAddressOrCidr } from './addresses.js';
import type { Variables } from './variables.js';

/** The limits of docs/contract, with their defaults, in seconds unless the name says otherwise. This class is also the injection token. */
export abstract class Limits {
  abstract readonly tokenTtl: number;
  /** Counted per key and client address. A key may have its own limit. */
  abstract readonly tokenExchangePerMinute: number;
  abstract readonly tokenExchangePerMinutePerKey: number;
  abstract readonly otpResendInterval: number;
  abstract readonly stepUpTtl: number;
  abstract readonly stepUpAttempts: number;
  abstract readonly blockDuration: number;
  /** The longest review of a person by people at the identity vendor. */
  abstract readonly reviewLimit: number;
  /** The time from the verification for which the person's own data are kept for a bureau that needs them. */
  abstract readonly applicantKept: number;
  abstract readonly reportValidity: number;
  abstract readonly reportRetryInterval: number;
  /** Null means 24 calendar months. */
  abstract readonly shareWindow: number | null;
  abstract readonly grantTtl: number;
  abstract readonly checkoutGuard: number;
  abstract readonly reauthValidity: number;
  abstract readonly agentLock: number;
  abstract readonly vendorTimeout: number;
  abstract readonly recoveryInterval: number;
  abstract readonly webhookTimeout: number;
  abstract readonly webhookRetryLadder: readonly number[];
  /** A fraction by which the delay may be shorter or longer. */
  abstract readonly webhookJitter: number;
  abstract readonly webhookFailingAfter: number;
  abstract readonly webhookDisableAfter: number;
  abstract readonly webhookRedeliveryInterval: number;
  abstract readonly webhookEgressAllow: readonly string[];
  /** Applies to URLs that are registered later. */
  abstract readonly webhookPorts: readonly number[];
  // Limits against abuse (docs/contract/general.md#limits-against-abuse). 0 switches a limit off.
  abstract readonly submitsPerMinutePerAddress: number;
  /** Counted per account and environment. An account may have its own limit. */
  abstract readonly submitsPerMinute: number;
  /** Counted per account and phone. */
  abstract readonly smsPerHour: number;
  /** Counted per phone, over all accounts. */
  abstract readonly smsPerDay: number;
  abstract readonly submitsPerHourPerPerson: number;
  abstract readonly wrongAnswersPerHourPerAddress: number;
  abstract readonly reportReadsPerMinute: number;
  abstract readonly pdfsPerMinute: number;
  abstract readonly incomeSessionsPerScreening: number;
  /** The counts of sessions without a screening, per lineage of tokens and per account. */
  abstract readonly incomeSessionsPerMinute: number;
  abstract readonly incomeSessionsPerMinutePerAccount: number;
  /** This limit and the next are counted per screening session. */
  abstract readonly paymentIntentsPerMinute: number;
  abstract readonly confirmsPerMinute: number;
  /** Counted per report. Revoked shares count too. */
  abstract readonly sharesPerMinute: number;
  abstract readonly endpointChangesPerHour: number;
  abstract readonly testHelpersPerHour: number;
  abstract readonly pingsPerSecond: number;
  abstract readonly idempotencyKeysPerLineage: number;
  abstract readonly idempotencyKeysPerAccount: number;
  /** A fraction of a vendor's slots. */
  abstract readonly vendorShare: number;
  /** A fraction of one account's slots. */
  abstract readonly vendorPlacesPerLineage: number;
}

const DAY = 86_400;
const WEBHOOK_PORTS = [443, 8_443];
const RETRY_LADDER = [60, 300, 1_800, 7_200, 18_000, 21_600, 21_600, 21_600];

export function readLimits(env: Variables): Limits {
  return {
    tokenTtl: env.limit('TOKEN_TTL', 3_600, { min: 1, whole: true }),
    tokenExchangePerMinute: env.rate('TOKEN_EXCHANGE_PER_MINUTE', 60),
    tokenExchangePerMinutePerKey: env.rate('TOKEN_EXCHANGE_PER_MINUTE_PER_KEY', 600),
    otpResendInterval: env.limit('OTP_RESEND_INTERVAL', 30),
    stepUpTtl: env.limit('STEP_UP_TTL', 1_800),
    stepUpAttempts: env.limit('STEP_UP_ATTEMPTS', 3, { min: 1, whole: true }),
    blockDuration: env.limit('BLOCK_DURATION', DAY),
    reviewLimit: env.limit('REVIEW_LIMIT', 7 * DAY, { min: 1 }),
    applicantKept: env.limit('APPLICANT_KEPT', 7 * DAY, { min: 1 }),
    reportValidity: env.limit('REPORT_VALIDITY', 30 * DAY),
    reportRetryInterval: env.limit('REPORT_RETRY_INTERVAL', 600),
    shareWindow: env.text('SHARE_WINDOW') === null ? null : env.limit('SHARE_WINDOW', 0),
    grantTtl: env.limit('GRANT_TTL', 900),
    checkoutGuard: env.limit('CHECKOUT_GUARD', 30 * DAY),
    reauthValidity: env.limit('REAUTH_VALIDITY', 365 * DAY),
    agentLock: env.limit('AGENT_LOCK', DAY),
    vendorTimeout: env.limit('VENDOR_TIMEOUT', 20, { min: 0.1, max: 120 }),
    recoveryInterval: env.limit('RECOVERY_INTERVAL', 2, { min: 0.05, max: 15 }),
    webhookTimeout: env.limit('WEBHOOK_TIMEOUT', 8, { min: 0.1 }),
    webhookRetryLadder: readLadder(env),
    webhookJitter: env.limit('WEBHOOK_JITTER', 0.1, { max: 1 }),
    webhookFailingAfter: env.limit('WEBHOOK_FAILING_AFTER', 3, { min: 1, whole: true }),
    webhookDisableAfter: env.limit('WEBHOOK_DISABLE_AFTER', 3 * DAY),
    webhookRedeliveryInterval: env.limit('WEBHOOK_REDELIVERY_INTERVAL', 60),
    webhookEgressAllow: readEgressAllow(env),
    webhookPorts: readPorts(env),
    submitsPerMinutePerAddress: env.rate('SUBMITS_PER_MINUTE_PER_ADDRESS', 30),
    submitsPerMinute: env.rate('SUBMITS_PER_MINUTE', 600),
    smsPerHour: env.rate('SMS_PER_HOUR', 6),
    smsPerDay: env.rate('SMS_PER_DAY', 30),
    submitsPerHourPerPerson: env.rate('SUBMITS_PER_HOUR_PER_PERSON', 5),
    wrongAnswersPerHourPerAddress: env.rate('WRONG_ANSWERS_PER_HOUR_PER_ADDRESS', 20),
    reportReadsPerMinute: env.rate('REPORT_READS_PER_MINUTE', 60),
    pdfsPerMinute: env.rate('PDFS_PER_MINUTE', 10),
    incomeSessionsPerScreening: env.rate('INCOME_SESSIONS_PER_SCREENING', 3),
    incomeSessionsPerMinute: env.rate('INCOME_SESSIONS_PER_MINUTE', 1),
    incomeSessionsPerMinutePerAccount: env.rate('INCOME_SESSIONS_PER_MINUTE_PER_ACCOUNT', 60),
    paymentIntentsPerMinute: env.rate('PAYMENT_INTENTS_PER_MINUTE', 10),
    confirmsPerMinute: env.rate('CONFIRMS_PER_MINUTE', 20),
    sharesPerMinute: env.rate('SHARES_PER_MINUTE', 10),
    endpointChangesPerHour: env.rate('ENDPOINT_CHANGES_PER_HOUR', 30),
    testHelpersPerHour: env.rate('TEST_HELPERS_PER_HOUR', 60),
    pingsPerSecond: env.rate('PINGS_PER_SECOND', 1),
    idempotencyKeysPerLineage: env.rate('IDEMPOTENCY_KEYS_PER_LINEAGE', 200),
    idempotencyKeysPerAccount: env.rate('IDEMPOTENCY_KEYS_PER_ACCOUNT', 10_000),
    vendorShare: env.rate('VENDOR_SHARE', 0.25, { max: 1, whole: false }),
    vendorPlacesPerLineage: env.rate('VENDOR_PLACES_PER_LINEAGE', 0.5, { max: 1, whole: false }),
  };
}

function readLadder(env: Variables): readonly number[] {
  if (env.text('WEBHOOK_RETRY_LADDER') === null) return RETRY_LADDER;
  const ladder = env.list('WEBHOOK_RETRY_LADDER').map(Number);
  if (ladder.length === 0 || !ladder.every((delay) => Number.isFinite(delay) && delay >= 0))
    env.fault('WEBHOOK_RETRY_LADDER', 'must be a comma list of seconds');
  if (ladder.join() !== RETRY_LADDER.join()) env.overrides.push('WEBHOOK_RETRY_LADDER');
  return ladder;
}

function readPorts(env: Variables): readonly number[] {
  if (env.text('WEBHOOK_PORTS') === null) return WEBHOOK_PORTS;
  const ports = env.list('WEBHOOK_PORTS').map(Number);
  if (ports.length === 0 || !ports.every((port) => Number.isInteger(port) && port >= 1 && port <= 65_535))
    env.fault('WEBHOOK_PORTS', 'must be a comma list of ports');
  if (ports.join() !== WEBHOOK_PORTS.join()) env.overrides.push('WEBHOOK_PORTS');
  return ports;
}

function readEgressAllow(env: Variables): readonly string[] {
  const ranges = env.list('WEBHOOK_EGRESS_ALLOW');
  if (!ranges.every(isAddressOrCidr)) env.fault('WEBHOOK_EGRESS_ALLOW', 'must be a comma list of CIDR ranges');
  if (env.production && ranges.length > 0)
    env.fault('WEBHOOK_EGRESS_ALLOW', 'is for tests and must not be set in production');
  return ranges;
}
