/** The times at which the service asks the processor about a payment without changes. In milliseconds. */
export interface LookSchedule {
  readonly first: number;
  /** The longest time between two look-ups. */
  readonly longest: number;
}

const EACH_TIMES = 4;
/** After this time without changes, no more changes are expected. */
const LOOKED_FOR_MOST = 30 * 86_400_000;

/** The time of the next look-up after `looks` look-ups without changes. `since`: the time of the last look-up. Null after a month without changes. */
export function nextLook({ first, longest }: LookSchedule, looks: number, since: string): Date | null {
  const delays = Array.from({ length: looks + 1 }, (_, look) => Math.min(first * EACH_TIMES ** look, longest));
  const inAll = delays.reduce((sum, delay) => sum + delay, 0);
  return inAll <= LOOKED_FOR_MOST ? new Date(Date.parse(since) + (delays.at(-1) ?? first)) : null;
}
