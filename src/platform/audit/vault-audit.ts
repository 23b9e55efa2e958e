import { categoryOf, type RecordedEvent } from '../../kernel/domain-event.js';
import { Unavailable } from '../../kernel/unavailable.js';
import type { VaultPlace, VaultPromise } from '../../kernel/vault-promise.js';
import { EventLogDamaged, type EventStore } from '../../ports/event-store.js';
import { faultAt, type LogFault } from '../../ports/inspectable-log.js';
import { SubjectErased, type Vault } from '../../ports/vault.js';

/** The promises of all modules about the vault. */
export interface VaultKnowledge {
  readonly promises: readonly VaultPromise[];
  /** Whether the log records the erasure of the subject. `event` named an entry of the subject. */
  erasureRecorded(subject: string, event: RecordedEvent, first: RecordedEvent, store: EventStore): Promise<boolean>;
  /** The types of the events that record an erasure. */
  readonly erasures: ReadonlySet<string>;
  /** The subject that was erased before the event was recorded; null for any other event. */
  erasedBefore(event: RecordedEvent): string | null;
}

/** A fault that was found at the first check. */
interface Suspicion {
  readonly event: RecordedEvent;
  readonly look: () => Promise<string | null>;
}

/** The number of entries that are requested from a remote vault at once. */
const TOGETHER = 16;
/** The suspected faults that wait for the second check. */
const MAX_WAITING = 1_000;

/**
 * Compares the vault with the events. Every entry must exist and open, or its subject must be erased with a record in the log. Every erasure in the
 * log must be done. A running service changes the vault a moment before or after it records the change. Every fault is therefore checked once more,
 * at the end or when many wait, and is reported only then.
 */
export class VaultAudit {
  /** The types of the events that `check` needs. `check` skips other events. */
  readonly types: ReadonlySet<string>;
  private readonly promises = new Map<string, VaultPromise[]>();
  private suspicions: Suspicion[] = [];

  constructor(
    private readonly store: EventStore,
    private readonly vault: Vault,
    private readonly knowledge: VaultKnowledge,
  ) {
    this.types = new Set([...knowledge.promises.map(({ type }) => type), ...knowledge.erasures]);
    for (const promise of knowledge.promises) {
      const key = `${promise.category} ${promise.type}`;
      this.promises.set(key, [...(this.promises.get(key) ?? []), promise]);
    }
  }

  /** Returns the faults that were found so far. */
  async check(events: readonly RecordedEvent[]): Promise<LogFault[]> {
    const looks = events.flatMap((event) => this.looksAt(event));
    for (let start = 0; start < looks.length; start += TOGETHER) {
      await Promise.all(
        looks.slice(start, start + TOGETHER).map(async (suspicion) => {
          if ((await suspicion.look()) !== null) this.suspicions.push(suspicion);
        }),
      );
    }
    return this.suspicions.length < MAX_WAITING ? [] : this.finish();
  }

  async finish(): Promise<LogFault[]> {
    const faults: LogFault[] = [];
    for (const { event, look } of this.suspicions) {
      const fault = await look();
      if (fault !== null) faults.push(faultAt(event, fault));
    }
    this.suspicions = [];
    return faults;
  }

  private looksAt(event: RecordedEvent): Suspicion[] {
    const erased = this.knowledge.erasedBefore(event);
    const promises = this.promises.get(`${categoryOf(event.stream)} ${event.type}`) ?? [];
    return [
      ...(erased === null ? [] : [{ event, look: () => this.erasureFault(erased) }]),
      ...promises.map((promise) => ({ event, look: () => this.promiseFault(promise, event) })),
    ];
  }

  private async promiseFault(promise: VaultPromise, event: RecordedEvent): Promise<string | null> {
    const first = await this.firstOf(event);
    const place = first && promise.place(event, first);
    if (!first || !place) return null;
    const name = `vault entry ${place.entry} of subject ${place.subject}`;
    const found = await this.stateOf(place);
    if (found === 'opens' || (await this.mayBeGone(promise, event))) return null;
    if (found !== 'erased') return `${name} ${found}`;
    const recorded = await unlessDamaged(this.knowledge.erasureRecorded(place.subject, event, first, this.store));
    return recorded === false ? `${name} is erased, and the log does not say so` : null;
  }

  private async erasureFault(subject: string): Promise<string | null> {
    return (await this.stateOf({ subject, entry: 'none' })) === 'erased'
      ? null
      : `vault subject ${subject} is not erased, though the log says so`;
  }

  private async stateOf({ subject, entry }: VaultPlace): Promise<'opens' | 'erased' | 'is missing' | 'does not open'> {
    try {
      return (await this.vault.get(subject, entry)) === null ? 'is missing' : 'opens';
    } catch (error) {
      if (error instanceof SubjectErased) return 'erased';
      if (error instanceof Unavailable) throw error;
      return 'does not open';
    }
  }

  private async mayBeGone({ until }: VaultPromise, { stream, revision }: RecordedEvent): Promise<boolean> {
    if (until.length === 0) return false;
    const following = await unlessDamaged(this.store.readStream(stream, { from: revision + 1 }));
    return following === null || following.some(({ type }) => until.includes(type));
  }

  /** Null if the entry cannot be read. */
  private async firstOf(event: RecordedEvent): Promise<RecordedEvent | null> {
    if (event.revision === 0) return event;
    const found = await unlessDamaged(this.store.readStream(event.stream, { limit: 1 }));
    return found?.[0] ?? null;
  }
}

/** Null for a damaged stream, which the walk reports at the position of the damage. */
async function unlessDamaged<Result>(read: Promise<Result>): Promise<Result | null> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof EventLogDamaged) return null;
    throw error;
  }
}
