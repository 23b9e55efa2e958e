// The folder of the log as the sealer and the audit read it: the signed checkpoints, and the tiles under them.
import type { TransparencyFiles } from '../ports/transparency-files.js';
import type { Checkpoint } from './checkpoint.js';
import type { SealKeys } from './seal-keys.js';
import { TILE_WIDTH, tilePath, widthOf } from './tiles.js';

export const CHECKPOINT = 'checkpoint';
/** The signed checkpoint whose tiles are being written. Its tiles may be incomplete. */
export const NEXT = 'checkpoint.next';

/** The files contradict each other or the log. Nothing may be signed. The message names the file, and is for an operator. */
export class SealBroken extends Error {
  override readonly name = 'SealBroken';
}

export interface Signed extends Checkpoint {
  readonly note: string;
  /** Whether the checkpoint is published. Otherwise its tiles were not complete when the process died. */
  readonly isPublished: boolean;
}

/** The largest signed checkpoint; null before the first. Throws SealBroken. */
export async function lastSigned(files: TransparencyFiles, keys: SealKeys): Promise<Signed | null> {
  const published = await signedIn(CHECKPOINT, files, keys);
  const next = await signedIn(NEXT, files, keys);
  const last = next !== null && next.size > (published?.size ?? -1) ? next : published;
  const beyond = await firstTileBeyond(files, last?.size ?? 0);
  if (beyond === null) return last;
  // A sealer may have signed and written in the meantime.
  if ((await noteIn(CHECKPOINT, files)) !== noteOf(published) || (await noteIn(NEXT, files)) !== noteOf(next))
    return lastSigned(files, keys);
  throw new SealBroken(
    last === null
      ? `transparency/${CHECKPOINT} is missing, but there is ${beyond}.`
      : `transparency/${CHECKPOINT} was rolled back: it covers ${last.size} events, but there is ${beyond}.`,
  );
}

function noteOf(signed: Signed | null): string | null {
  return signed?.note ?? null;
}

async function noteIn(path: string, files: TransparencyFiles): Promise<string | null> {
  return (await files.read(path))?.toString() ?? null;
}

async function signedIn(path: string, files: TransparencyFiles, keys: SealKeys): Promise<Signed | null> {
  const note = await noteIn(path, files);
  if (note === null) return null;
  const checkpoint = keys.open(note);
  if (checkpoint === null) throw new SealBroken(`transparency/${path} is not signed by a key of SEAL_SIGNING_KEY.`);
  return { ...checkpoint, note, isPublished: path === CHECKPOINT };
}

/** The first bundle that a larger tree has. The bundle shows that a larger tree was signed. */
async function firstTileBeyond(files: TransparencyFiles, size: number): Promise<string | null> {
  const index = Math.floor(size / TILE_WIDTH);
  const full = tilePath('entries', index);
  if ((await files.read(full)) !== null) return `transparency/${full}`;
  const widths = (await files.list(`${full}.p`)).filter((name) => /^\d{1,3}$/.test(name)).map(Number);
  const width = widths.find((found) => found > widthOf('entries', index, size));
  return width === undefined ? null : `transparency/${tilePath('entries', index, width)}`;
}
