/**
 * Runs jobs at intervals, each once over all processes: at once when the first process starts, then by its interval. A failed run is logged, and the
 * next run follows as planned. A process does not begin a job again while its run takes longer than the interval, but another process may begin the
 * job. Timers survive an emptied Redis.
 */
export abstract class Scheduler {
  /** Call this once for each name, before `start`. */
  abstract every(name: string, intervalMs: number, run: () => Promise<void>): void;

  /** Begins to run the registered jobs. */
  abstract start(): Promise<void>;

  /** Starts no more jobs and waits for running jobs. */
  abstract stop(): Promise<void>;
}
