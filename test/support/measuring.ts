// Times that a test measures on machines that also do other work.

/** The milliseconds that short stalls of a machine may add to a measurement. */
export const SLACK_MS = 2_500;

/** The processor time of the work in milliseconds. Other work on the machine does not count. */
export function processorMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
