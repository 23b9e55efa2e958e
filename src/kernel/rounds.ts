/**
 * Milliseconds until the next common round. A process does its periodic work in common rounds, so an idle process wakes once for all of it. A timer
 * may fire early, so it skips a round that is nearly due.
 */
export function untilNextRound(everyMs: number): number {
  const left = everyMs - (performance.now() % everyMs);
  return Math.ceil(left < everyMs / 10 ? left + everyMs : left);
}
