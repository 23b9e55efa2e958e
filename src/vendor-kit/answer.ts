// The common part of every vendor's answer: the error body, and whether the vendor or a gateway sent it.
import type { FieldName } from '../kernel/field-names.js';
import type { Replied } from '../kernel/vendor-reply.js';

/** A complete answer. `text` is the answer byte for byte. When it was not JSON, `body` and `text` are null. */
export interface VendorAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly text: string | null;
  /** The wait that the vendor demands when it rejects a call. */
  readonly retryAfterSeconds?: number;
}

export function answerOf(status: number, text: string): VendorAnswer {
  try {
    return { status, body: JSON.parse(text) as unknown, text };
  } catch {
    // An answer that is not JSON is complete too. The code that reads such an answer calls it unintelligible.
    return { status, body: null, text: null };
  }
}

export function errorOf({ body }: VendorAnswer): Record<string, unknown> {
  return isRecord(body) && isRecord(body.error) ? body.error : {};
}

/** The vendor's number for the fault; null if the answer has none. */
export function upstreamCode(answer: VendorAnswer): number | null {
  const { code } = errorOf(answer);
  return typeof code === 'number' ? code : null;
}

/** Whether the vendor rejected the call without executing it: the credential was refused, the rate was limited or the vendor was down. */
export function turnedAway(status: number): boolean {
  return status === 401 || status === 403 || status === 429 || status === 503;
}

/** Whether a gateway answered instead of the vendor. The vendor may or may not have executed the call. */
export function fromGateway(answer: VendorAnswer): boolean {
  return (answer.status === 502 || answer.status === 504) && upstreamCode(answer) === null;
}

/**
 * Adds the answer to its verdict, for surfaces that pass on vendors' answers. Adds nothing when the answer is not JSON, is a redirect, or concerns
 * only the call, which was rejected or misused its key. `fields`: the service's field for each name of the vendor.
 */
export function withReply<Verdict extends { readonly kind: string }>(
  verdict: Verdict,
  answer: VendorAnswer,
  fields: ReadonlyMap<unknown, FieldName> = new Map(),
): Verdict & Replied {
  const { status, text } = answer;
  const code = upstreamCode(answer);
  const error = errorOf(answer);
  const aboutTheCall = code === null && (turnedAway(status) || ABOUT_THE_KEY.has(error.code));
  if (text === null || aboutTheCall || (status >= 300 && status < 400)) return verdict;
  const { message } = error;
  return {
    ...verdict,
    reply: {
      status,
      body: text,
      code,
      field: fields.get(error.field) ?? null,
      message: typeof message === 'string' ? message.slice(0, MAX_MESSAGE) : null,
    },
  };
}

const MAX_MESSAGE = 500;
const ABOUT_THE_KEY: ReadonlySet<unknown> = new Set(['key_closed', 'call_in_progress', 'idempotency_key_reused']);

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
