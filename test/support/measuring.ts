// Times that a test measures, on machines that have other things to do.

/** What a machine that stands still now and then may add to a time, milliseconds. */
export const SLACK_MS = 2_500;

/** The processor time that the work takes, milliseconds: it does not count while the machine does something else. */
export function processorMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
