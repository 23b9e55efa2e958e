// The person's progress in a screening. Pure.
import type { Shown } from './flow.js';
import type { Place } from './place.js';

const PARTS_OF_A_SCREENING: readonly (readonly Place[])[] = [
  ['details'],
  ['waiting', 'choice', 'otp', 'kba'],
  ['payment'],
  ['report', 'share'],
];

/** Null when the place has no steps to count. Agents and organizations have two steps. Without a price, the payment is left out. */
export function progressOf(shown: Shown): { step: number; steps: number } | null {
  if (shown.kind !== 'place' || shown.journey.start.view !== 'screening') return null;
  const { start, options } = shown.journey;
  const parts = PARTS_OF_A_SCREENING.filter(
    ([first]) =>
      first === 'details' ||
      first === 'waiting' ||
      (start.userType === 'CONSUMER' && (first !== 'payment' || options.price !== null)),
  );
  const at = parts.findIndex((places) => places.includes(shown.place));
  return at < 0 ? null : { step: at + 1, steps: parts.length };
}
