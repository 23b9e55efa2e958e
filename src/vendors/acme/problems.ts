// The errors of acme: RFC 9457 problems, whose `code` is a word.
import * as v from 'valibot';
import type { RefusedInput } from '../../kernel/refused-input.js';
import type { ReportVerdict } from '../../ports/credit-bureau.js';
import type { AnswerVerdict, NoVerdict, RegistrationVerdict } from '../../ports/identity-vendor.js';
import type { VendorAnswer } from '../../vendor-kit/http/answer.js';
import { instant, read } from '../../vendor-kit/reading.js';

const problem = v.object({
  code: v.pipe(v.string(), v.regex(/^[a-z_]{1,60}$/)),
  pointer: v.optional(v.string()),
  attempts_left: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(0))),
  unlocks_at: v.optional(instant),
});

export type Problem = v.InferOutput<typeof problem>;

/** Null if the value is not a problem of acme, such as a gateway's page. */
export function problemOf(value: unknown): Problem | null {
  return read(problem, value);
}

export function wordOf({ body }: VendorAnswer): string | null {
  return problemOf(body)?.code ?? null;
}

const INPUTS: Readonly<Record<string, RefusedInput>> = {
  invalid_given_name: 'first-name',
  invalid_middle_name: 'middle-name',
  invalid_family_name: 'last-name',
  invalid_birth_date: 'date-of-birth',
  ssn_required: 'ssn-missing',
  invalid_ssn: 'ssn',
  invalid_phone: 'phone',
  invalid_email: 'email',
  invalid_device: 'device',
  address_unknown: 'address',
  more_data_needed: 'more-identification',
  malformed_request: 'unspecified',
};

/** The parts of an address, by their names on the wire. */
const ADDRESS_PARTS: Readonly<Record<string, RefusedInput>> = {
  '/person/address/city': 'city',
  '/person/address/region': 'state',
  '/person/address/postal_code': 'zip',
};

/** acme executed nothing, and billed nothing. */
const NOT_EXECUTED: ReadonlySet<string> = new Set([
  'rate_limited',
  'overloaded',
  'token_invalid',
  'source_unavailable',
]);

/** The verdict of a problem with a registration. The verdict is `unintelligible` for an unlisted word. */
export function registrationProblem({ code, pointer = '' }: Problem): RegistrationVerdict {
  if (NOT_EXECUTED.has(code)) return { kind: 'unavailable' };
  if (code === 'product_not_enabled') return { kind: 'product-not-enabled' };
  if (code === 'invalid_address') return { kind: 'input-refused', input: ADDRESS_PARTS[pointer] ?? 'address' };
  const input = Object.hasOwn(INPUTS, code) ? INPUTS[code] : undefined;
  return input === undefined ? { kind: 'unintelligible' } : { kind: 'input-refused', input };
}

type AnswerProblem = Exclude<AnswerVerdict, { kind: 'confirmed' }>;

/** The verdict of a problem with a person's answer. */
export function answerProblem(problem: Problem): AnswerProblem {
  const { code, attempts_left } = problem;
  return code === 'code_incorrect' || code === 'answers_incorrect'
    ? { kind: 'wrong', attemptsRemaining: attempts_left ?? null }
    : challengeProblem(problem);
}

/** The verdict of a problem with a challenge, which is not about the answer. */
export function challengeProblem({ code, unlocks_at }: Problem): Exclude<AnswerProblem, { kind: 'wrong' }> {
  if (code === 'verification_locked') return { kind: 'locked', unblockAt: unlocks_at ?? null };
  if (code === 'verification_closed') return { kind: 'session-over' };
  return noVerdict(code);
}

/** The verdict of a problem with an order of a report. A refused field is an objection to the inquiry. */
export function reportProblem({ code }: Problem): ReportVerdict {
  const isAboutData = code === 'invalid_address' || Object.hasOwn(INPUTS, code);
  return isAboutData ? { kind: 'refused', reason: 'FILE_CONDITION', upstreamCode: null } : noVerdict(code);
}

/** The verdict of a problem that decides nothing. */
export function noVerdict(code: string): NoVerdict {
  return { kind: NOT_EXECUTED.has(code) ? 'unavailable' : 'unintelligible' };
}
