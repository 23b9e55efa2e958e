// Watches the room on the disk of the data folder, where the log, the vault, Redis' file and log files may be together.
import { statfsSync, statSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { untilNextRound } from '../kernel/rounds.js';

export interface DiskSpaceOptions {
  /** The data folder. */
  readonly directory: string;
  /** Below this `low` is called. 0: never. */
  readonly lowBytes: number;
}

/** Each is called once when its state begins, with the bytes that are free then. */
export interface DiskSpaceObserver {
  low(freeBytes: number): void;
  full(freeBytes: number): void;
  roomAgain(freeBytes: number): void;
  /** The disk could not be checked, or the reserve could not be made. */
  failed(error: unknown): void;
}

const LOOK_EVERY_MS = 1_000;
/** Below this the disk counts as full. */
const FULL_BYTES = 16_000_000;
/** A low disk stops being low only when it has this many times the bytes of the limit. */
const RELAXED = 1.1;
const RESERVE_BYTES = 16_000_000;
/** With this much room the disk is no longer full: the reserve fits in without filling it. */
const ROOM_BYTES = RESERVE_BYTES + 2 * FULL_BYTES;

/**
 * When the disk is full, the reserve file is removed to give room to Redis, log files and the operator. It is made again later. Several processes may
 * watch one data folder, and may repeat each other's work on the reserve.
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

  /** Whether the disk has hardly any room. New events and values are then refused. */
  get full(): boolean {
    return this.isFull;
  }

  /** As of the last look, without the reserve. */
  get freeBytes(): number {
    return this.free;
  }

  /** Looks now, and then every second. */
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

  /** Random bytes, because a file system that compresses would take no room for zeros. */
  private async makeReserve(): Promise<void> {
    const file = await open(this.reserve, 'w', 0o600);
    try {
      await file.writeFile(randomBytes(RESERVE_BYTES));
    } finally {
      await file.close();
    }
  }
}
