// Walks the log and holds it against itself: every event is there, every hash chain holds, the indexes say what the events say, and
// the vault has what the events name. Reads what is stored, not what upcasters make of it.
import type { RecordedEvent } from '../../kernel/domain-event.js';
import type { EventStore } from '../../ports/event-store.js';
import { type InspectedPage, isInspectable, type LogFault } from '../../ports/inspectable-log.js';
import { genesisOf, linkTo } from './chain.js';
import { RecentLinks, type Link } from './recent-links.js';
import type { VaultAudit } from './vault-audit.js';

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
  readonly vault?: VaultAudit | null;
  readonly onFault: (fault: LogFault) => void;
  /** After every page. */
  readonly onProgress?: (report: LogReport) => void;
  /** Ends the walk after the page at hand. */
  readonly signal?: AbortSignal;
}

const PAGE = 500;

/**
 * A chain shows that nothing in a stream was altered, dropped from its middle or forged without recomputing all that
 * follows. It cannot show that a stream's newest events were cut off. Takes the same memory however long the log is, and may run
 * beside a service that appends. Of a store that does not know its own layout the chains and the vault are looked at.
 */
export async function verifyLog(
  store: EventStore,
  { since = null, vault = null, onFault, onProgress, signal }: VerifyOptions,
): Promise<LogReport> {
  const links = new RecentLinks(store);
  let [events, streams, brokenLinks, faults] = [0, 0, 0, 0];
  let through = since;
  const tell = (fault: LogFault): void => {
    faults += 1;
    onFault(fault);
  };
  const report = (): LogReport => ({ events, streams, through, brokenLinks, faults });
  for (let end: InspectedPage['end'] = null; end === null && signal?.aborted !== true;) {
    const page = await pageOf(store, through);
    page.faults.forEach(tell);
    const unreadable = page.faults.filter(({ eventId }) => eventId === undefined);
    const passUnreadable = (before: string): void => {
      while (unreadable[0] !== undefined && (unreadable[0].position ?? '') < before)
        links.passUnreadable(unreadable.shift()?.stream);
    };
    for (const event of page.events) {
      passUnreadable(event.position);
      events += 1;
      if (event.revision === 0) streams += 1;
      const fault =
        through !== null && event.position <= through
          ? 'position out of order'
          : faultOf(event, await links.before(event));
      if (fault !== null) {
        brokenLinks += 1;
        tell({ position: event.position, stream: event.stream, revision: event.revision, eventId: event.id, fault });
      }
      links.pass(event);
      through = event.position;
    }
    passUnreadable('\uffff');
    for (const fault of (await vault?.check(page.events)) ?? []) tell(fault);
    ({ through, end } = page);
    onProgress?.(report());
    if (end === null) continue;
    for (const fault of end.faults) tell(fault);
    if (since === null && end.streams !== null && end.streams !== streams)
      tell({ position: null, fault: `the index of streams has ${end.streams} entries where ${streams} belong` });
  }
  for (const fault of (await vault?.finish()) ?? []) tell(fault);
  return report();
}

async function pageOf(store: EventStore, after: string | null): Promise<InspectedPage> {
  if (isInspectable(store)) return store.inspect(after);
  const events = await store.readAll(after, PAGE);
  return {
    events,
    faults: [],
    through: events.at(-1)?.position ?? after,
    end: events.length < PAGE ? { streams: null, faults: [] } : null,
  };
}

/** `before` is the link of the event before it in its stream. */
function faultOf(event: RecordedEvent, before: Link | 'unreadable' | null): string | null {
  const { chain, ...metadata } = event.metadata as Partial<RecordedEvent['metadata']> &
    Omit<RecordedEvent['metadata'], 'chain'>;
  if (before !== 'unreadable' && event.revision !== (before?.revision ?? -1) + 1) return 'revision out of order';
  if (chain?.alg !== 'sha-256') return 'no chain';
  if (before !== 'unreadable' && chain.prev !== (before?.hash ?? genesisOf(event.stream)))
    return 'does not follow the event before it';
  return linkTo(chain.prev, { ...event, metadata }).hash === chain.hash ? null : 'content does not match its hash';
}
