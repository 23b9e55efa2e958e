import { isId } from '../../../kernel/ids.js';
import { exhaustiveEvents, listOf, type Projection } from '../../../kernel/projection.js';
import { share, type ActiveShare, type RevokedShare, type ShareEvent } from '../domain/share.js';

/** One document for each share. These documents never decide whether a viewer may see a report, because a revocation must have its effect at once. */
export interface ReportShareView {
  readonly sessionId: string;
  readonly status: 'SHARED' | 'REVOKED';
}

/** The list of a session's shares. */
export const sharesOfSession = (session: string): string => listOf({ session });

export const reportShares: Projection<ReportShareView, ActiveShare | RevokedShare> = {
  name: 'report_share',
  version: 4,
  category: share.category,

  evolve(before, event) {
    const state = share.evolve(before ?? share.initial, known(event));
    if (state.status === 'NONE') throw new Error(`${event.stream} does not begin with ReportShared`);
    return state;
  },

  view: ({ sessionId, status }) => ({ sessionId, status }),
  entries: ({ sessionId }) => [{ list: sharesOfSession(sessionId) }],
};

const known = exhaustiveEvents<ShareEvent>('report_share', { ReportShared: true, SharingRevoked: true });

/** Lists that include every event written before the query (see platform/subscriptions/complete-lists.ts). */
interface Lists {
  idsIn(projection: typeof reportShares, list: string, withinMs: number): Promise<string[]>;
}

/** The longest wait for the read models. */
const LIMIT_MS = 5_000;

export class ReportSharesReader {
  constructor(private readonly lists: Lists) {}

  /**
   * Ids of all shares of the session's report, including revoked shares. Throws Unavailable when it cannot list all shares in time, because an
   * incomplete revocation would mislead the consumer.
   */
  async idsOf(sessionId: string): Promise<string[]> {
    if (!isId(sessionId)) return [];
    return this.lists.idsIn(reportShares, sharesOfSession(sessionId), LIMIT_MS);
  }
}
