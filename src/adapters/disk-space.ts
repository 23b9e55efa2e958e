// Watches the room on the disk of the data folder, where the log, the vault, Redis' file and log files may lie together.
import { statfsSync, statSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { untilNextRound } from '../kernel/rounds.js';

export interface DiskSpaceOptions {
  /** The data folder. */
  readonly directory: string;
  /** Below this `low` is told. 0: never. */
  readonly lowBytes: number;
}

/** Each is told once when it becomes so, with the bytes that are free then. */
export interface DiskSpaceObserver {
  low(freeBytes: number): void;
  full(freeBytes: number): void;
  roomAgain(freeBytes: number): void;
  /** The disk could not be looked at, or the reserve not be made. */
  failed(error: unknown): void;
}

const LOOK_EVERY_MS = 1_000;
/** Below this the disk counts as full. */
const FULL_BYTES = 16_000_000;
/** A disk that was low must have this much more before it can become low again. */
const RELAXED = 1.1;
const RESERVE_BYTES = 16_000_000;
/** From here on it is full no longer: the reserve fits in, and it does not become full by that. */
const ROOM_BYTES = RESERVE_BYTES + 2 * FULL_BYTES;

/**
 * At full the reserve file is removed, so that Redis, log files and the operator who makes room have some to work with; it is made anew when there
 * is room again. Several processes of one data folder may watch it: what each does to the reserve may be done twice.
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

  /** Whether there is hardly any room: new events and values are refused. */
  get full(): boolean {
    return this.isFull;
  }

  /** As of the last look, the reserve not counted in. */
  get freeBytes(): number {
    return this.free;
  }

  /** Looks, and from then on every second. */
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

  /** Random bytes: a file system that compresses would take no room for zeros. */
  private async makeReserve(): Promise<void> {
    const file = await open(this.reserve, 'w', 0o600);
    try {
      await file.writeFile(randomBytes(RESERVE_BYTES));
    } finally {
      await file.close();
    }
  }
}
