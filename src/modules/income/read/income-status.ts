// The data of the status calls: the session's state and the time of its last change.
import { Injectable } from '@nestjs/common';
import { isOpenTo } from '../../../kernel/context.js';
import type { Environment } from '../../../kernel/environment.js';
import { isId } from '../../../kernel/ids.js';
import {
  exhaustiveEvents,
  listOf,
  listsBy,
  openCall,
  openCallsIn,
  type Projection,
} from '../../../kernel/projection.js';
import type { UserAction } from '../../../kernel/user-action.js';
import { ListProgress, readPart, type ListPart } from '../../../ports/list-part.js';
import { type Page, ReadModels } from '../../../ports/read-models.js';
import { readEntry } from '../../../ports/vault-entry.js';
import { Vault } from '../../../ports/vault.js';
import { Accounts } from '../../../published/accounts.js';
import { EXTERNAL_ID_KEY, externalIdHash } from '../../../published/external-ids.js';
import {
  type FailureReason,
  type IncomeEvent,
  type IncomeSession,
  type InquiryContent,
  inquiryEntry,
  type Route,
} from '../domain/income.js';
import { dueAt, incomeSession, isOpen } from '../domain/income-session.js';

interface Followed {
  readonly accountId: string;
  readonly environment: Environment;
  readonly session: IncomeSession;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Null if the session has no external id (see published/external-ids.ts). */
  readonly externalIdHash: string | null;
}

export interface IncomeStatus extends Omit<Followed, 'session' | 'externalIdHash'> {
  readonly status: IncomeSession['status'];
  /** The current route. After the session's end: the route that gave the outcome, or the last route. */
  readonly route: Route;
  readonly screeningSessionId: string | null;
  /** The session grant under which the session was opened; null if none exists. */
  readonly grantId: string | null;
  /** Set for a FAILED session. */
  readonly failureReason: FailureReason | null;
  /** The time of the last change that the status shows. */
  readonly updatedAt: string;
  /** Set while the person must act at the vendor. `subjectId`: the owner of the vault entry with the opening. */
  readonly userAction: { readonly until: string; readonly subjectId: string } | null;
}

function beginning(event: IncomeEvent, createdAt: string): Pick<Followed, 'createdAt' | 'externalIdHash'> {
  return { createdAt, externalIdHash: (event.type === 'IncomeSessionOpened' && event.data.externalIdHash) || null };
}

export const incomeStatus: Projection<IncomeStatus, Followed> = {
  name: 'income_status',
  version: 10,
  category: incomeSession.category,
  toldWithoutLog: true,

  evolve(doc, event) {
    const recorded = known(event);
    const session = incomeSession.evolve(doc?.session ?? incomeSession.initial, recorded);
    const { accountId, environment, occurredAt } = event.metadata;
    if (session.status === 'NONE' || accountId === null || environment === null)
      throw new Error(`${event.stream} does not begin with an opened session`);
    const unchanged =
      doc?.session.status === session.status &&
      doc.session.route === session.route &&
      roundOf(doc.session) === roundOf(session);
    const { createdAt, externalIdHash: hash } = doc ?? beginning(recorded, occurredAt);
    const updatedAt = unchanged ? doc.updatedAt : occurredAt;
    return { accountId, environment, session, createdAt, updatedAt, externalIdHash: hash };
  },

  view: ({ accountId, environment, session, createdAt, updatedAt }) => ({
    accountId,
    environment,
    status: session.status,
    route: session.route,
    screeningSessionId: session.screeningSessionId,
    grantId: session.grantId ?? null,
    failureReason: session.status === 'FAILED' ? session.reasonCode : null,
    createdAt,
    updatedAt,
    userAction: userActionOf(session),
  }),
  entries: ({ accountId: account, environment, session, createdAt, externalIdHash: hash }) => {
    const due = dueAt(session);
    const { status } = session;
    const lists = [
      ...listsBy({ account, environment }, { status }),
      ...(hash === null ? [] : listsBy({ account, environment, externalIdHash: hash }, { status })),
    ];
    return [...lists.map((list) => ({ list, sort: createdAt })), ...(due === null ? [] : [openCall(environment, due)])];
  },
};

