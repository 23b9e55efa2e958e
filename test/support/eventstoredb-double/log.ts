// The log inside the double. The log implements streams, expected revisions, idempotency and positions like the
// server's index.

export interface Proposal {
  readonly id: string;
  readonly type: string;
  readonly contentType: string;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
}

export interface LogRecord extends Proposal {
  readonly stream: string;
  readonly revision: number;
  /**
   * The byte offset of the record. The offset is the commit and prepare position of an event from an ordinary append.
   */
  readonly offset: bigint;
  /** The byte offset after the record, where the next record begins. */
  readonly end: bigint;
}

export type Expected = 'any' | 'no-stream' | 'stream-exists' | bigint;

export type Verdict =
  | { readonly kind: 'stored' | 'repeated'; readonly revision: number; readonly offset: bigint }
  | { readonly kind: 'wrong-expected-version'; readonly current: number | null };

/** A place in `$all`. Positions are ordered by commit, then by prepare. */
export interface Place {
  readonly commit: bigint;
  readonly prepare: bigint;
}

export function isAfter(left: Place, right: Place): boolean {
  return left.commit === right.commit ? left.prepare > right.prepare : left.commit > right.commit;
}

export function placeOf(record: LogRecord): Place {
  return { commit: record.offset, prepare: record.offset };
}

const RECORD_OVERHEAD = 120;

export class Log {
  readonly records: LogRecord[] = [];
  readonly #streams = new Map<string, LogRecord[]>();
  #waiting: (() => void)[] = [];

  stream(name: string): readonly LogRecord[] | undefined {
    return this.#streams.get(name);
  }

  /**
   * The server's check for repeated appends. The server does not write events again that are already at this position
   * under the same ids.
   */
  append(stream: string, expected: Expected, proposals: readonly Proposal[]): Verdict {
    const stored = this.#streams.get(stream) ?? [];
    const current = stored.length - 1;
    const wrong: Verdict = { kind: 'wrong-expected-version', current: current < 0 ? null : current };
    if (expected === 'stream-exists' && current < 0) return wrong;
    if (expected === 'any' || expected === 'stream-exists') {
      const earlier = proposals.map(({ id }) => stored.find((record) => record.id === id));
      if (earlier[0] === undefined) return this.#write(stream, stored, proposals);
      return earlier.includes(undefined) ? wrong : repeated(earlier.at(-1));
    }
    const after = expected === 'no-stream' ? -1n : expected;
    if (after > BigInt(current)) return wrong;
    if (after === BigInt(current)) return this.#write(stream, stored, proposals);
    const first = Number(after) + 1;
    const same = proposals.every(({ id }, index) => stored[first + index]?.id === id);
    return same ? repeated(stored[first + proposals.length - 1]) : wrong;
  }

  /** The index of the first record after the position. */
  indexAfter(place: Place | null): number {
    if (place === null) return 0;
    let [low, high] = [0, this.records.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (isAfter(placeOf(this.records[middle]!), place)) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** Resolves at the next write, or when `wakeAll` is called. */
  changed(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  wakeAll(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }

  #write(stream: string, stored: LogRecord[], proposals: readonly Proposal[]): Verdict {
    this.#streams.set(stream, stored);
    for (const proposal of proposals) {
      const offset = this.records.at(-1)?.end ?? 0n;
      const size = RECORD_OVERHEAD + stream.length + proposal.data.length + proposal.metadata.length;
      const record: LogRecord = { ...proposal, stream, revision: stored.length, offset, end: offset + BigInt(size) };
      stored.push(record);
      this.records.push(record);
    }
    this.wakeAll();
    const last = stored.at(-1);
    if (last === undefined) return { kind: 'wrong-expected-version', current: null };
    return { kind: 'stored', revision: last.revision, offset: last.offset };
  }
}

function repeated(last: LogRecord | undefined): Verdict {
  if (last === undefined) return { kind: 'wrong-expected-version', current: null };
  return { kind: 'repeated', revision: last.revision, offset: last.offset };
}
