// Checks that an event names each subject of the vault and each line of the erasure ledger. If no event names one, a case was removed from the log.
import { hash } from 'node:crypto';
import { DamagedLedger, type ErasureLedger } from '../adapters/vault/erasure-ledger.js';
import type { RecordedEvent } from '../kernel/domain-event.js';
import type { VaultAudit } from '../platform/audit/vault-audit.js';
import { walk } from '../platform/audit/walk.js';
import type { EventStore } from '../ports/event-store.js';
import type { LogFault } from '../ports/inspectable-log.js';
import type { VaultSubjects } from '../ports/vault.js';
import type { GivenUp } from './given-up.js';
import { comesBeforeItsEvent, NAMING, subjectsNamedBy } from './vault-knowledge.js';

export interface SubjectAuditOptions {
  readonly entries: VaultAudit;
  readonly store: EventStore;
  readonly subjects: VaultSubjects;
  readonly ledger: ErasureLedger;
  readonly givenUp: readonly GivenUp[];
  /** Whether the whole log was read. */
  readonly isWhole: () => boolean;
}

/** The number of faults that are listed one by one. */
const MAX_TOLD = 1_000;
/** The longest time for which a value is in the vault before its event is in the log. */
const BEFORE_EVENT_MS = 60_000;
/**
 * A process may store entries for a subject and die before the subject's first event. This is the largest number of such entries. An endpoint has a
 * secret and a contact. A person has a grant's details and a unit's address.
 */
const MAX_ENTRIES_BEFORE_EVENT = 2;

/** Runs the vault's own audit and this audit together. Uses at most 32 bytes of memory for each subject that the log names. */
export class SubjectAudit {
  readonly types: ReadonlySet<string>;
  /** Subjects and ledger lines that no event names, for an allowed reason. */
  unnamed = 0;
  /** Some events cannot be read, and these may name a subject. */
  isDamaged = false;
  private readonly named = new IdSet();
  /** The parts of the log that were given up, with times from the log. */
  private readonly givenUp: { from: string; readonly position: string; readonly until: string }[];
  private through: string | null = null;

  constructor(private readonly options: SubjectAuditOptions) {
    this.types = new Set([...options.entries.types, ...NAMING]);
    this.givenUp = options.givenUp.map((part) => ({ ...part }));
  }

  check(events: readonly RecordedEvent[]): Promise<LogFault[]> {
    this.note(events);
    return this.options.entries.check(events);
  }

  async finish(): Promise<LogFault[]> {
    const faults = await this.options.entries.finish();
    if (!this.options.isWhole()) return faults;
    const isEmpty = (await this.options.store.head()) === null;
    const told: string[] = [];
    let count = 0;
    for await (const fault of this.unnamedSubjects()) if (++count <= MAX_TOLD) told.push(fault);
    const more = count - told.length;
    if (count > 0 && isEmpty)
      told.splice(0, told.length, `the log has no events, but the vault or the ledger has ${count} subjects`);
    else if (count > 0 && this.isDamaged)
      told.splice(0, told.length, `no event that can be read names ${count} subjects of the vault or the ledger`);
    else if (more > 0) told.push(`no event names ${more} more subjects of the vault or the ledger`);
    return [...faults, ...told.map((fault) => ({ position: null, fault }))];
  }

  private note(events: readonly RecordedEvent[]): void {
    for (const event of events) {
      for (const subject of subjectsNamedBy(event)) this.named.add(subject);
      for (const part of this.givenUp) if (event.position <= part.position) part.from = event.metadata.occurredAt;
      this.through = event.position;
    }
  }

  private async *unnamedSubjects(): AsyncGenerator<string> {
    const { subjects, ledger } = this.options;
    for await (const names of subjects.subjectNames())
      for (const subject of await this.stillUnnamed(names))
        if (await this.isExplained(subject)) this.unnamed += 1;
        else yield `no event names subject ${subject} of the vault`;
    try {
      for await (const { subject, erasedAt } of ledger.erasures())
        for (const unnamed of await this.stillUnnamed([subject]))
          if (this.wasGivenUp(erasedAt)) this.unnamed += 1;
          else yield `no event names subject ${unnamed}, which the erasure ledger says was erased at ${erasedAt}`;
    } catch (error) {
      if (!(error instanceof DamagedLedger)) throw error;
      yield error.message;
    }
  }

  /**
   * The service keeps running in the meantime. The log has a subject's first event before the vault stores further values of the subject, so the new
   * events are read.
   */
  private async stillUnnamed(subjects: readonly string[]): Promise<string[]> {
    const unnamed = subjects.filter((subject) => !this.named.has(subject));
    if (unnamed.length === 0) return unnamed;
    for await (const { chosen, through } of walk(
      this.options.store,
      { after: this.through, until: null },
      this.types,
    )) {
      this.note(chosen);
      this.through = through;
    }
    return unnamed.filter((subject) => !this.named.has(subject));
  }

  /** A value is stored before the event that names it. If the process died or the log was full, that event was never stored. */
  private async isExplained(subject: string): Promise<boolean> {
    const { madeAt, madeFor, entries } = await this.options.subjects.originOf(subject);
    const first = madeAt === null ? (entries[0] ?? null) : madeFor;
    const isAlone = entries.length <= MAX_ENTRIES_BEFORE_EVENT;
    return (first !== null && comesBeforeItsEvent(first) && isAlone) || this.wasGivenUp(madeAt);
  }

  /**
   * Whether the event of a value that was stored at this time may be in a part of the log that was given up. Values of earlier versions have no time,
   * so any part that was given up may contain their events.
   */
  private wasGivenUp(at: string | null): boolean {
    if (at === null) return this.givenUp.length > 0;
    const time = Date.parse(at);
    return this.givenUp.some(
      ({ from, until }) => (from === '' || time + BEFORE_EVENT_MS >= Date.parse(from)) && time <= Date.parse(until),
    );
  }
}

/** Ids as 52 bits of their digest, in a table of numbers. A set of texts uses five times the memory and is limited to 16 million. */
class IdSet {
  private table = new Float64Array(1_024);
  private size = 0;

  add(id: string): void {
    if (this.size * 2 >= this.table.length) this.grow();
    if (this.put(digestOf(id))) this.size += 1;
  }

  has(id: string): boolean {
    const digest = digestOf(id);
    return this.table[this.placeOf(digest)] === digest;
  }

  private put(digest: number): boolean {
    const place = this.placeOf(digest);
    const isNew = this.table[place] !== digest;
    this.table[place] = digest;
    return isNew;
  }

  /** The digest's index in the table, or the free index for it. */
  private placeOf(digest: number): number {
    const { table } = this;
    let place = digest % table.length;
    while (table[place] !== 0 && table[place] !== digest) place = (place + 1) % table.length;
    return place;
  }

  private grow(): void {
    const before = this.table;
    this.table = new Float64Array(before.length * 2);
    for (const digest of before) if (digest !== 0) this.put(digest);
  }
}

/** Never 0, which marks a free index. */
function digestOf(id: string): number {
  return parseInt(hash('sha256', id).slice(0, 13), 16) + 1;
}
