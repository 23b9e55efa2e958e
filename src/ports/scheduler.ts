/**
 * Runs something every so often, once however many processes there are: at once when the first of them starts, then by its interval. A run
 * that fails is told and the next one comes as planned. What takes longer than its interval is not begun again by the same process meanwhile;
 * another one may. Timers survive an emptied Redis.
 */
export abstract class Scheduler {
  /** To be called once per name at start, before `start`. */
  abstract every(name: string, intervalMs: number, run: () => Promise<void>): void;

  /** Begins running what was registered. */
  abstract start(): Promise<void>;

  /** Ends intake and waits for what is running. */
  abstract stop(): Promise<void>;
}
