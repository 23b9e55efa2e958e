// The space in an LMDB file. The embedded event store and the vault on disk use this class.
import { statfsSync } from 'node:fs';
import type { RootDatabase } from 'lmdb';

export interface SpaceUsage {
  readonly usedBytes: number;
  /** The largest size of the file: the configured size, or less if the disk has less free space. */
  readonly totalBytes: number;
}

/** The alarm is raised when the usage exceeds the first part, and again only after the usage was below the second part. */
const NEARLY_FULL_AT = 0.7;
const RELAXED_AT = 0.65;
/** Writes beyond this part are refused. */
const FULL_AT = 0.95;
/** A stored value changes pages of several trees in addition to its own page. */
const SPACE_PER_BYTE = 3;
/** A check takes tens of microseconds. While this much space is left, the next check is delayed. */
const MUCH_ROOM_BYTES = 64 * 2 ** 20;
const LOOK_AGAIN_MS = 100;

/**
 * The limit is the service's own. The LMDB of the `lmdb` package enlarges a map that is too small, for writers and for readers. Processes with
 * different sizes may therefore open one file, and each refuses writes at its own size.
 */
export class Space {
  private nearlyFull = false;
  private seen: { readonly at: number; readonly usage: SpaceUsage } | null = null;

  /** Each writing process calls `onNearlyFull` once when the alarm is raised. */
  constructor(
    private readonly root: Pick<RootDatabase, 'getStats' | 'resetReadTxn'>,
    readonly file: string,
    private readonly maxBytes: number,
    private readonly onNearlyFull: (usage: SpaceUsage) => void = () => undefined,
  ) {}

  /** Freed pages count as used, because LMDB reuses them but never returns them to the disk. */
  usage(): SpaceUsage {
    try {
      const { lastPageNumber, root } = this.root.getStats() as { lastPageNumber: number; root: { pageSize: number } };
      const usedBytes = (lastPageNumber + 1) * root.pageSize;
      const disk = statfsSync(this.file);
      return { usedBytes, totalBytes: Math.min(this.maxBytes, usedBytes + disk.bavail * disk.bsize) };
    } finally {
      this.root.resetReadTxn();
    }
  }

  /** Like `usage`. While much space is left, the value may be a moment old. */
  recentUsage(): SpaceUsage {
    const now = performance.now();
    if (this.seen === null || now - this.seen.at >= LOOK_AGAIN_MS || !hasMuchRoom(this.seen.usage))
      this.seen = { at: now, usage: this.usage() };
    return this.seen.usage;
  }

  /** The usage if this many more bytes do not fit; null if they fit. An early refusal keeps the file readable. */
  lacking(bytes: number): SpaceUsage | null {
    const usage = this.recentUsage();
    const { usedBytes, totalBytes } = usage;
    if (usedBytes > totalBytes * NEARLY_FULL_AT) {
      if (!this.nearlyFull) this.onNearlyFull(usage);
      this.nearlyFull = true;
    } else if (usedBytes < totalBytes * RELAXED_AT) {
      this.nearlyFull = false;
    }
    return usedBytes + bytes * SPACE_PER_BYTE > totalBytes * FULL_AT ? usage : null;
  }
}

function hasMuchRoom({ usedBytes, totalBytes }: SpaceUsage): boolean {
  return usedBytes < totalBytes * RELAXED_AT && totalBytes * FULL_AT - usedBytes > MUCH_ROOM_BYTES;
}
