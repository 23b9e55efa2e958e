// The processor's record: calls by idempotency key, intents, checkout sessions and events. The record is in memory and in a journal.
import { createHmac, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Journal } from '../../../vendor-kit/double/journal.js';
import type { CheckoutSession, Intent } from './state.js';

export const OPERATIONS = [
  'intent-create',
  'intent-update',
  'intent-confirm',
  'intent-authenticate',
  'intent-cancel',
  'checkout-create',
  'checkout-expire',
  'refund-create',
] as const;
export type Operation = (typeof OPERATIONS)[number];

export interface Answer {
  readonly status: number;
  readonly body: object;
}

export interface StoredEvent {
  readonly id: string;
  readonly type: string;
  /** The intent that the event concerns; null for an event without one. */
  readonly intentId: string | null;
  /** Milliseconds since 1970. */
  readonly created: number;
  /** The bytes that every delivery sends. */
  readonly body: string;
}

/** Changes that are either all recorded or not recorded. */
export interface Changes {
  readonly intents?: readonly Intent[];
  readonly sessions?: readonly CheckoutSession[];
  readonly events?: readonly StoredEvent[];
}

/** The event was delivered, or dropped on a test's request. */
export type EventEnd = 'delivered' | 'dropped';

interface Executed {
  readonly operation: Operation;
  readonly digest: string;
  readonly answer: Answer;
}

export type CallState =
  { readonly state: 'unknown' } | { readonly state: 'in-progress' } | ({ readonly state: 'executed' } & Executed);

/** Records the bodies of calls only as keyed digests. Answers and events are recorded as they were sent. */
type Entry =
  | { readonly is: 'opened'; readonly digestKey: string }
  | { readonly is: 'received'; readonly key: string; readonly operation: Operation }
  | ({ readonly is: 'executed'; readonly key: string | null; readonly changes: Changes } & Executed)
  | { readonly is: 'changed'; readonly changes: Changes }
  | { readonly is: 'event-over'; readonly id: string; readonly end: EventEnd };

interface Counts {
  received: number;
  executed: number;
}

export class ProcessorRecord {
  private readonly journal: Journal<Entry>;
  private digestKey = '';
  private readonly executed = new Map<string, Executed>();
  private readonly inProgress = new Set<string>();
  private readonly intents = new Map<string, Intent>();
  private readonly sessions = new Map<string, CheckoutSession>();
  private readonly events = new Map<string, StoredEvent>();
  private readonly ends = new Map<string, EventEnd>();
  private readonly counts = new Map<string, Counts>();
  private readonly totals = Object.fromEntries(
    OPERATIONS.map((operation) => [operation, { received: 0, executed: 0 }]),
  ) as Record<Operation, Counts>;
  private readonly receivedTwice = new Set<string>();
  private readonly executedTwice = new Set<string>();

  constructor(folder: string) {
    this.journal = Journal.open<Entry>(join(folder, 'processor.jsonl'), (entry) => this.apply(entry));
    if (this.digestKey === '') this.append({ is: 'opened', digestKey: randomBytes(32).toString('base64') });
  }

  receive(key: string, operation: Operation): void {
    this.append({ is: 'received', key, operation });
  }

  call(key: string): CallState {
    const executed = this.executed.get(key);
    if (executed !== undefined) return { state: 'executed', ...executed };
    return { state: this.inProgress.has(key) ? 'in-progress' : 'unknown' };
  }

  /** Marks a call as in progress while this process runs. A call that the process does not finish stays unfinished. */
  begin(key: string): void {
    this.inProgress.add(key);
  }

  giveUp(key: string): void {
    this.inProgress.delete(key);
  }

  finish(key: string | null, call: Executed, changes: Changes): void {
    if (key !== null) this.inProgress.delete(key);
    this.append({ is: 'executed', key, ...call, changes });
  }

  /** Applies changes that no call caused. */
  change(changes: Changes): void {
    this.append({ is: 'changed', changes });
  }

  endEvent(id: string, end: EventEnd): void {
    this.append({ is: 'event-over', id, end });
  }

  intent(id: string): Intent | null {
    return this.intents.get(id) ?? null;
  }

  session(id: string): CheckoutSession | null {
    return this.sessions.get(id) ?? null;
  }

  event(id: string): StoredEvent | null {
    return this.events.get(id) ?? null;
  }

  endOf(event: StoredEvent): EventEnd | null {
    return this.ends.get(event.id) ?? null;
  }

  allIntents(): readonly Intent[] {
    return [...this.intents.values()];
  }

  allSessions(): readonly CheckoutSession[] {
    return [...this.sessions.values()];
  }

  allEvents(): readonly StoredEvent[] {
    return [...this.events.values()];
  }

  countsOf(key: string): Readonly<Counts> {
    return this.counts.get(key) ?? { received: 0, executed: 0 };
  }

  allCounts(): {
    operations: Record<Operation, Readonly<Counts>>;
    receivedTwice: readonly string[];
    executedTwice: readonly string[];
  } {
    return { operations: this.totals, receivedTwice: [...this.receivedTwice], executedTwice: [...this.executedTwice] };
  }

  digestOf(...parts: readonly string[]): string {
    return createHmac('sha256', this.digestKey).update(JSON.stringify(parts)).digest('base64url').slice(0, 22);
  }

  /** Resolves when everything recorded so far is in the journal. Answers and events must wait until this promise resolves. */
  kept(): Promise<void> {
    return this.journal.flushed();
  }

  shut(): void {
    this.journal.close();
  }

  private append(entry: Entry): void {
    this.apply(entry);
    this.journal.append(entry);
  }

  private apply(entry: Entry): void {
    switch (entry.is) {
      case 'opened':
        this.digestKey = entry.digestKey;
        return;
      case 'received':
        this.totals[entry.operation].received += 1;
        if (this.count(entry.key, 'received') > 1) this.receivedTwice.add(entry.key);
        return;
      case 'executed':
        this.totals[entry.operation].executed += 1;
        this.applyChanges(entry.changes);
        if (entry.key === null) return;
        this.executed.set(entry.key, { operation: entry.operation, digest: entry.digest, answer: entry.answer });
        if (this.count(entry.key, 'executed') > 1) this.executedTwice.add(entry.key);
        return;
      case 'changed':
        this.applyChanges(entry.changes);
        return;
      case 'event-over':
        this.ends.set(entry.id, entry.end);
        return;
      default:
        entry satisfies never;
    }
  }

  private applyChanges({ intents = [], sessions = [], events = [] }: Changes): void {
    for (const intent of intents) this.intents.set(intent.id, intent);
    for (const session of sessions) this.sessions.set(session.id, session);
    for (const event of events) this.events.set(event.id, event);
  }

  private count(key: string, what: keyof Counts): number {
    const counts = this.counts.get(key) ?? { received: 0, executed: 0 };
    counts[what] += 1;
    this.counts.set(key, counts);
    return counts[what];
  }
}
