// The disclosures of a session's report: its readers, its shares and its sources (docs/contract/platform.md#disclosures). All come from stored events.
import { Injectable } from '@nestjs/common';
import type { ActorKind } from '../../../kernel/actor.js';
import { Clock } from '../../../kernel/clock.js';
import { fold } from '../../../kernel/decider.js';
import type { RecordedEvent } from '../../../kernel/domain-event.js';
import type { EndUserType } from '../../../kernel/end-user-type.js';
import type { PermissiblePurpose } from '../../../kernel/permissible-purpose.js';
import { EventStore } from '../../../ports/event-store.js';
import { ReadModels } from '../../../ports/read-models.js';
import { Accounts } from '../../../published/accounts.js';
import type { ScreeningFacts } from '../../../published/screenings.js';
import { report, type ReportEvent } from '../domain/report.js';
import { reportLooks, type ReportFormat, type ReportLookEvent } from '../domain/report-view.js';
import { isOver, share, type ShareEvent } from '../domain/share.js';
import { shareRegister, type ShareRegisterEvent } from '../domain/share-register.js';
import { reportShares, sharesOfSession } from './report-shares.js';
import { reportViews, viewsOfSession } from './report-views.js';

/** Times are ISO 8601 UTC. */
export interface Disclosures {
  readonly sessionId: string;
  /** The newest first. */
  readonly reads: readonly DisclosedRead[];
  readonly shares: readonly DisclosedShare[];
  readonly sources: readonly DisclosedSource[];
}

/** `PAGE`: the report was shown on a page of the account, to the person or to the account. `SERVER`: a server of the account has read it. */
export type Reader = 'PAGE' | 'SERVER';

interface Named {
  readonly accountId: string;
  /** The name that people see. Null for an account that does not exist. */
  readonly name: string | null;
}

export interface DisclosedRead {
  readonly at: string;
  readonly by: Named;
  readonly reader: Reader;
  readonly purpose: PermissiblePurpose;
  readonly endUserType: EndUserType | null;
  readonly format: ReportFormat;
}

export interface DisclosedShare {
  readonly with: Named;
  readonly status: 'SHARED' | 'REVOKED' | 'EXPIRED';
  /** Null for a share of an older release. */
  readonly purpose: PermissiblePurpose | null;
  readonly sharedAt: string;
  readonly expiresAt: string;
  readonly revokedAt: string | null;
  /** Whether the share is with an agent or organization of the account, which only the account's server can unlink. */
  readonly isLink: boolean;
}

export interface DisclosedSource {
  readonly kind: 'IDENTITY' | 'CREDIT_REPORT';
  readonly vendor: string;
  readonly at: string;
}

/** The newest reads that are listed. */
const MOST_READS = 1_000;

@Injectable()
export class DisclosuresReader {
  constructor(
    private readonly events: EventStore,
    private readonly readModels: ReadModels,
    private readonly accounts: Accounts,
    private readonly clock: Clock,
  ) {}

  async of(session: ScreeningFacts): Promise<Disclosures> {
    const { sessionId } = session;
    const names = new Map<string, Promise<Named>>();
    const named = (accountId: string): Promise<Named> => {
      const known = names.get(accountId) ?? this.nameOf(accountId);
      names.set(accountId, known);
      return known;
    };
    const [reads, shares, sources] = await Promise.all([
      this.reads(sessionId, named),
      this.shares(session, named),
      this.sources(session),
    ]);
    return { sessionId, reads, shares, sources };
  }

  private async nameOf(accountId: string): Promise<Named> {
    return { accountId, name: (await this.accounts.find(accountId))?.brand.displayName ?? null };
  }

  private async reads(sessionId: string, named: (id: string) => Promise<Named>): Promise<DisclosedRead[]> {
    const newest = { direction: 'backwards', limit: MOST_READS } as const;
    const looks = await this.events.readStream(`${reportLooks.category}-${sessionId}`, newest);
    // An earlier release recorded each view in a stream of its own.
    const older = await this.readModels.list(reportViews, viewsOfSession(sessionId), {
      order: 'descending',
      after: null,
      limit: MOST_READS,
    });
    const views = [
      ...(looks as (RecordedEvent & ReportLookEvent)[]).flatMap((event) =>
        event.type === 'ReportViewed'
          ? [{ ...event.data, actor: event.metadata.actor, viewedAt: event.metadata.occurredAt }]
          : [],
      ),
      ...older.items.map(({ doc }) => doc),
    ];
    return Promise.all(
      views
        .sort((one, other) => (one.viewedAt < other.viewedAt ? 1 : -1))
        .map(async ({ viewedAt, viewerAccountId, actor, purpose, endUserType = null, format }) => ({
          at: viewedAt,
          by: await named(viewerAccountId),
          reader: readerOf(actor.kind),
          purpose,
          endUserType,
          format,
        })),
    );
  }

  private async shares(
    { sessionId, ...owner }: ScreeningFacts,
    named: (id: string) => Promise<Named>,
  ): Promise<DisclosedShare[]> {
    const registered = await this.events.readStream(`${shareRegister.category}-${sessionId}`);
    const listed = await this.readModels.idsIn(reportShares, sharesOfSession(sessionId));
    const ids = new Set([...(registered as ShareRegisterEvent[]).map(({ data }) => data.shareId), ...listed]);
    const now = await this.clock.of(owner);
    const shares = await Promise.all(
      [...ids].map(async (id) => {
        const history = await this.events.readStream(`${share.category}-${id}`);
        const state = fold(share, history as (RecordedEvent & ShareEvent)[]);
        if (state.status === 'NONE') return [];
        const { recipientAccountId, recipientPartyId, purpose = null, sharedAt, expiresAt } = state;
        const status = state.status === 'SHARED' && isOver(state, now) ? 'EXPIRED' : state.status;
        const revokedAt = state.status === 'REVOKED' ? state.revokedAt : null;
        const isLink = recipientPartyId !== undefined;
        const recipient = await named(recipientAccountId);
        return [{ with: recipient, status, purpose, sharedAt, expiresAt, revokedAt, isLink } as const];
      }),
    );
    return shares.flat().sort((one, other) => (one.sharedAt < other.sharedAt ? 1 : -1));
  }

  private async sources({ sessionId, vendors, verifiedAt }: ScreeningFacts): Promise<DisclosedSource[]> {
    const history = await this.events.readStream(`${report.category}-${sessionId}`);
    return [
      ...(verifiedAt === null ? [] : [{ kind: 'IDENTITY', vendor: vendors.identity, at: verifiedAt } as const]),
      ...(history as (RecordedEvent & ReportEvent)[]).flatMap((event) =>
        event.type === 'ReportReleased'
          ? [{ kind: 'CREDIT_REPORT', vendor: vendors.credit, at: event.data.generatedAt } as const]
          : [],
      ),
    ];
  }
}

function readerOf(kind: ActorKind): Reader {
  return kind === 'platform-token' ? 'PAGE' : 'SERVER';
}
