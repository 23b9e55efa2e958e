// Parts of the log that an operator gave up, by a backup that was restored or a log that was accepted. Vault and ledger may know of them.
import { join } from 'node:path';
import { ReplacedFile } from '../adapters/durable-files.js';
import { acceptancesIn, WATCH_FILE } from '../platform/audit/log-watch.js';

export interface GivenUp {
  /** ISO 8601 UTC; '': the time of the last event up to `position`. */
  readonly from: string;
  /** Where the log ended that was taken instead; '' where `from` says it. */
  readonly position: string;
  readonly until: string;
}

/** What RESTORED_FILE of a folder says of it; null where the folder was not restored. */
export interface RestoredFrom {
  readonly backupOf?: string;
  readonly restoredAt?: string;
  readonly releasedAt?: string;
  /** What had been given up when the backup was made. */
  readonly givenUp?: readonly GivenUp[];
}

/** All that was given up in the history of a data folder, and of the backups that it comes from. */
export async function givenUpIn(folder: string, restored: RestoredFrom | null): Promise<GivenUp[]> {
  const accepted = acceptancesIn(await new ReplacedFile(join(folder, WATCH_FILE)).read());
  const parts = accepted.map(({ at, found }) => ({ from: '', position: found?.position ?? '', until: at }));
  if (restored === null) return parts;
  const { backupOf = '', restoredAt = '', releasedAt = restoredAt, givenUp = [] } = restored;
  return [...givenUp, { from: backupOf, position: '', until: releasedAt }, ...parts];
}
