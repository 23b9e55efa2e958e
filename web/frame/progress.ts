// The person's progress in a screening. Pure.
import type { Shown } from './flow.js';
import type { Place } from './place.js';

export type Part = 'identity' | 'verification' | 'payment' | 'report';

export interface Progress {
  readonly parts: readonly Part[];
  /** The index of the current part. */
  readonly at: number;
}

const PLACES: Readonly<Record<Part, readonly Place[]>> = {
  identity: ['details'],
  verification: ['waiting', 'choice', 'otp', 'kba'],
  payment: ['payment'],
  report: ['report', 'share'],
};

/** Null if the screen belongs to none of the parts. Agents and organizations have two parts. Without a price, the payment is omitted. */
export function progressOf(shown: Shown): Progress | null {
  if (shown.kind !== 'place' || shown.journey.start.view !== 'screening') return null;
  const { start, options } = shown.journey;
  const ofConsumer: readonly Part[] = options.price === null ? ['report'] : ['payment', 'report'];
  const parts: readonly Part[] = ['identity', 'verification', ...(start.userType === 'CONSUMER' ? ofConsumer : [])];
  const at = parts.findIndex((part) => PLACES[part].includes(shown.place));
  return at < 0 ? null : { parts, at };
}
