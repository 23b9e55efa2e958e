import type { LogWatch } from '../audit/log-watch.js';
import type { Log } from '../observability/log.js';

/** A follower has been further than the log goes: the log lost events or is another one. */
export async function reportForeign(follower: string, logWatch: LogWatch, log: Log): Promise<void> {
  log.error({ follower }, 'has been further than the log goes, and begins again');
  await logWatch
    .report(`The log does not go as far as ${follower} has followed it.`)
    .catch((error: unknown) => log.error({ err: error }, 'the log could not be looked at'));
}
