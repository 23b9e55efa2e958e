/** When to ask the processor about something that brings no news by itself. Milliseconds. */
export interface LookSchedule {
  readonly first: number;
  /** The longest time between two looks. */
  readonly longest: number;
}

const EACH_TIMES = 4;
/** After this time without news, no more news is expected. */
const LOOKED_FOR_MOST = 30 * 86_400_000;

/** The next look after `looks` looks without news. `since`: the time of the last look. Null after a month without news. */
export function nextLook({ first, longest }: LookSchedule, looks: number, since: string): Date | null {
  const delays = Array.from({ length: looks + 1 }, (_, look) => Math.min(first * EACH_TIMES ** look, longest));
  const inAll = delays.reduce((sum, delay) => sum + delay, 0);
  return inAll <= LOOKED_FOR_MOST ? new Date(Date.parse(since) + (delays.at(-1) ?? first)) : null;
}
