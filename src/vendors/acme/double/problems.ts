// The errors of acme: RFC 9457 problems with a code word.
import type { FastifyReply } from 'fastify';

export interface ProblemBody {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: string;
  /** A JSON pointer to the wrong field of the request. */
  readonly pointer?: string;
  readonly attempts_left?: number;
  /** ISO 8601 UTC. */
  readonly unlocks_at?: string;
}

/** The status and the title for each code word. Titles never quote the request. */
const KNOWN: Readonly<Record<string, readonly [status: number, title: string]>> = {
  malformed_request: [400, 'The request does not have the documented form'],
  unknown_header: [400, 'The request has a header that the interface does not know'],
  idempotency_key_missing: [400, 'The request needs an Idempotency-Key of 16 to 64 visible characters'],
  token_invalid: [401, 'The access token is missing, unknown or expired'],
  product_not_enabled: [403, 'The client has not bought this product'],
  not_found: [404, 'There is no such resource'],
  key_unknown: [404, 'No request with this key was received'],
  not_acceptable: [406, 'The client must accept JSON'],
  idempotency_key_reused: [409, 'The key belongs to another request'],
  method_not_offered: [409, 'The verification does not offer this method'],
  verification_closed: [410, 'The verification has ended'],
  unsupported_media_type: [415, 'The content type is not supported'],
  address_unknown: [422, 'The address is in no directory'],
  more_data_needed: [422, 'The data fit several persons'],
  source_unavailable: [502, 'A source did not answer; nothing was decided or billed'],
  invalid_given_name: [422, 'The given name is missing or has a wrong form'],
  invalid_middle_name: [422, 'The middle name has a wrong form'],
  invalid_family_name: [422, 'The family name is missing or has a wrong form'],
  invalid_birth_date: [422, 'The birth date is missing or has a wrong form'],
  ssn_required: [422, 'A consumer needs an SSN'],
  invalid_ssn: [422, 'The SSN has a wrong form'],
  invalid_phone: [422, 'The phone number is missing or has a wrong form'],
  invalid_email: [422, 'The email address has a wrong form'],
  invalid_address: [422, 'A part of the address is missing or has a wrong form'],
  invalid_device: [422, 'The device data have a wrong form'],
  code_incorrect: [422, 'The code is wrong'],
  answers_incorrect: [422, 'At least one answer is wrong'],
  verification_locked: [423, 'The verification is locked after wrong answers'],
  rate_limited: [429, 'The client calls too often; nothing was executed'],
  internal_error: [500, 'The service has failed'],
  overloaded: [503, 'The service is down; nothing was executed'],
};

export type ProblemFacts = Pick<ProblemBody, 'pointer' | 'attempts_left' | 'unlocks_at'>;

export class Problem extends Error {
  override readonly name = 'Problem';

  constructor(
    readonly code: string,
    readonly facts: ProblemFacts = {},
    /** Seconds. */
    readonly retryAfter?: number,
  ) {
    super(code);
  }
}

export function problemBody(code: string, facts: ProblemFacts = {}): ProblemBody {
  const [status, title] = KNOWN[code] ?? [500, 'The service has failed'];
  return { type: `https://acme.example/problems/${code}`, title, status, code, ...facts };
}

export function sendProblem(reply: FastifyReply, { code, facts, retryAfter }: Problem): FastifyReply {
  const body = problemBody(code, facts);
  if (retryAfter !== undefined) void reply.header('retry-after', retryAfter);
  if (body.status === 401) void reply.header('www-authenticate', 'Bearer error="invalid_token"');
  return reply.code(body.status).type('application/problem+json').send(JSON.stringify(body));
}
