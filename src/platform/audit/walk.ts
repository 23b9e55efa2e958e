// Reads a range of the log and checks each event's own hash, and its link to the previous event of its stream.
import type { RecordedEvent } from '../../kernel/domain-event.js';
import type { EventStore } from '../../ports/event-store.js';
import { faultAt, type InspectedPage, isInspectable, type LogFault } from '../../ports/inspectable-log.js';
import { genesisOf, linkTo } from './chain.js';
import { type Link, RecentLinks } from './recent-links.js';

export interface LogRange {
  /** The position after which the part begins. Null means the beginning of the log. */
  readonly after: string | null;
  /** Inclusive. Null means to the end, where faults of the whole log are reported. */
  readonly until: string | null;
}

/** The result for a part of the log. The result is plain data, so that threads can exchange it. */
export interface WalkedPage {
  readonly events: number;
  /** The streams whose first event is in this part. */
  readonly streams: number;
  readonly brokenLinks: number;
  /** Includes broken links. A gap that continues beyond the range is reported as a whole. */
  readonly faults: readonly LogFault[];
  readonly through: string | null;
  /** Set when the range ended at the end of the log. */
  readonly end: InspectedPage['end'];
  /** The events of the requested types. */
  readonly chosen: readonly RecordedEvent[];
}

const PAGE = 500;

/** The events before the range count as verified. The first event of a stream in the range is compared with the previous event in the log. */
export async function* walk(
  store: EventStore,
  { after, until }: LogRange,
  chosenTypes: ReadonlySet<string>,
): AsyncGenerator<WalkedPage, void, undefined> {
  const links = new RecentLinks(store);
  let through = after;
  for (let ended = false; !ended;) {
    const page = await pageOf(store, through);
    const isWithin = ({ position }: { readonly position: string | null }): boolean =>
      until === null || position === null || position <= until;
    const events = page.events.filter(isWithin);
    const faults = page.faults.filter(isWithin);
    const broken = await brokenLinksOf(events, faults, through, links);
    through = until !== null && page.through !== null && page.through > until ? until : page.through;
    ended = page.end !== null || (until !== null && through !== null && through >= until);
    yield {
      events: events.length,
      streams: events.filter(({ revision }) => revision === 0).length,
      brokenLinks: broken.length,
      faults: [...faults, ...broken],
      through,
      end: until === null ? page.end : null,
      chosen: events.filter(({ type }) => chosenTypes.has(type)),
    };
  }
}

async function brokenLinksOf(
  events: readonly RecordedEvent[],
  faults: readonly LogFault[],
  after: string | null,
  links: RecentLinks,
): Promise<LogFault[]> {
  const broken: LogFault[] = [];
  const unreadable = faults.filter(({ eventId }) => eventId === undefined);
  const passUnreadable = (before: string): void => {
    while (unreadable[0] !== undefined && (unreadable[0].position ?? '') < before)
      links.passUnreadable(unreadable.shift()?.stream);
  };
  let through = after;
  for (const event of events) {
    passUnreadable(event.position);
    // The check waits only for a link that is not in memory.
    const known = links.known(event);
    const isKnown = event.revision === 0 || known === 'unreadable' || known?.revision === event.revision - 1;
    const read = isKnown ? null : await links.read(event);
    const before = known === undefined || read === 'unreadable' ? read : known;
    const fault = through !== null && event.position <= through ? 'position out of order' : faultOf(event, before);
    if (fault !== null) broken.push(faultAt(event, fault));
    links.pass(event);
    through = event.position;
  }
  passUnreadable('\uffff');
  return broken;
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

/** `before` is the link of the previous event in the stream. */
function faultOf(event: RecordedEvent, before: Link | 'unreadable' | null): string | null {
  const { metadata } = event;
  const { chain } = metadata as Partial<RecordedEvent['metadata']>;
  if (before !== 'unreadable' && event.revision !== (before?.revision ?? -1) + 1) return 'revision out of order';
  if (chain?.alg !== 'sha-256') return 'no chain';
  if (before !== 'unreadable' && chain.prev !== (before?.hash ?? genesisOf(event.stream)))
    return 'does not follow the event before it';
  return linkTo(chain.prev, { ...event, metadata: { ...metadata, chain: undefined } }).hash === chain.hash
    ? null
    : 'content does not match its hash';
}
