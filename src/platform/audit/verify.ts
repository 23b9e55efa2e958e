// Walks the log and holds it against itself: every event is there, every hash chain holds, the indexes say what the events say, and
// the vault has what the events name. Reads what is stored, not what upcasters make of it.
import type { EventStore } from '../../ports/event-store.js';
import type { LogFault } from '../../ports/inspectable-log.js';
import type { VaultAudit } from './vault-audit.js';
import { walk, type WalkedPage } from './walk.js';

export interface LogReport {
  readonly events: number;
  /** Streams that begin in the part that was read. */
  readonly streams: number;
  /** Everything up to here was read; where to go on from. */
  readonly through: string | null;
  readonly brokenLinks: number;
  /** All that was told, broken links among them. */
  readonly faults: number;
}

export interface VerifyOptions {
  /** Exclusive; null: from the beginning. What lies before it is taken for verified. */
  readonly since?: string | null;
  /** Null: the vault is not looked at. */
  readonly vault?: Pick<VaultAudit, 'types' | 'check' | 'finish'> | null;
  readonly onFault: (fault: LogFault) => void;
  /** After every page. */
  readonly onProgress?: (report: LogReport) => void;
  /** Ends the walk after the page at hand. */
  readonly signal?: AbortSignal;
  /** The log from `since` to its end as something else than this thread walks it, in order; asked for the events of these types. */
  readonly walked?: (chosenTypes: ReadonlySet<string>) => AsyncIterable<WalkedPage>;
}

/**
 * A chain shows that nothing in a stream was altered, dropped from its middle or forged without recomputing all that
 * follows. It cannot show that a stream's newest events were cut off. Takes the same memory however long the log is, and may run
 * beside a service that appends. Of a store that does not know its own layout the chains and the vault are looked at.
 */
export async function verifyLog(
  store: EventStore,
  { since = null, vault = null, onFault, onProgress, signal, walked }: VerifyOptions,
): Promise<LogReport> {
  let [events, streams, brokenLinks, faults] = [0, 0, 0, 0];
  let through = since;
  /** Of the last gap that was told. */
  let gapThrough = '';
  const tell = (fault: LogFault): void => {
    faults += 1;
    onFault(fault);
  };
  const report = (): LogReport => ({ events, streams, through, brokenLinks, faults });
  if (signal?.aborted) return report();
  const types = vault?.types ?? new Set<string>();
  const pages = walked?.(types) ?? walk(store, { after: since, until: null }, types);
  for await (const page of pages) {
    for (const fault of page.faults) {
      // A range that begins within a gap tells the rest of it again.
      if (fault.eventId === undefined && fault.position !== null && fault.position <= gapThrough) continue;
      gapThrough = fault.through ?? gapThrough;
      tell(fault);
    }
    events += page.events;
    streams += page.streams;
    brokenLinks += page.brokenLinks;
    ({ through } = page);
    for (const fault of (await vault?.check(page.chosen)) ?? []) tell(fault);
    onProgress?.(report());
    for (const fault of page.end?.faults ?? []) tell(fault);
    const indexed = page.end?.streams ?? null;
    if (since === null && indexed !== null && indexed !== streams)
      tell({ position: null, fault: `the index of streams has ${indexed} entries where ${streams} belong` });
    if (signal?.aborted) break;
  }
  for (const fault of (await vault?.finish()) ?? []) tell(fault);
  return report();
}
