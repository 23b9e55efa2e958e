// Watches the free space on the disk of the data folder. The log, the vault, Redis' file and log files may share this disk.
import { statfsSync, statSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { untilNextRound } from '../kernel/rounds.js';

export interface DiskSpaceOptions {
  /** The data folder. */
  readonly directory: string;
  /** `low` is called when fewer bytes than this are free. With 0, `low` is never called. */
  readonly lowBytes: number;
}

/** Each function is called once when its state begins, with the number of free bytes at that moment. */
export interface DiskSpaceObserver {
  low(freeBytes: number): void;
  full(freeBytes: number): void;
  roomAgain(freeBytes: number): void;
  /** The disk could not be checked, or the reserve could not be made. */
  failed(error: unknown): void;
}

const LOOK_EVERY_MS = 1_000;
/** When fewer bytes than this are free, the disk counts as full. */
const FULL_BYTES = 16_000_000;
/** A disk is no longer low when the free bytes exceed the limit by this factor. */
const RELAXED = 1.1;
const RESERVE_BYTES = 16_000_000;
/** With this many free bytes the disk is no longer full: the reserve file fits without filling the disk. */
const ROOM_BYTES = RESERVE_BYTES + 2 * FULL_BYTES;

/**
 * When the disk is full, the reserve file is removed, so that Redis, log files and the operator have space. The file is made again later. Several
 * processes may watch one data folder, and may repeat each other's work on the reserve.
 */
export class DiskSpace {
  private readonly reserve: string;
  private low = false;
  private isFull = false;
  private free = Infinity;
  private next: NodeJS.Timeout | null = null;
  private closed = false;

  constructor(
    private readonly options: DiskSpaceOptions,
    private readonly observer: DiskSpaceObserver,
  ) {
    this.reserve = join(options.directory, 'reserve');
  }

  /** Whether the disk is almost full. New events and values are then refused. */
  get full(): boolean {
    return this.isFull;
  }

  /** The value of the last check, without the reserve file. */
  get freeBytes(): number {
    return this.free;
  }

  /** Checks the disk now, and then every second. */
  async start(): Promise<void> {
    try {
      await this.look();
    } catch (error) {
      this.observer.failed(error);
    }
    if (!this.closed) this.next = setTimeout(() => void this.start(), untilNextRound(LOOK_EVERY_MS)).unref();
  }

  stop(): void {
    this.closed = true;
    if (this.next !== null) clearTimeout(this.next);
  }

  private async look(): Promise<void> {
    const { bavail, bsize } = statfsSync(this.options.directory);
    this.free = bavail * bsize;
    if (!this.isFull && this.free < FULL_BYTES) {
      this.isFull = true;
      await rm(this.reserve, { force: true });
      this.observer.full(this.free);
    } else if (this.isFull && this.free >= ROOM_BYTES) {
      this.isFull = false;
      this.observer.roomAgain(this.free);
    }
    const low = this.free < this.options.lowBytes * (this.low ? RELAXED : 1);
    if (low && !this.low) this.observer.low(this.free);
    this.low = low;
    if (!this.isFull && this.free >= ROOM_BYTES && !this.isReserved()) await this.makeReserve();
  }

  private isReserved(): boolean {
    const size = statSync(this.reserve, { throwIfNoEntry: false })?.size ?? 0;
    return size >= RESERVE_BYTES;
  }

  /** Random bytes, because a file system with compression would use no space for zeros. */
  private async makeReserve(): Promise<void> {
    const file = await open(this.reserve, 'w', 0o600);
    try {
      await file.writeFile(randomBytes(RESERVE_BYTES));
    } finally {
      await file.close();
    }
  }
}
