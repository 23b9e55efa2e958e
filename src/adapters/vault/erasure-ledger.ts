// Which subjects of the vault were erased, in a file that no backup holds: whoever restores an older vault erases them again.
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Unavailable } from '../../kernel/unavailable.js';
import { syncPath } from '../durable-files.js';

/** Up to where a ledger has been read: the end of its last whole line, and that line, by which another ledger is told from this one. */
export interface LedgerMark {
  readonly bytes: number;
  readonly line: string;
}

export interface LedgerPart {
  /** In the order of their erasure. */
  readonly subjects: readonly string[];
  /** Null when the ledger says nothing at all yet. */
  readonly mark: LedgerMark | null;
  /** False when the ledger does not hold what was read before up to the mark: then this is all of it. */
  readonly continues: boolean;
}

/** The ledger says something that nobody wrote there. The message names the place. */
export class DamagedLedger extends Error {
  override readonly name = 'DamagedLedger';
}

const AT_A_TIME = 64;

/**
 * A JSON object a line: `{"subject":"<id>","erasedAt":"<ISO 8601>"}`. Lines are only ever added, by any number of processes. A
 * line without its end was being written when the machine stopped: nothing was erased yet, and nobody was told so.
 */
export class ErasureLedger {
  private last: Promise<unknown> = Promise.resolve();

  constructor(readonly file: string) {}

  /** The line is durable when this answers. */
  record(subject: string, erasedAt: Date): Promise<void> {
    const turn = this.last.then(() => this.add(JSON.stringify({ subject, erasedAt: erasedAt.toISOString() })));
    this.last = turn.catch(() => undefined);
    return turn;
  }

  /** What was added after the mark; all of it without one. Makes the file when there is none. */
  async after(mark: LedgerMark | null): Promise<LedgerPart> {
    return this.opened(async (handle) => {
      const continues = mark === null || (await textAt(handle, mark.bytes - mark.line.length - 1, mark.bytes)) === `${mark.line}\n`;
      const from = mark !== null && continues ? mark.bytes : 0;
      const text = await textAt(handle, from, (await handle.stat()).size);
      const lines = text.slice(0, text.lastIndexOf('\n') + 1).split('\n');
      let end = from;
      const subjects = lines.flatMap((line) => {
        const subject = this.subjectIn(line, end);
        end += line.length + 1;
        return subject === null ? [] : [subject];
      });
      const last = lines.findLast((line) => line !== '');
      return { subjects, mark: last === undefined ? mark : { bytes: from + text.lastIndexOf('\n') + 1, line: last }, continues };
    });
  }

  /** Whether that line is in it, wherever: ledgers of several machines may have been put together. */
  async holds({ line }: LedgerMark): Promise<boolean> {
    return this.opened(async (handle) => (await textAt(handle, 0, (await handle.stat()).size)).split('\n').includes(line));
  }

  private async add(line: string): Promise<void> {
    try {
      await this.opened(async (handle) => {
        const { size } = await handle.stat();
        const { buffer } = size === 0 ? { buffer: Buffer.from('\n') } : await handle.read(Buffer.alloc(1), 0, 1, size - 1);
        await handle.appendFile(`${buffer.toString() === '\n' ? '' : '\n'}${line}\n`);
        await handle.datasync();
      });
    } catch (error) {
      throw new Unavailable('The erasure ledger cannot be written; nothing was erased', { cause: error });
    }
  }

  private subjectIn(line: string, at: number): string | null {
    if (!line.endsWith('}')) return null;
    const { subject } = jsonIn(line) as { readonly subject?: unknown };
    if (typeof subject !== 'string') throw new DamagedLedger(`The erasure ledger ${this.file} is damaged at byte ${at}.`);
    return subject;
  }

  private async opened<Result>(use: (handle: FileHandle) => Promise<Result>): Promise<Result> {
    const handle = await open(this.file, 'a+', 0o600);
    try {
      if ((await handle.stat()).size === 0) await syncPath(dirname(this.file));
      return await use(handle);
    } finally {
      await handle.close();
    }
  }
}

/** A vault that remembers how much of the ledger it has seen, beside its values: an older copy of them knows of less. */
export interface LedgerReader {
  erase(subject: string): Promise<void>;
  erasedAt(subject: string): Promise<string | null> | string | null;
  ledgerMark(): Promise<LedgerMark | null>;
  setLedgerMark(mark: LedgerMark): Promise<void>;
}

/**
 * Erases whoever the ledger names since the vault's mark; all of it when the ledger is another one. Repeatable. Answers the
 * subjects that were not erased before.
 */
export async function applyLedger(ledger: ErasureLedger, vault: LedgerReader, { all = false } = {}): Promise<{ readonly erased: readonly string[]; readonly continues: boolean }> {
  const known = all ? null : await vault.ledgerMark();
  const { subjects, mark, continues } = await ledger.after(known);
  const erased: string[] = [];
  const due = [...new Set(subjects)];
  for (let done = 0; done < due.length; done += AT_A_TIME) {
    await Promise.all(due.slice(done, done + AT_A_TIME).map(async (subject) => {
      if ((await vault.erasedAt(subject)) === null) erased.push(subject);
      // Also where it is erased: what a crash left undone of it is done then.
      await vault.erase(subject);
    }));
  }
  if (mark !== null && mark.line !== known?.line) await vault.setLedgerMark(mark);
  return { erased, continues };
}

/** Bytes are characters: subjects are visible ASCII. */
async function textAt(handle: FileHandle, from: number, to: number): Promise<string> {
  const buffer = Buffer.alloc(Math.max(to - from, 0));
  let length = 0;
  for (let read = 1; read > 0 && length < buffer.length; length += read) ({ bytesRead: read } = await handle.read(buffer, length, buffer.length - length, from + length));
  return buffer.toString('latin1', 0, length);
}

function jsonIn(line: string): object {
  try {
    return JSON.parse(line) as object;
  } catch {
    return {};
  }
}
