import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Variables } from './variables.js';

/** The folder of everything that this machine keeps; also the injection token. */
export abstract class DataFolderSettings {
  abstract readonly path: string;
  /** When less is free on the disk of the data folder, the log says so; 0: never. */
  abstract readonly diskLowBytes: number;
  /** A restored copy that no operator released: it may be looked at, and not be changed. */
  abstract readonly quarantined: boolean;
}

/** In a data folder that was restored from a backup: its state. Written by `ops backup`. */
export const RESTORED_FILE = 'restored.json';

export function readDataFolder(env: Variables): DataFolderSettings {
  const path = resolve(env.text('DATA_DIR') ?? '.data');
  const restored = restoredStateOf(path);
  if (restored === 'unfinished')
    env.fault('DATA_DIR', 'must not be a folder whose restore broke off (restore once more)');
  return {
    path,
    diskLowBytes: env.number('DISK_LOW_BYTES', 1_000_000_000),
    quarantined: restored === 'quarantined',
  };
}

/** Null for a folder that was not restored, or was released since. */
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
