/**
 * Milliseconds until the next round of so many: what a process does again and again it does in common rounds, so that an idle one wakes
 * up once for all of it. Never so few that the round is the one that has just begun.
 */
export function untilNextRound(everyMs: number): number {
  const left = everyMs - (performance.now() % everyMs);
  return Math.ceil(left < everyMs / 10 ? left + everyMs : left);
}
