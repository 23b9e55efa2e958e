/** When the processor is asked about something of which nobody says anything. Milliseconds. */
export interface LookSchedule {
  readonly first: number;
  /** Between two looks at most. */
  readonly longest: number;
}

const EACH_TIMES = 4;
/** Without anything new in all the looks so far, nothing will come any more. */
const LOOKED_FOR_MOST = 30 * 86_400_000;

/** The next look after `looks` in vain since `since`, the time of the last of them; null when it was looked in vain for a month. */
export function nextLook({ first, longest }: LookSchedule, looks: number, since: string): Date | null {
  const delays = Array.from({ length: looks + 1 }, (_, look) => Math.min(first * EACH_TIMES ** look, longest));
  const inAll = delays.reduce((sum, delay) => sum + delay, 0);
  return inAll <= LOOKED_FOR_MOST ? new Date(Date.parse(since) + (delays.at(-1) ?? first)) : null;
}
