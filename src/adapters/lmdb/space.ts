// The room of an LMDB file. Used by the embedded event store and by the vault on disk.
import { statfsSync } from 'node:fs';
import type { RootDatabase } from 'lmdb';

export interface SpaceUsage {
  readonly usedBytes: number;
  /** The largest size of the file: the configured size, or less where the disk has less room. */
  readonly totalBytes: number;
}

/** The alarm rings when the usage is above the first part, and again only after it was below the second. */
const NEARLY_FULL_AT = 0.7;
const RELAXED_AT = 0.65;
/** Writes beyond this part are refused. */
const FULL_AT = 0.95;
/** A value changes pages of several trees beside its own. */
const SPACE_PER_BYTE = 3;
/** A check takes tens of microseconds. While this much room is left, the next check waits a while. */
const MUCH_ROOM_BYTES = 64 * 2 ** 20;
const LOOK_AGAIN_MS = 100;

/**
 * The limit is the service's own. The LMDB of the `lmdb` package enlarges a map that is too small, for writers and for readers. So processes with
 * different sizes may have one file open, and each refuses at its own size.
 */
export class Space {
  private nearlyFull = false;
  private seen: { readonly at: number; readonly usage: SpaceUsage } | null = null;

  /** Each writing process calls `onNearlyFull` once when the alarm rings. */
  constructor(
    private readonly root: Pick<RootDatabase, 'getStats' | 'resetReadTxn'>,
    readonly file: string,
    private readonly maxBytes: number,
    private readonly onNearlyFull: (usage: SpaceUsage) => void = () => undefined,
  ) {}

  /** Freed pages count as used, because LMDB reuses them but never gives them back. */
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

  /** As `usage`. With much room left, it may be a moment old. */
  recentUsage(): SpaceUsage {
    const now = performance.now();
    if (this.seen === null || now - this.seen.at >= LOOK_AGAIN_MS || !hasMuchRoom(this.seen.usage))
      this.seen = { at: now, usage: this.usage() };
    return this.seen.usage;
  }

  /** The usage that leaves no room for this many bytes more; null when there is room. Refusing early keeps the file readable. */
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
