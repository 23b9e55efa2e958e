// Parts of the log that an operator gave up by restoring a backup or accepting a log. Vault and ledger may have data of these parts.
import { join } from 'node:path';
import { ReplacedFile } from '../adapters/durable-files.js';
import { acceptancesIn, WATCH_FILE } from '../platform/audit/log-watch.js';

export interface GivenUp {
  /** ISO 8601 UTC. An empty text means the time of the last event up to `position`. */
  readonly from: string;
  /** The end of the log that replaced the part. The end is empty when `from` gives the time. */
  readonly position: string;
  readonly until: string;
}

/** The part of RESTORED_FILE that concerns lost events; null for a folder that was not restored. */
export interface RestoredFrom {
  readonly backupOf?: string;
  readonly restoredAt?: string;
  readonly releasedAt?: string;
  /** The parts that had been given up when the backup was made. */
  readonly givenUp?: readonly GivenUp[];
}

/** All parts that were given up in the history of a data folder and of the backups from which it was restored. */
export async function givenUpIn(folder: string, restored: RestoredFrom | null): Promise<GivenUp[]> {
  const accepted = acceptancesIn(await new ReplacedFile(join(folder, WATCH_FILE)).read());
  const parts = accepted.map(({ at, found }) => ({ from: '', position: found?.position ?? '', until: at }));
  if (restored === null) return parts;
  const { backupOf = '', restoredAt = '', releasedAt = restoredAt, givenUp = [] } = restored;
  return [...givenUp, { from: backupOf, position: '', until: releasedAt }, ...parts];
}
