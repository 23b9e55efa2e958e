// The erased subjects of the vault, in a file outside backups. When an older vault is restored, these subjects are erased again.
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Unavailable } from '../../kernel/unavailable.js';
import { VaultMisconfigured } from '../../ports/vault.js';
import { syncPath } from '../durable-files.js';

/** The part of a ledger that has been read: the end of its last whole line, and the line itself, which identifies the ledger. */
export interface LedgerMark {
  readonly bytes: number;
  readonly line: string;
  /** A start has erased a subject of the ledger, and the log may not record the erasure yet. */
  readonly unrecorded?: true;
}

/** An erasure that was written down before it happened (ISO 8601 UTC). */
export interface Erasure {
  readonly subject: string;
  readonly erasedAt: string;
}

export interface LedgerPart {
  /** The subjects in the order of their erasure. */
  readonly subjects: readonly string[];
  /** Null if the ledger has no line. */
  readonly mark: LedgerMark | null;
  /** False if the ledger lacks the part before the mark. `subjects` is then the whole ledger. */
  readonly continues: boolean;
}

/** The ledger has a line that this service did not write. The message names the position. */
export class DamagedLedger extends Error {
  override readonly name = 'DamagedLedger';
}

/** The vault was last used with another ledger. An older vault would restore subjects that only that ledger names. */
export class OtherLedger extends VaultMisconfigured {
  constructor(file: string) {
    super(
      `The erasure ledger ${file} is missing, empty, older or another one: it lacks erasures that the vault has seen. ERASURE_LEDGER must name the right one, on a volume that is mounted; ` +
        'where that is lost for good, `npm run ops -- backup accept-ledger --reason <text>` begins another, see docs/operations/backups-and-restore.md.',
    );
  }
}

/** A line without a subject: the ledger was begun. When another ledger was lost, the line says who began this ledger, and why. */
export interface Beginning {
  readonly begunAt: string;
  readonly by?: string;
  readonly lostBecause?: string;
}

interface Line {
  readonly text: string;
  /** The position where the line begins, and the byte after it. */
  readonly at: number;
  readonly end: number;
}

const AT_A_TIME = 64;
const PIECE_BYTES = 1 << 16;
const NEW_LINE = 10;
/** Applies to every ledger. */
const NOTHING_READ: LedgerMark = { bytes: 0, line: '' };

/**
 * One JSON object on each line: `{"subject":"<id>","erasedAt":"<ISO 8601>"}`, or a beginning. Any number of processes add lines, and no line is ever
 * changed. A line without its end was interrupted when the machine stopped. The subject of such a line had not been erased, and no caller had got an
 * answer.
 */
export class ErasureLedger {
  private last: Promise<unknown> = Promise.resolve();

  constructor(readonly file: string) {}

  /** The line is durable when this returns. The file must exist, because a missing file may be on a volume that is not mounted. */
  record(subject: string, erasedAt: Date): Promise<void> {
    const turn = this.last.then(() =>
      this.add({ subject, erasedAt: erasedAt.toISOString() }, constants.O_WRONLY | constants.O_APPEND),
    );
    this.last = turn.catch(() => undefined);
    return turn;
  }

  /** Creates the file if needed. */
  async begin(beginning: Beginning): Promise<void> {
    await this.add({ ...beginning }, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT);
    await syncPath(dirname(this.file));
  }

  /** The lines after the mark, or all lines without a mark. Empty without a file. */
  async after(mark: LedgerMark | null): Promise<LedgerPart> {
    const continues = mark === null || (await this.holdsAt(mark));
    const subjects: string[] = [];
    let read = mark;
    for await (const { text, at, end } of this.lines(mark !== null && continues ? mark.bytes : 0)) {
      const erasure = this.erasureIn(text, at);
      if (erasure !== null) subjects.push(erasure.subject);
      read = { bytes: end, line: text };
    }
    return { subjects, mark: read, continues };
  }

  /** Reads the lines one by one, so a long ledger needs little memory. Throws DamagedLedger at an invalid line. */
  async *erasures(): AsyncGenerator<Erasure> {
    for await (const { text, at } of this.lines(0)) {
      const erasure = this.erasureIn(text, at);
      if (erasure !== null) yield erasure;
    }
  }

  /** Whether that line is anywhere in the ledger. Ledgers of several machines may have been joined. */
  async holds(mark: LedgerMark): Promise<boolean> {
    if (await this.holdsAt(mark)) return true;
    for await (const { text } of this.lines(0)) if (text === mark.line) return true;
    return false;
  }

  /** One write, on a line of its own, because the line of a killed process may lack its end. Empty lines have no meaning. */
  private async add(content: object, flags: number): Promise<void> {
    try {
      const handle = await open(this.file, flags, 0o600);
      try {
        await handle.appendFile(`\n${JSON.stringify(content)}\n`);
        await handle.datasync();
      } finally {
        await handle.close();
      }
    } catch (error) {
      throw new Unavailable('The erasure ledger cannot be written; nothing was erased', { cause: error });
    }
  }

