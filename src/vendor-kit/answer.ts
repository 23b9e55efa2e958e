// A vendor's answer, as far as it reads alike for all of them: the error body, and who said it.
import type { FieldName } from '../kernel/field-names.js';
import type { Replied } from '../kernel/vendor-reply.js';

/** A complete answer. When it was not JSON, `body` and `text` are null; otherwise `text` is what it was, byte for byte. */
export interface VendorAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly text: string | null;
  /** When the vendor wants to be asked again, where it turned the call away and says so. */
  readonly retryAfterSeconds?: number;
}

export function answerOf(status: number, text: string): VendorAnswer {
  try {
    return { status, body: JSON.parse(text) as unknown, text };
  } catch {
    // Not JSON is an answer too: its readers call it unintelligible.
    return { status, body: null, text: null };
  }
}

export function errorOf({ body }: VendorAnswer): Record<string, unknown> {
  return isRecord(body) && isRecord(body.error) ? body.error : {};
}

/** The upstream's number for what went wrong, null when the answer names none. */
export function upstreamCode(answer: VendorAnswer): number | null {
  const { code } = errorOf(answer);
  return typeof code === 'number' ? code : null;
}

/** Our credential refused, throttled or down: said before anything was executed. */
export function turnedAway(status: number): boolean {
  return status === 401 || status === 403 || status === 429 || status === 503;
}

/** Said by a gateway that lost sight of the vendor: it is not known whether the call was executed. */
export function fromGateway(answer: VendorAnswer): boolean {
  return (answer.status === 502 || answer.status === 504) && upstreamCode(answer) === null;
}

/**
 * A verdict with the answer it was read from, for surfaces that pass vendors' answers on. Without it when the answer is no JSON, a
 * redirect, or about the call instead of its subject: turned away, or the fate of its idempotency key. `fields` says which field
 * is meant by a name of the vendor.
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
