import type { Environment } from '../../../kernel/environment.js';
import { isId } from '../../../kernel/ids.js';
import { exhaustiveEvents, listOf, type Projection } from '../../../kernel/projection.js';
import { readPart, type ListPart } from '../../../ports/list-part.js';
import type { Page, ReadModels } from '../../../ports/read-models.js';
import { share, type ActiveShare, type RevokedShare, type ShareEvent } from '../domain/share.js';

interface Followed {
  readonly share: ActiveShare | RevokedShare;
  /** The account whose report is shared. Null if the first event does not name it. */
  readonly accountId: string | null;
  readonly environment: Environment | null;
}

/** One document for each share. These documents never decide whether a viewer may see a report, because a revocation must have its effect at once. */
export interface ReportShareView extends Pick<
  ActiveShare,
  'reportId' | 'sessionId' | 'recipientAccountId' | 'sharedAt' | 'expiresAt'
> {
  readonly accountId: string | null;
  readonly status: 'SHARED' | 'REVOKED';
  /** Null unless the share is REVOKED. */
  readonly revokedAt: string | null;
}

/** The list of a session's shares. */
export const sharesOfSession = (session: string): string => listOf({ session });

/** The list of the shares with an account, sorted by the time when they began. Links to parties of the account are omitted. */
const sharesWith = (recipient: string, environment: Environment): string => listOf({ recipient, environment });

export const reportShares: Projection<ReportShareView, Followed> = {
  name: 'report_share',
  version: 5,
  category: share.category,

  evolve(before, event) {
    const state = share.evolve(before?.share ?? share.initial, known(event));
    if (state.status === 'NONE') throw new Error(`${event.stream} does not begin with ReportShared`);
    const { accountId, environment } = before ?? event.metadata;
    return { share: state, accountId, environment };
  },

  view: ({ accountId, share: state }) => ({
    accountId,
    reportId: state.reportId,
    sessionId: state.sessionId,
    recipientAccountId: state.recipientAccountId,
    status: state.status,
    sharedAt: state.sharedAt,
    expiresAt: state.expiresAt,
    revokedAt: state.status === 'REVOKED' ? state.revokedAt : null,
  }),
  entries: ({ environment, share: { sessionId, recipientAccountId, recipientPartyId, sharedAt } }) => [
    { list: sharesOfSession(sessionId) },
    ...(environment === null || recipientPartyId !== undefined
      ? []
      : [{ list: sharesWith(recipientAccountId, environment), sort: sharedAt }]),
  ],
};

const known = exhaustiveEvents<ShareEvent>('report_share', { ReportShared: true, SharingRevoked: true });

/** Lists that include every event written before the query (see platform/subscriptions/complete-lists.ts). */
interface Lists {
  idsIn(projection: typeof reportShares, list: string, withinMs: number): Promise<string[]>;
  caughtUp(projection: typeof reportShares): Promise<unknown>;
}

/** The longest wait for the read models. */
const LIMIT_MS = 5_000;

export class ReportSharesReader {
  constructor(
    private readonly lists: Lists,
    private readonly readModels: Pick<ReadModels, 'list'>,
  ) {}

  /**
   * Ids of all shares of the session's report, including revoked shares. Throws Unavailable when it cannot list all shares in time, because an
   * incomplete revocation would mislead the consumer.
   */
  async idsOf(sessionId: string): Promise<string[]> {
    if (!isId(sessionId)) return [];
    return this.lists.idsIn(reportShares, sharesOfSession(sessionId), LIMIT_MS);
  }

  /** The shares with an account, the newest first. */
  async sharedWith(
    { account, environment }: { readonly account: string; readonly environment: Environment },
    part: ListPart,
  ): Promise<Page<ReportShareView>> {
    if (part.after === null) await this.lists.caughtUp(reportShares);
    const lists = [sharesWith(account, environment)];
    return readPart(this.readModels, { projection: reportShares, lists, sortOf: ({ sharedAt }) => sharedAt }, part);
  }
}
