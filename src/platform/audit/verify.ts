// Verifies the log as stored, without upcasters: events, hash chains and indexes. Also checks that the vault has the entries that events name.
import type { EventStore } from '../../ports/event-store.js';
import type { LogFault } from '../../ports/inspectable-log.js';
import type { VaultAudit } from './vault-audit.js';
import { walk, type WalkedPage } from './walk.js';

export interface LogReport {
  readonly events: number;
  /** The streams whose first event is in the part that was read. */
  readonly streams: number;
  /** The last position that was read, from which a later run continues. */
  readonly through: string | null;
  readonly brokenLinks: number;
  /** The number of reported faults, including broken links. */
  readonly faults: number;
}

export interface VerifyOptions {
  /** Exclusive. Null means from the beginning. The events before that position count as verified. */
  readonly since?: string | null;
  /** With null, the vault is not checked. */
  readonly vault?: Pick<VaultAudit, 'types' | 'check' | 'finish'> | null;
  readonly onFault: (fault: LogFault) => void;
  /** Called after every page. */
  readonly onProgress?: (report: LogReport) => void;
  /** Ends the walk after the current page. */
  readonly signal?: AbortSignal;
  /** Another walk of the log from `since` to its end, in order, outside this thread. The walk receives the types of the events to return. */
  readonly walked?: (chosenTypes: ReadonlySet<string>) => AsyncIterable<WalkedPage>;
}

/**
 * A chain shows that no event of a stream was altered, dropped from its middle or forged, unless all later hashes were computed again. A chain cannot
 * show that a stream's newest events were removed. The memory does not grow with the log, and the service may append during the check. In a store
 * that cannot inspect its own layout, only the chains and the vault are checked.
 */
export async function verifyLog(
  store: EventStore,
  { since = null, vault = null, onFault, onProgress, signal, walked }: VerifyOptions,
): Promise<LogReport> {
  let [events, streams, brokenLinks, faults] = [0, 0, 0, 0];
  let through = since;
  /** The end of the last reported gap. */
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
      // If a range begins within a reported gap, it reports the rest of the gap again.
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
