import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Variables } from './variables.js';

/** The folder of all data that this machine stores. This class is also the injection token. */
export abstract class DataFolderSettings {
  abstract readonly path: string;
  /** The log warns when the disk of the data folder has fewer free bytes than this number. With 0, the log never warns. */
  abstract readonly diskLowBytes: number;
  /** A restored copy that no operator has released. Such a copy can be read but not changed. */
  abstract readonly quarantined: boolean;
}

/** A file in a data folder that was restored from a backup. The file records the state of the restore, and `ops backup` writes it. */
export const RESTORED_FILE = 'restored.json';

export function readDataFolder(env: Variables): DataFolderSettings {
  const path = resolve(env.text('DATA_DIR') ?? '.data');
  const restored = restoredStateOf(path);
  if (restored === 'unfinished')
    env.fault('DATA_DIR', 'must not be a folder whose restore was interrupted (restore it again)');
  return {
    path,
    diskLowBytes: env.number('DISK_LOW_BYTES', 1_000_000_000),
    quarantined: restored === 'quarantined',
  };
}

/** Null for a folder that was not restored, or that an operator has released. */
function restoredStateOf(folder: string): 'unfinished' | 'quarantined' | null {
  const file = join(folder, RESTORED_FILE);
  if (!existsSync(file)) return null;
  try {
    const { state } = JSON.parse(readFileSync(file, 'utf8')) as { readonly state?: unknown };
    if (state === 'released') return null;
    return state === 'quarantined' ? state : 'unfinished';
  } catch {
    return 'unfinished';
  }
}
