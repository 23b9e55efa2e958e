// Walks the whole log and checks every stream's hash chain. Reads what is stored, not what upcasters make of it.
import type { RecordedEvent } from '../../kernel/fact.js';
import type { EventStore } from '../../ports/event-store.js';
import { genesisOf, linkTo } from './chain.js';

export interface BrokenLink {
  readonly stream: string;
  readonly revision: number;
  readonly eventId: string;
  readonly fault: 'revision out of order' | 'does not follow the event before it' | 'content does not match its hash' | 'no chain' | 'position out of order';
}

export interface ChainReport {
  readonly events: number;
  readonly streams: number;
  readonly through: string | null;
  readonly broken: readonly BrokenLink[];
}

const PAGE = 1_000;

/**
 * A chain shows that nothing in a stream was altered, dropped from its middle or forged without recomputing all that
 * follows. It cannot show that a stream's newest events were cut off.
 */
export async function verifyChains(store: EventStore): Promise<ChainReport> {
  const heads = new Map<string, { readonly revision: number; readonly hash: string }>();
  const broken: BrokenLink[] = [];
  let events = 0;
  let through: string | null = null;
  for (;;) {
    const page: RecordedEvent[] = await store.readAll(through, PAGE);
    for (const event of page) {
      events += 1;
      const fault = through !== null && event.position <= through ? 'position out of order' : faultOf(event, heads.get(event.stream));
      if (fault) broken.push({ stream: event.stream, revision: event.revision, eventId: event.id, fault });
      heads.set(event.stream, { revision: event.revision, hash: (event.metadata as Partial<RecordedEvent['metadata']>).chain?.hash ?? '' });
      through = event.position;
    }
    if (page.length < PAGE) return { events, streams: heads.size, through, broken };
  }
}

function faultOf(event: RecordedEvent, head: { readonly revision: number; readonly hash: string } | undefined): BrokenLink['fault'] | null {
  if (event.revision !== (head?.revision ?? -1) + 1) return 'revision out of order';
  const { chain, ...metadata } = event.metadata as Partial<RecordedEvent['metadata']> & Omit<RecordedEvent['metadata'], 'chain'>;
  if (!chain) return 'no chain';
  if (chain.prev !== (head?.hash ?? genesisOf(event.stream))) return 'does not follow the event before it';
  return linkTo(chain.prev, { ...event, metadata }).hash === chain.hash ? null : 'content does not match its hash';
}
