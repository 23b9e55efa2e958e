// An append-only file of JSON lines, with which a part of the sandbox survives a restart, even after kill -9.
import { closeSync, existsSync, ftruncateSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';

const NEWLINE = 10;

/**
 * Writes lines in batches, one write per turn of the event loop. `flushed` resolves when the operating system has every earlier line. An answer that
 * waits for `flushed` survives the death of the process, but not of the machine. Only one process may use a file.
 */
export class Journal<Entry extends object> {
  private pending: string[] = [];
  private flush: Promise<void> | null = null;

  private constructor(
    private readonly file: number,
    private size: number,
  ) {}

  /** Passes every entry of the file to `replay`, in order, and opens the file for appending. Removes an incomplete, unanswered last line. */
  static open<Entry extends object>(path: string, replay: (entry: Entry) => void): Journal<Entry> {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const content = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
    let start = 0;
    for (let end = content.indexOf(NEWLINE); end >= 0; end = content.indexOf(NEWLINE, start)) {
      replay(JSON.parse(content.toString('utf8', start, end)) as Entry);
      start = end + 1;
    }
    const file = openSync(path, 'a', 0o600);
    if (start < content.length) ftruncateSync(file, start);
    return new Journal(file, start);
  }

  append(entry: Entry): void {
    this.pending.push(JSON.stringify(entry));
  }

  flushed(): Promise<void> {
    if (this.pending.length === 0 && this.flush === null) return Promise.resolve();
    this.flush ??= turnOfTheLoop().then(() => {
      this.flush = null;
      this.write();
    });
    return this.flush;
  }

  close(): void {
    this.write();
    closeSync(this.file);
  }

  private write(): void {
    if (this.pending.length === 0) return;
    const bytes = Buffer.from(`${this.pending.join('\n')}\n`);
    this.pending = [];
    let written = 0;
    try {
      while (written < bytes.length) written += writeSync(this.file, bytes, written);
      this.size += written;
    } catch (error) {
      // The next line must not begin with half of a batch.
      ftruncateSync(this.file, this.size);
      throw error;
    }
  }
}
