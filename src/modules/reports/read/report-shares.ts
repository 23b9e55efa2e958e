import { knowing, type Projection } from '../../../kernel/projection.js';
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

const known = knowing<ShareEvent>('report_share', { ReportShared: true, SharingRevoked: true });
