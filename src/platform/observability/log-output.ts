// Writes log lines out of the process. A write never blocks, never throws, and uses limited memory. Unwritable lines are dropped and counted.
import { write } from 'node:fs';
import { Socket } from 'node:net';
import { withTimeout } from '../../kernel/with-timeout.js';
import { promisify } from 'node:util';

/** Writes at least one of the bytes and returns their number. Rejects when no byte can be written. */
export type WriteSome = (bytes: Buffer) => Promise<number>;

/** Lines that wait for a slow reader. A busy second at level `trace` writes fewer bytes. */
const MAX_WAITING_CHARACTERS = 4_000_000;
const NEWLINE = Buffer.from('\n');

export class LogOutput {
  private waiting: string[] = [];
  private waitingCharacters = 0;
  private writing: Promise<void> | null = null;
  /** Whether the last written line is incomplete. */
  private torn = false;

  constructor(
    private readonly writeSome: WriteSome,
    private readonly dropped: (lines: number) => void,
    private readonly maxWaitingCharacters = MAX_WAITING_CHARACTERS,
  ) {}

  /** `line` ends with a newline. */
  write(line: string): void {
    if (this.waitingCharacters + line.length > this.maxWaitingCharacters) return this.dropped(1);
    this.waiting.push(line);
    this.waitingCharacters += line.length;
    this.writing ??= this.writeWaiting().finally(() => (this.writing = null));
  }

  /** Resolves when all lines are written or dropped, or after the time limit. A process that ends does not wait longer for its reader. */
  async flushed(withinMs: number): Promise<void> {
    if (this.writing) await withTimeout(withinMs, this.writing);
  }

  /** Writes all waiting lines at once. Only one write runs at a time. */
  private async writeWaiting(): Promise<void> {
    while (this.waiting.length > 0) {
      let rest: Buffer = Buffer.from(this.waiting.join(''));
      this.waiting = [];
      this.waitingCharacters = 0;
      try {
        if (this.torn) await this.writeSome(NEWLINE);
        this.torn = false;
        while (rest.length > 0) {
          const written = await this.writeSome(rest);
          this.torn = rest[written - 1] !== NEWLINE[0];
          rest = rest.subarray(written);
        }
      } catch {
        this.dropped(rest.reduce((lines, byte) => (byte === NEWLINE[0] ? lines + 1 : lines), 0));
      }
    }
  }
}

/**
 * Standard output. A pipe or socket is written through its stream, which never blocks. A blocked write in a thread of the pool would keep the process
 * from ending. A file has no such stream. Each write to a file is a job of the pool, and fails at once when the disk is full.
 */
export function toStandardOutput(): WriteSome {
  const stdout: unknown = process.stdout;
  if (!(stdout instanceof Socket)) return async (bytes) => (await writeToFile(process.stdout.fd, bytes)).bytesWritten;
  // The rejection reports the error. Without a listener, the error event would end the process.
  stdout.on('error', () => undefined);
  return (bytes) =>
    new Promise((resolve, reject) => stdout.write(bytes, (error) => (error ? reject(error) : resolve(bytes.length))));
}

const writeToFile = promisify(write) as (fd: number, bytes: Buffer) => Promise<{ bytesWritten: number }>;
