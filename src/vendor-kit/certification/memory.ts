// The case about the vendor's memory. `outcomeOf` must never tell an executed call as not executed, nor with another verdict.
import { type Laboratory, UNDISTURBED_MS } from './laboratory.js';
import { type Operation, fits, newCall, port } from './operations.js';

/** The kind of the outcome of each operation. The service never asks for the outcomes of the other operations. */
const KINDS: Readonly<Record<string, string>> = {
  register: 'registration',
  verifyOtp: 'answer',
  verifyKba: 'answer',
  resendOtp: 'resend',
  reauthenticate: 'reauthentication',
};
/** Verdicts after which the vendor need not have executed anything. */
const NOT_TAKEN: ReadonlySet<string> = new Set([
  'input-refused',
  'product-not-enabled',
  'unavailable',
  'unintelligible',
]);
/** The adapter may not know the outcome. */
const UNKNOWN: ReadonlySet<string> = new Set(['timed-out', 'unintelligible']);

export function isRemembered({ capability, method, expected }: Operation): boolean {
  return capability === 'identity' && method in KINDS && !NOT_TAKEN.has(expected.kind);
}

export async function brokenMemoryRules(laboratory: Laboratory, operation: Operation): Promise<readonly string[]> {
  const act = await laboratory.prepared(operation);
  return laboratory.withAdapters(UNDISTURBED_MS, async (adapters) => {
    const { attemptId, ...call } = newCall();
    await act(adapters, { ...call, attemptId });
    const past = await port(adapters, 'identity').outcomeOf({ ...newCall(), attemptId });
    if (past.kind === 'not-executed') return ['outcomeOf tells not-executed, but the vendor has executed the call'];
    if (!('verdict' in past)) return [];
    if (past.kind !== KINDS[operation.method])
      return [`outcomeOf tells the outcome of a call of the kind ${past.kind}`];
    const isTrue = fits(operation.expected, past.verdict) || UNKNOWN.has(past.verdict.kind);
    return isTrue ? [] : [`outcomeOf tells ${past.verdict.kind}`];
  });
}
