// A file tells processes that share a log about new appends. The process that appends touches the file, and the other processes watch it.
import { closeSync, futimesSync, openSync, watch, type FSWatcher } from 'node:fs';
import { join } from 'node:path';
import { machineNow } from '../../kernel/machine-time.js';

/** The name of the file in the folder of the log. */
export const BELL_FILE = 'appended';
/** The shortest time between two touches of the file. */
const RING_EVERY_MS = 25;

export class AppendBell {
  private readonly file: string;
  private descriptor: number | null;
  private watcher: FSWatcher | null = null;
  private rangAt = Number.NEGATIVE_INFINITY;
  private ringing: NodeJS.Timeout | null = null;

  constructor(directory: string) {
    this.file = join(directory, BELL_FILE);
    try {
      this.descriptor = openSync(this.file, 'a', 0o600);
    } catch {
      this.descriptor = null;
    }
  }

  /** Whether a listener can watch the file. Some file systems cannot be watched, and the number of watches is limited. */
  get isHeard(): boolean {
    return this.watcher !== null;
  }

  /** The listener is also called for touches of this process. Only the first listener is called. */
  listen(heard: () => void): void {
    if (this.descriptor === null || this.watcher !== null) return;
    try {
      this.watcher = watch(this.file, { persistent: false }, heard);
      this.watcher.on('error', () => this.unwatch());
    } catch {
      // Without a watch, the listener must check the log from time to time.
    }
  }

  /** Touches the file at once, or within `RING_EVERY_MS` of the last touch. */
  ring(): void {
    if (this.ringing !== null || this.descriptor === null) return;
    const waitMs = this.rangAt + RING_EVERY_MS - performance.now();
    if (waitMs > 0) this.ringing = setTimeout(() => this.touch(), waitMs).unref();
    else this.touch();
  }

  close(): void {
    if (this.ringing !== null) this.touch();
    if (this.descriptor !== null) closeSync(this.descriptor);
    this.descriptor = null;
    this.unwatch();
  }

  private touch(): void {
    if (this.ringing !== null) clearTimeout(this.ringing);
    this.ringing = null;
    this.rangAt = performance.now();
    if (this.descriptor === null) return;
    try {
      const now = machineNow() / 1_000;
      futimesSync(this.descriptor, now, now);
    } catch {
      // Other processes find the append when they check the log themselves.
    }
  }

  private unwatch(): void {
    this.watcher?.close();
    this.watcher = null;
  }
}