  private erasureIn(line: string, at: number): Erasure | null {
    if (!line.endsWith('}')) return null;
    const { subject, erasedAt = '', begunAt } = jsonIn(line) as Partial<Erasure & Beginning>;
    if (typeof subject === 'string') return { subject, erasedAt };
    if (typeof begunAt === 'string') return null;
    throw new DamagedLedger(`The erasure ledger ${this.file} is damaged at byte ${at}.`);
  }

  private async holdsAt({ bytes, line }: LedgerMark): Promise<boolean> {
    const handle = await this.opened();
    if (handle === null) return false;
    const wanted = bytes === 0 ? '' : `${line}\n`;
    const found = Buffer.alloc(wanted.length);
    const read = handle.read(found, 0, found.length, Math.max(bytes - found.length, 0));
    const { bytesRead } = await read.finally(() => handle.close());
    return bytesRead === found.length && found.toString('latin1') === wanted;
  }

  private async *lines(from: number): AsyncGenerator<Line> {
    const handle = await this.opened();
    try {
      if (handle !== null) yield* linesOf(handle, from);
    } finally {
      await handle?.close();
    }
  }

  /** Null if no file exists. */
  private async opened(): Promise<FileHandle | null> {
    try {
      return await open(this.file, 'r');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
  }
}

/** A vault that stores, together with its values, how much of the ledger it has applied. An older copy of the values has an older mark. */
export interface LedgerReader {
  erase(subject: string): Promise<void>;
  erasedAt(subject: string): Promise<string | null> | string | null;
  ledgerMark(): Promise<LedgerMark | null>;
  setLedgerMark(mark: LedgerMark): Promise<void>;
}

export interface ApplyOptions {
  /** Whether to apply the whole ledger, including the part that the vault has already applied. */
  readonly all?: boolean;
  /** Records the erasures in the log. Null when the log cannot be written. A later start then records the erasures. */
  readonly record: ((subjects: ReadonlySet<string>) => Promise<void>) | null;
}

/** Throws if the ledger lacks the part that the vault has applied. */
export async function refuseOtherLedger(ledger: ErasureLedger, vault: Pick<LedgerReader, 'ledgerMark'>): Promise<void> {
  const known = await vault.ledgerMark();
  if (known !== null && !(await ledger.holds(known))) throw new OtherLedger(ledger.file);
}

/**
 * Erases the subjects of the ledger since the vault's mark, or all of them after ledgers were joined. Safe to repeat. The mark moves only after the
 * log records the erasures. Returns the subjects that were not erased before.
 */
export async function applyLedger(
  ledger: ErasureLedger,
  vault: LedgerReader,
  { all = false, record }: ApplyOptions,
): Promise<{ readonly erased: readonly string[] }> {
  await refuseOtherLedger(ledger, vault);
  const known = await vault.ledgerMark();
  const { subjects, mark } = await ledger.after(all ? null : known);
  const due = new Set(subjects);
  const erased: string[] = [];
  await forEach(due, async (subject) => {
    if ((await vault.erasedAt(subject)) === null) erased.push(subject);
  });
  if (erased.length > 0) await vault.setLedgerMark({ ...(known ?? NOTHING_READ), unrecorded: true });
  // Includes erased subjects, because a crash may have interrupted their erasure.
  await forEach(due, (subject) => vault.erase(subject));
  const unrecorded = erased.length > 0 || known?.unrecorded === true;
  if (unrecorded && record === null) return { erased };
  if (unrecorded) await record?.(due);
  if (mark !== null && (unrecorded || mark.line !== known?.line))
    await vault.setLedgerMark({ bytes: mark.bytes, line: mark.line });
  return { erased };
}

async function forEach(subjects: ReadonlySet<string>, deal: (subject: string) => Promise<void>): Promise<void> {
  const all = [...subjects];
  for (let done = 0; done < all.length; done += AT_A_TIME)
    await Promise.all(all.slice(done, done + AT_A_TIME).map(deal));
}

/** The whole lines that are not empty, with one piece of the file in memory. Each byte is one character, so lengths are byte positions. */
async function* linesOf(handle: FileHandle, from: number): AsyncGenerator<Line> {
  const piece = Buffer.alloc(PIECE_BYTES);
  let [text, at] = ['', from];
  for (let place = from; ;) {
    const { bytesRead } = await handle.read(piece, 0, piece.length, place);
    if (bytesRead === 0) return;
    place += bytesRead;
    let begun = 0;
    for (let end = piece.indexOf(NEW_LINE); end >= 0 && end < bytesRead; end = piece.indexOf(NEW_LINE, begun)) {
      text += piece.toString('latin1', begun, end);
      if (text !== '') yield { text, at, end: at + text.length + 1 };
      at += text.length + 1;
      text = '';
      begun = end + 1;
    }
    text += piece.toString('latin1', begun, bytesRead);
  }
}

function jsonIn(line: string): object {
  try {
    return JSON.parse(line) as object;
  } catch {
    return {};
  }
}
