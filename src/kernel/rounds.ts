/**
 * The milliseconds until the next common round. A process does its periodic work in common rounds, so an idle process wakes only once for all of this
 * work. A timer may fire early, so it skips a round that begins very soon.
 */
export function untilNextRound(everyMs: number): number {
  const left = everyMs - (performance.now() % everyMs);
  return Math.ceil(left < everyMs / 10 ? left + everyMs : left);
}
