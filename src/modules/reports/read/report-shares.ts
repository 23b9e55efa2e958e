import type { Clock } from '../../../kernel/clock.js';
import { isId } from '../../../kernel/ids.js';
import { exhaustiveEvents, type Projection } from '../../../kernel/projection.js';
import { Unavailable } from '../../../kernel/unavailable.js';
import { share, type ActiveShare, type RevokedShare, type ShareEvent } from '../domain/share.js';

/** One document a share. Lists: `session:<id>`. Whether somebody may look is never decided by it: a revoke counts at once. */
export const reportShares: Projection<ActiveShare | RevokedShare> = {
  name: 'report_share',
  version: 1,
  category: share.category,

  evolve(doc, event) {
    const state = share.evolve(doc ?? share.initial, known(event));
    if (state.status === 'NONE') throw new Error(`${event.stream} does not begin with ReportShared`);
    return state;
  },

  indexes: (doc) => [`session:${doc.sessionId}`],
};

const known = exhaustiveEvents<ShareEvent>('report_share', { ReportShared: true, SharingRevoked: true });

/** Lists that miss nothing, however far the read models are (see platform/subscriptions/complete-lists.ts). */
interface Lists {
  idsIn(projection: typeof reportShares, index: string, onProgress: () => void): Promise<string[]>;
}

/** How long the log is read for what the read models do not have. */
const LIMIT_MS = 5_000;

export class ReportSharesReader {
  constructor(
    private readonly lists: Lists,
    private readonly clock: Clock,
  ) {}

  /**
   * Ids of all shares of the session's report, the revoked ones too. Throws Unavailable when it cannot tell all of them in time: a
   * consent that is taken back in part only would be a lie.
   */
  async idsOf(sessionId: string): Promise<string[]> {
    if (!isId(sessionId)) return [];
    const until = this.clock.now().getTime() + LIMIT_MS;
    return this.lists.idsIn(reportShares, `session:${sessionId}`, () => {
      if (this.clock.now().getTime() > until) throw new Unavailable('The shares of a report could not be read in time');
    });
  }
}
