// Which subjects of the vault were erased, in a file that no backup holds: a restored older vault is erased by it again.
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Unavailable } from '../../kernel/unavailable.js';
import { VaultMisconfigured } from '../../ports/vault.js';
import { syncPath } from '../durable-files.js';

/** Up to where a ledger has been read: the end of its last whole line, and that line, by which another ledger is told from this one. */
export interface LedgerMark {
  readonly bytes: number;
  readonly line: string;
  /** A subject of the ledger that was erased by a start; the log may not say so yet. */
  readonly unrecorded?: true;
}

/** As it was written down before it happened (ISO 8601 UTC). */
export interface Erasure {
  readonly subject: string;
  readonly erasedAt: string;
}

export interface LedgerPart {
  /** In the order of their erasure. */
  readonly subjects: readonly string[];
  /** Null when the ledger says nothing at all yet. */
  readonly mark: LedgerMark | null;
  /** False when the ledger does not hold what was read before up to the mark: then this is all of it. */
  readonly continues: boolean;
}

/** The ledger has a line that this service did not write. The message names the place. */
export class DamagedLedger extends Error {
  override readonly name = 'DamagedLedger';
}

/** The vault knows of a ledger that this one does not hold. With it an older vault would bring back whom only the other names. */
export class OtherLedger extends VaultMisconfigured {
  constructor(file: string) {
    super(
      `The erasure ledger ${file} is missing, empty, older or another one: it does not hold what the vault knows of it. ERASURE_LEDGER must name the right one, on a volume that is mounted; ` +
        'where that is lost for good, `npm run ops -- backup accept-ledger --reason <text>` begins another, see docs/operations/backups-and-restore.md.',
    );
  }
}

/** Why a line names no subject: the ledger was begun, and by whom and why where another was lost. */
export interface Beginning {
  readonly begunAt: string;
  readonly by?: string;
  readonly lostBecause?: string;
}

interface Line {
  readonly text: string;
  /** Where it begins, and the byte after it. */
  readonly at: number;
  readonly end: number;
}

const AT_A_TIME = 64;
const PIECE_BYTES = 1 << 16;
const NEW_LINE = 10;
/** In every ledger. */
const NOTHING_READ: LedgerMark = { bytes: 0, line: '' };

/**
 * A JSON object a line: `{"subject":"<id>","erasedAt":"<ISO 8601>"}`, or a beginning. Lines are only ever added, by any number of processes. A
 * line without its end was being written when the machine stopped: nothing was erased yet, and no caller was told so.
 */
export class ErasureLedger {
  private last: Promise<unknown> = Promise.resolve();

  constructor(readonly file: string) {}

  /** The line is durable when this answers. The file must be there: one that has gone may be on a volume that is not mounted. */
  record(subject: string, erasedAt: Date): Promise<void> {
    const turn = this.last.then(() =>
      this.add({ subject, erasedAt: erasedAt.toISOString() }, constants.O_WRONLY | constants.O_APPEND),
    );
    this.last = turn.catch(() => undefined);
    return turn;
  }

  /** Makes the file when there is none. */
  async begin(beginning: Beginning): Promise<void> {
    await this.add({ ...beginning }, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT);
    await syncPath(dirname(this.file));
  }

  /** What was added after the mark; all of it without one. Nothing where there is no file. */
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

  /** One after another, however many there are. Throws DamagedLedger at a line that is none. */
  async *erasures(): AsyncGenerator<Erasure> {
    for await (const { text, at } of this.lines(0)) {
      const erasure = this.erasureIn(text, at);
      if (erasure !== null) yield erasure;
    }
  }

  /** Whether that line is in it, wherever: ledgers of several machines may have been put together. */
  async holds(mark: LedgerMark): Promise<boolean> {
    if (await this.holdsAt(mark)) return true;
    for await (const { text } of this.lines(0)) if (text === mark.line) return true;
    return false;
  }

  /**
   * In one write, and on a line of its own: what came before, perhaps of a process that was killed, may lack its end. Empty lines say nothing.
   */
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

  /** Null where there is no file. */
  private async opened(): Promise<FileHandle | null> {
    try {
      return await open(this.file, 'r');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
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

export interface ApplyOptions {
  /** All of the ledger, whatever the vault has seen of it. */
  readonly all?: boolean;
  /** Makes the log say who of them was erased. Null where it cannot be written: then that stays to be done. */
  readonly record: ((subjects: ReadonlySet<string>) => Promise<void>) | null;
}

/** Throws where the ledger does not hold what the vault knows of it. */
export async function refuseOtherLedger(ledger: ErasureLedger, vault: Pick<LedgerReader, 'ledgerMark'>): Promise<void> {
  const known = await vault.ledgerMark();
  if (known !== null && !(await ledger.holds(known))) throw new OtherLedger(ledger.file);
}

/**
 * Erases the subjects that the ledger names since the vault's mark; all of it where lines were put together anew. Repeatable: the mark goes on
 * only when the log says what was done. Answers the subjects that were not erased before.
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
  // Also who is erased: what a crash left undone of it is done then.
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

/** The whole lines that are not empty, a piece of the file in memory at a time. Bytes are characters, so that lengths are places. */
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
