import { Clock } from '../../src/kernel/clock.js';

/** A clock that shows the time that a test sets, in milliseconds since 1970. */
export class SetClock extends Clock {
  constructor(public time = Date.parse('2026-03-01T12:00:00.000Z')) {
    super();
  }

  override now(): Date {
    return new Date(this.time);
  }

  pass(seconds: number): void {
    this.time += seconds * 1_000;
  }
}

/** A clock that shows what the function returns. */
export function clockOf(now: () => Date): Clock {
  const clock = new SetClock();
  clock.now = now;
  return clock;
}
