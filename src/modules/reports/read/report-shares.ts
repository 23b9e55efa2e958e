import type { RecordedEvent } from '../../../kernel/fact.js';
import type { Projection } from '../../../kernel/projection.js';
import { share, type ActiveShare, type RevokedShare, type ShareEvent } from '../domain/share.js';

/** One document a share. Lists: `session:<id>`. Whether somebody may look is never decided by it: a revoke counts at once. */
export const reportShares: Projection<ActiveShare | RevokedShare> = {
  name: 'report_share',
  version: 1,
  category: share.category,

  evolve(doc, event) {
    if (!KNOWN_EVENTS.has(event.type)) throw new Error(`report_share does not know ${event.type}`);
    const state = share.evolve(doc ?? share.initial, event as RecordedEvent & ShareEvent);
    if (state.status === 'NONE') throw new Error(`${event.stream} does not begin with ReportShared`);
    return state;
  },

  indexes: (doc) => [`session:${doc.sessionId}`],
};

/** Written out as a record so that a new event type does not compile until it is listed. */
const KNOWN_EVENTS: ReadonlySet<string> = new Set(Object.keys({ ReportShared: true, SharingRevoked: true } satisfies Record<ShareEvent['type'], true>));
