// Reads the report of a screening: its score, and the report as a page. Only the first successful read is billed.
import type { Refusal, Report } from '../../api/wire.js';
import type { Journey } from '../../journey.js';
import type { TextKey } from './texts.js';

/** The bureau may need 20 seconds. */
const LIMIT_MS = 30_000;

export type ReadReport =
  | { readonly ok: true; readonly report: Report; readonly html: string }
  | { readonly ok: false; readonly refusal: Refusal; readonly retryAfterSeconds: number | null };

/** Reads the score and the page one after the other, so that a refusal ends both. */
export async function readReport(
  { api, language }: Pick<Journey, 'api' | 'language'>,
  sessionId: string,
  signal: AbortSignal,
): Promise<ReadReport> {
  const path = `/reports/${sessionId}`;
  const report = await api.call<Report>({ method: 'GET', path, timeoutMs: LIMIT_MS }, signal);
  if (!report.ok) return { ok: false, refusal: report.error, retryAfterSeconds: report.retryAfterSeconds };
  const page = await api.html(`${path}?language=${language}`, signal);
  return page.ok
    ? { ok: true, report: report.body, html: page.body }
    : { ok: false, refusal: page.error, retryAfterSeconds: page.retryAfterSeconds };
}

const TEXT_OF: Readonly<Record<string, TextKey>> = {
  PAYMENT_REQUIRED: 'notPaid',
  SCREENING_SESSION_NOT_COMPLETED: 'notCompleted',
  SCREENING_REPORT_EXPIRED: 'expired',
  SCREENING_IDENTITY_NOT_FOUND: 'blocked',
  SCREENING_USER_BLOCKED: 'blocked',
  SCREENING_TOO_MANY_ATTEMPTS: 'blocked',
  SCREENING_NOT_FOUND: 'notFound',
  REPORT_ACCESS_DENIED: 'denied',
  REPORT_SHARING_NOT_FOUND: 'notShared',
  REPORT_SHARING_REVOKED: 'taken',
  REPORT_SHARING_EXPIRED: 'shareOver',
  ACCOUNT_NOT_LIVE: 'notLive',
  AUTH_UNAUTHORIZED: 'denied',
  AUTH_TOKEN_INVALID: 'visitOver',
  AUTH_FORBIDDEN: 'denied',
  NETWORK_RATE_LIMITED: 'busy',
};

/** The text for people. */
export function textOf({ code }: Refusal): TextKey {
  return TEXT_OF[code] ?? 'later';
}

/** Codes whose cause may pass while the person waits. */
export function mayPass({ code }: Refusal): boolean {
  return ['busy', 'later', 'notCompleted', 'visitOver'].includes(textOf({ code } as Refusal));
}

/** The session has no report, and this verification can bring none. The refusal for an expired report has no reason. */
export function isOutOfReach({ code, reasonCode }: Refusal): boolean {
  return code === 'SCREENING_REPORT_EXPIRED' && reasonCode !== undefined;
}
