// A sandbox vendor's record of its calls, by idempotency key. The record is in memory and in a journal.
import { createHmac, randomBytes } from 'node:crypto';
import { Journal } from './journal.js';

export interface Answer {
  readonly status: number;
  /** Sent as JSON. */
  readonly body: object | string;
}

/** The result of a call. `effect`: the vendor's record of the call in addition to the answer. `billed`: the call costs money. */
export interface Execution<Effect> {
  readonly answer: Answer;
  readonly effect?: Effect;
  readonly billed?: true;
}

interface Executed<Operation> {
  readonly operation: Operation;
  readonly digest: string;
  readonly answer: Answer;
}

export type CallState<Operation> =
  | { readonly state: 'unknown' }
  | { readonly state: 'in-progress' }
  | { readonly state: 'closed' }
  | ({ readonly state: 'executed' } & Executed<Operation>);

export interface Counts {
  readonly received: number;
  readonly executed: number;
  readonly billed: number;
}

/** No line contains personal data. Bodies appear only as keyed digests, and effects contain only the vendor's own names and numbers. */
type Entry<Operation, Effect> =
  | { readonly is: 'opened'; readonly digestKey: string }
  | { readonly is: 'received'; readonly key: string; readonly operation: Operation }
  | ({ readonly is: 'executed'; readonly key: string } & Executed<Operation> & Execution<Effect>)
  | { readonly is: 'closed'; readonly key: string }
  /** An effect that no call caused. */
  | { readonly is: 'noted'; readonly effect: Effect };

const NONE: Counts = { received: 0, executed: 0, billed: 0 };

export class CallRecord<Operation extends string, Effect> {
  private readonly journal: Journal<Entry<Operation, Effect>>;
  private digestKey = '';
  private readonly executed = new Map<string, Executed<Operation>>();
  private readonly inProgress = new Set<string>();
  private readonly closed = new Set<string>();
  private readonly counts = new Map<string, Counts>();
  private readonly totals: Record<Operation, Counts>;
  private readonly receivedTwice = new Set<string>();
  private readonly executedTwice = new Set<string>();

  /** `takeEffect` receives every effect in order, the journal's effects first. `repeatable`: operations that callers may repeat. */
  constructor(
    path: string,
    operations: readonly Operation[],
    private readonly takeEffect: (effect: Effect) => void,
    private readonly repeatable: readonly Operation[] = [],
  ) {
    this.totals = Object.fromEntries(operations.map((operation) => [operation, NONE])) as Record<Operation, Counts>;
    this.journal = Journal.open<Entry<Operation, Effect>>(path, (entry) => this.apply(entry));
    if (this.digestKey === '') this.append({ is: 'opened', digestKey: randomBytes(32).toString('base64') });
  }

  receive(key: string, operation: Operation): void {
    this.append({ is: 'received', key, operation });
  }

  call(key: string): CallState<Operation> {
    const executed = this.executed.get(key);
    if (executed !== undefined) return { state: 'executed', ...executed };
    if (this.closed.has(key)) return { state: 'closed' };
    return { state: this.inProgress.has(key) ? 'in-progress' : 'unknown' };
  }

  /** Marks a call as in progress while this process runs. A call that the process does not finish stays unfinished. */
  begin(key: string): void {
    this.inProgress.add(key);
  }

  giveUp(key: string): void {
    this.inProgress.delete(key);
  }

  /** `sent`: the answer with its personal data. This answer is kept in memory for repeated calls, and not in the journal. */
  finish(key: string, executed: Executed<Operation> & Execution<Effect>, sent: Answer): void {
    this.inProgress.delete(key);
    this.append({ is: 'executed', key, ...executed });
    this.executed.set(key, { operation: executed.operation, digest: executed.digest, answer: sent });
  }

  /** Ensures that the call is never executed later. */
  close(key: string): void {
    if (!this.closed.has(key)) this.append({ is: 'closed', key });
  }

  note(effect: Effect): void {
    this.append({ is: 'noted', effect });
  }

  countsOf(key: string): Counts {
    return this.counts.get(key) ?? NONE;
  }

  /** `receivedTwice` includes only operations that must not be repeated. */
  allCounts(): {
    operations: Record<Operation, Counts>;
    receivedTwice: readonly string[];
    executedTwice: readonly string[];
  } {
    return { operations: this.totals, receivedTwice: [...this.receivedTwice], executedTwice: [...this.executedTwice] };
  }

  digestOf(...parts: readonly string[]): string {
    return createHmac('sha256', this.digestKey).update(JSON.stringify(parts)).digest('base64url').slice(0, 22);
  }

  /** A key of the vendor for one purpose. */
  keyFor(purpose: string): Buffer {
    return createHmac('sha256', this.digestKey).update(purpose).digest();
  }

  /** Resolves when everything recorded so far is in the journal. An answer must wait until this promise resolves. */
  kept(): Promise<void> {
    return this.journal.flushed();
  }

  shut(): void {
    this.journal.close();
  }

  private append(entry: Entry<Operation, Effect>): void {
    this.apply(entry);
    this.journal.append(entry);
  }

  private apply(entry: Entry<Operation, Effect>): void {
    switch (entry.is) {
      case 'opened':
        this.digestKey = entry.digestKey;
        return;
      case 'received':
        if (this.count(entry.key, entry.operation, 'received') > 1 && !this.repeatable.includes(entry.operation))
          this.receivedTwice.add(entry.key);
        return;
      case 'executed':
        this.executed.set(entry.key, { operation: entry.operation, digest: entry.digest, answer: entry.answer });
        if (entry.effect !== undefined) this.takeEffect(entry.effect);
        if (entry.billed) this.count(entry.key, entry.operation, 'billed');
        if (this.count(entry.key, entry.operation, 'executed') > 1) this.executedTwice.add(entry.key);
        return;
      case 'closed':
        this.closed.add(entry.key);
        return;
      case 'noted':
        this.takeEffect(entry.effect);
        return;
      default:
        entry satisfies never;
    }
  }

  private count(key: string, operation: Operation, what: keyof Counts): number {
    const counts = this.countsOf(key);
    const more = { ...counts, [what]: counts[what] + 1 };
    this.counts.set(key, more);
    const totals = this.totals[operation];
    this.totals[operation] = { ...totals, [what]: totals[what] + 1 };
    return more[what];
  }
}
