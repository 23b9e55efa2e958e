// How much room a file of LMDB has. Used by the embedded event store and by the vault on disk.
import { statfsSync } from 'node:fs';
import type { RootDatabase } from 'lmdb';

export interface SpaceUsage {
  readonly usedBytes: number;
  /** What the file may grow to: the configured size, or less where the disk has less left. */
  readonly totalBytes: number;
}

/** From this part of the room on the alarm rings, and only below the other one it can ring again. */
const NEARLY_FULL_AT = 0.7;
const RELAXED_AT = 0.65;
/** What would use more than this part is refused. */
const FULL_AT = 0.95;
/** A value changes pages of several trees beside its own. */
const SPACE_PER_BYTE = 3;
/** A look takes tens of microseconds: with so much room left there is another only after a while. */
const MUCH_ROOM_BYTES = 64 * 2 ** 20;
const LOOK_AGAIN_MS = 100;

/**
 * The ceiling is ours alone: the LMDB of the `lmdb` package enlarges a map that has become too small, for writers and for
 * readers, so processes with different sizes may have one file open. Each refuses at its own size.
 */
export class Space {
  private nearlyFull = false;
  private seen: { readonly at: number; readonly usage: SpaceUsage } | null = null;

  /** `onNearlyFull` is told once when the alarm rings, by each process that writes. */
  constructor(
    private readonly root: Pick<RootDatabase, 'getStats' | 'resetReadTxn'>,
    readonly file: string,
    private readonly maxBytes: number,
    private readonly onNearlyFull: (usage: SpaceUsage) => void = () => undefined,
  ) {}

  /** Pages that became free are counted as used: LMDB takes them again, but gives none back. */
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

  /** As `usage`; where there is much room, as it was a moment ago. */
  recentUsage(): SpaceUsage {
    const now = performance.now();
    if (this.seen === null || now - this.seen.at >= LOOK_AGAIN_MS || !hasMuchRoom(this.seen.usage))
      this.seen = { at: now, usage: this.usage() };
    return this.seen.usage;
  }

  /** The usage that leaves no room for this many bytes more; null when there is room. What is refused in time leaves a file that can be read. */
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
