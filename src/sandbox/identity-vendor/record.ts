// What the vendor remembers: calls by idempotency key, sessions by token. Held in memory, kept in a journal.
import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Journal } from '../journal.js';

export const OPERATIONS = ['registration', 'otp', 'otp-resend', 'kba'] as const;
export type Operation = (typeof OPERATIONS)[number];

export interface Answer {
  readonly status: number;
  readonly body: object;
}

export interface Session {
  readonly token: string;
  readonly persona: string;
  readonly wrongAnswers: number;
  /** Milliseconds since 1970. */
  readonly lockedUntil: number | null;
  /** Answered rightly, or never open for an answer. */
  readonly over: boolean;
}

/** What executing a call led to. */
export interface Execution {
  readonly answer: Answer;
  readonly session?: Session;
}

interface Executed {
  readonly operation: Operation;
  readonly digest: string;
  readonly answer: Answer;
}

export type CallState =
  | { readonly state: 'unknown' }
  | { readonly state: 'in-progress' }
  | { readonly state: 'closed' }
  | ({ readonly state: 'executed' } & Executed);

/** No line holds personal data: bodies and persons are there as keyed digests only. */
type Entry =
  | { readonly is: 'opened'; readonly digestKey: string }
  | { readonly is: 'received'; readonly key: string; readonly operation: Operation }
  | ({ readonly is: 'executed'; readonly key: string; readonly session?: Session } & Executed)
  | { readonly is: 'closed'; readonly key: string }
  | { readonly is: 'turned-away'; readonly person: string };

interface Counts {
  received: number;
  executed: number;
}

export class VendorRecord {
  private readonly journal: Journal<Entry>;
  private digestKey = '';
  private readonly executed = new Map<string, Executed>();
  private readonly inProgress = new Set<string>();
  private readonly closed = new Set<string>();
  private readonly sessions = new Map<string, Session>();
  private readonly turnedAway = new Set<string>();
  private readonly counts = new Map<string, Counts>();
  private readonly totals = Object.fromEntries(OPERATIONS.map((operation) => [operation, { received: 0, executed: 0 }])) as Record<Operation, Counts>;
  private readonly receivedTwice = new Set<string>();
  private readonly executedTwice = new Set<string>();

  constructor(folder: string) {
    this.journal = Journal.open<Entry>(join(folder, 'identity-vendor.jsonl'), (entry) => this.apply(entry));
    if (this.digestKey === '') this.append({ is: 'opened', digestKey: randomBytes(32).toString('base64') });
  }

  receive(key: string, operation: Operation): void {
    this.append({ is: 'received', key, operation });
  }

  call(key: string): CallState {
    const executed = this.executed.get(key);
    if (executed !== undefined) return { state: 'executed', ...executed };
    if (this.closed.has(key)) return { state: 'closed' };
    return { state: this.inProgress.has(key) ? 'in-progress' : 'unknown' };
  }

  /** In progress only as long as this process lives: what it did not finish, nobody will. */
  begin(key: string): void {
    this.inProgress.add(key);
  }

  giveUp(key: string): void {
    this.inProgress.delete(key);
  }

  execute(key: string, operation: Operation, digest: string, execution: Execution): void {
    this.inProgress.delete(key);
    this.append({ is: 'executed', key, operation, digest, ...execution });
  }

  /** Makes "not executed" stay true. */
  close(key: string): void {
    if (!this.closed.has(key)) this.append({ is: 'closed', key });
  }

  session(token: string): Session | null {
    return this.sessions.get(token) ?? null;
  }

  /** True the first time for a person. */
  turnAwayOnce(person: string): boolean {
    if (this.turnedAway.has(person)) return false;
    this.append({ is: 'turned-away', person });
    return true;
  }

  countsOf(key: string): Readonly<Counts> {
    return this.counts.get(key) ?? { received: 0, executed: 0 };
  }

  allCounts(): { operations: Record<Operation, Readonly<Counts>>; receivedTwice: readonly string[]; executedTwice: readonly string[] } {
    return { operations: this.totals, receivedTwice: [...this.receivedTwice], executedTwice: [...this.executedTwice] };
  }

  digestOf(...parts: readonly string[]): string {
    return createHmac('sha256', this.digestKey).update(JSON.stringify(parts)).digest('base64url').slice(0, 22);
  }

  /** Resolves when everything remembered so far will survive the process. No answer leaves before. */
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
        this.executed.set(entry.key, { operation: entry.operation, digest: entry.digest, answer: entry.answer });
        if (entry.session !== undefined) this.sessions.set(entry.session.token, entry.session);
        this.totals[entry.operation].executed += 1;
        if (this.count(entry.key, 'executed') > 1) this.executedTwice.add(entry.key);
        return;
      case 'closed':
        this.closed.add(entry.key);
        return;
      case 'turned-away':
        this.turnedAway.add(entry.person);
        return;
      default:
        entry satisfies never;
    }
  }

  private count(key: string, what: keyof Counts): number {
    const counts = this.counts.get(key) ?? { received: 0, executed: 0 };
    counts[what] += 1;
    this.counts.set(key, counts);
    return counts[what];
  }
}

export function newSession(persona: string, over: boolean): Session {
  return { token: `vs_${randomUUID().replaceAll('-', '')}`, persona, wrongAnswers: 0, lockedUntil: null, over };
}