function roundOf(session: IncomeSession): string | null {
  return (isOpen(session) && session.attempt?.userActsUntil) || null;
}

function userActionOf(session: IncomeSession): IncomeStatus['userAction'] {
  const until = roundOf(session);
  return until === null ? null : { until, subjectId: session.subjectId };
}

const known = exhaustiveEvents<IncomeEvent>('income_status', {
  IncomeSessionOpened: true,
  RouteRequested: true,
  RouteStarted: true,
  RouteAwaited: true,
  UserActionRequested: true,
  RouteFailed: true,
  IncomeReportReleased: true,
  IncomeSessionFailed: true,
  IncomeSessionExpired: true,
  IncomePersonErased: true,
});

interface Reader {
  readonly accountId: string;
  readonly environment: Environment;
  readonly grantId?: string;
}

interface IncomeFilter {
  readonly account: string;
  readonly environment: Environment;
  readonly status?: IncomeStatus['status'] | undefined;
  /** The integrator's own id of the session (`external_id` of its grant). */
  readonly externalId?: string | undefined;
}

/** Unknown, malformed and foreign ids, and ids of another environment, all give null. */
@Injectable()
export class IncomeStatusReader {
  constructor(
    private readonly readModels: ReadModels,
    private readonly accounts: Accounts,
    private readonly progress: ListProgress,
    private readonly vault: Vault,
  ) {}

  /** The sessions of an account that meet the filters, the newest first. */
  async page({ account, environment, status, externalId }: IncomeFilter, part: ListPart): Promise<Page<IncomeStatus>> {
    if (part.after === null) await this.progress.caughtUp(incomeStatus);
    const hash =
      externalId &&
      externalIdHash(
        await this.vault.installationKey(EXTERNAL_ID_KEY),
        { accountId: account, environment },
        externalId,
      );
    const lists = [listOf({ account, environment, externalIdHash: hash, status })];
    return readPart(this.readModels, { projection: incomeStatus, lists, sortOf: ({ createdAt }) => createdAt }, part);
  }

  /** The account's own session, if the page with the reader's token may read it. */
  async findOwn(incomeSessionId: string, reader: Reader): Promise<IncomeStatus | null> {
    const status = await this.find(incomeSessionId, reader);
    return status && isOpenTo(status, status, reader) ? status : null;
  }

  /** The account's own session or a direct child's. */
  async findReadable(incomeSessionId: string, reader: Reader): Promise<IncomeStatus | null> {
    const status = await this.find(incomeSessionId, reader);
    return status && (await this.accounts.mayRead(reader.accountId, status.accountId)) ? status : null;
  }

  /** How the person opens the vendor, while the person must act there. Null after the erasure of the person, too. */
  async userActionOf(incomeSessionId: string, { userAction }: IncomeStatus): Promise<UserAction | null> {
    if (userAction === null) return null;
    const { subjectId, until } = userAction;
    const kept = await readEntry<InquiryContent>(this.vault, subjectId, inquiryEntry(incomeSessionId));
    return kept === 'erased' || kept?.open === undefined ? null : { open: kept.open, until };
  }

  /** Sessions whose vendor must be asked, and sessions whose time limit has passed. */
  due(environment: Environment, at: Date, limit: number): Promise<string[]> {
    return this.readModels.due(incomeStatus, at, limit, { list: openCallsIn(environment) });
  }

  private async find(incomeSessionId: string, { environment }: Reader): Promise<IncomeStatus | null> {
    const view = isId(incomeSessionId) ? await this.readModels.get(incomeStatus, incomeSessionId) : null;
    return view?.doc.environment === environment ? view.doc : null;
  }
}
