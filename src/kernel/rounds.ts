/**
 * Milliseconds until the next common round. A process does its periodic work in common rounds, so an idle process wakes once for all of it. The time
 * is never so short that the round is the one that has just begun.
 */
export function untilNextRound(everyMs: number): number {
  const left = everyMs - (performance.now() % everyMs);
  return Math.ceil(left < everyMs / 10 ? left + everyMs : left);
}
