// The level of a vendor's certification, as the folder's certification.json tells it. A live route needs silver.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { machineNow } from '../kernel/machine-time.js';

/** The lowest first. */
export const LEVELS = ['none', 'bronze', 'silver', 'gold'] as const;
export type Level = (typeof LEVELS)[number];

/** `pass`, `fail`, or `skipped: ` with the reason. */
export type Result = string;

export interface Certificate {
  readonly level: Level;
  /** The result of each case, by capability. */
  readonly cases: Readonly<Record<string, Readonly<Record<string, Result>>>>;
  /** The day of the last smoke test at the vendor itself, YYYY-MM-DD. */
  readonly smokeTested?: string;
}

/** A vendor can change its interface at any time, so a smoke test proves nothing after this time. */
export const SMOKE_LASTS_DAYS = 90;
const DAY_MS = 86_400_000;

const FOLDERS = join(import.meta.dirname, '..', 'vendors');

export function certificateOf(vendorId: string, root = FOLDERS): Certificate | null {
  const file = join(root, vendorId, 'certification.json');
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Certificate) : null;
}

/** The text of the folder's behaviour.json; null without the file. */
export function behaviourOf(vendorId: string): string | null {
  const file = join(FOLDERS, vendorId, 'behaviour.json');
  return existsSync(file) ? readFileSync(file, 'utf8') : null;
}

/** The level today. Gold needs a recent smoke test, so an old one leaves silver. */
export function levelOf({ level, smokeTested = '' }: Certificate, now = machineNow()): Level {
  const isRecent = now - Date.parse(smokeTested) < SMOKE_LASTS_DAYS * DAY_MS;
  return level === 'gold' && !isRecent ? 'silver' : level;
}
