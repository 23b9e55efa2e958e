import { Injectable } from '@nestjs/common';
import { isId } from '../../../kernel/ids.js';
import { knowing, type Projection } from '../../../kernel/projection.js';
import { ReadModels } from '../../../ports/read-models.js';
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

/** Of one report; far more than a consumer shares with. */
const MAX_SHARES = 10_000;

@Injectable()
export class ReportSharesReader {
  constructor(private readonly readModels: ReadModels) {}

  /** Ids of all shares of the session's report, the revoked ones too. */
  async idsOf(sessionId: string): Promise<string[]> {
    return isId(sessionId) ? this.readModels.idsIn(reportShares, `session:${sessionId}`, MAX_SHARES) : [];
  }
}
