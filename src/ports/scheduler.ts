/**
 * Runs something every so often, once however many processes there are. A run that fails is logged and the next one
 * comes as planned; runs of one name never overlap. Timers survive an emptied Redis.
 */
export abstract class Scheduler {
  /** To be called once per name at start, before `start`. */
  abstract every(name: string, intervalMs: number, run: () => Promise<void>): void;

  /** Begins running what was registered. */
  abstract start(): Promise<void>;

  /** Ends intake and waits for what is running. */
  abstract stop(): Promise<void>;
}
