// The vendor's dialect: errors have a number, or a word about the call. The direct API passes the answers on.
import type { FieldName } from '../../kernel/field-names.js';
import type { Replied } from '../../kernel/vendor-reply.js';
import type { NoVerdict } from '../../ports/vendor-call.js';
import { type Reader, type VendorAnswer, isRecord, isTurnedAway } from '../../vendor-kit/http/answer.js';
import { bearer } from '../../vendor-kit/http/auth.js';
import { VendorClient } from '../../vendor-kit/http/client.js';
import type { Secret } from '../../kernel/vendor-settings.js';
import type { TransportOptions } from '../../vendor-kit/http/transport.js';

export interface IdvOptions extends TransportOptions {
  readonly credential: Secret;
}

/** An answer with a number is the vendor's own, whatever its status. */
export function idvClient({ credential, ...options }: IdvOptions): VendorClient {
  const credentialRefused = (answer: VendorAnswer): boolean => answer.status === 401 && upstreamCode(answer) === null;
  return new VendorClient({
    ...options,
    auth: bearer(credential),
    dialect: { codeOf: upstreamCode, credentialRefused },
  });
}

export function errorOf({ body }: VendorAnswer): Record<string, unknown> {
  return isRecord(body) && isRecord(body.error) ? body.error : {};
}

/** The vendor's number for the fault; null if the answer has none. */
export function upstreamCode(answer: VendorAnswer): number | null {
  const { code } = errorOf(answer);
  return typeof code === 'number' ? code : null;
}

/** The verdict of an error that concerns only the call. Null if the answer has a vendor's number, or concerns the person. */
export function callVerdictOf(answer: VendorAnswer): NoVerdict | null {
  if (answer.status === 200 || upstreamCode(answer) !== null) return null;
  const { code } = errorOf(answer);
  if (isTurnedAway(answer.status) || code === 'key_closed') return { kind: 'unavailable' };
  return code === 'call_in_progress' ? { kind: 'timed-out' } : null;
}

/** For calls whose answers are passed on only if they concern the person. */
export function unlessAboutTheCall<Verdict>(read: Reader<Verdict>): Reader<Verdict> {
  return (answer) => callVerdictOf(answer) ?? read(answer);
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
  const aboutTheCall = code === null && (isTurnedAway(status) || ABOUT_THE_KEY.has(error.code));
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
