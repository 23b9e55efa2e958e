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
import { ListProgress, readPart, type ListPart } from '../../../ports/list-part.js';
import { type Page, ReadModels } from '../../../ports/read-models.js';
import { Accounts } from '../../../published/accounts.js';
import type { FailureReason, IncomeEvent, IncomeSession, Route } from '../domain/income.js';
import { dueAt, incomeSession } from '../domain/income-session.js';

interface Followed {
  readonly accountId: string;
  readonly environment: Environment;
  readonly session: IncomeSession;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface IncomeStatus extends Omit<Followed, 'session'> {
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
}

export const incomeStatus: Projection<IncomeStatus, Followed> = {
  name: 'income_status',
  version: 9,
  category: incomeSession.category,
  toldWithoutLog: true,

  evolve(doc, event) {
    const session = incomeSession.evolve(doc?.session ?? incomeSession.initial, known(event));
    const { accountId, environment, occurredAt } = event.metadata;
    if (session.status === 'NONE' || accountId === null || environment === null)
      throw new Error(`${event.stream} does not begin with an opened session`);
    const unchanged = doc?.session.status === session.status && doc.session.route === session.route;
    return {
      accountId,
      environment,
      session,
      createdAt: doc?.createdAt ?? occurredAt,
      updatedAt: unchanged ? doc.updatedAt : occurredAt,
    };
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
  }),
  entries: ({ accountId, environment, session, createdAt }) => {
    const due = dueAt(session);
    const lists = listsBy({ account: accountId, environment }, { status: session.status });
    return [...lists.map((list) => ({ list, sort: createdAt })), ...(due === null ? [] : [openCall(environment, due)])];
  },
};

const known = exhaustiveEvents<IncomeEvent>('income_status', {
  IncomeSessionOpened: true,
  RouteRequested: true,
  RouteStarted: true,
  RouteAwaited: true,
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

/** Unknown, malformed and foreign ids, and ids of another environment, all give null. */
@Injectable()
export class IncomeStatusReader {
  constructor(
    private readonly readModels: ReadModels,
    private readonly accounts: Accounts,
    private readonly progress: ListProgress,
  ) {}

  /** The sessions of an account, the newest first; all of them, or those of one status. */
  async page(
    filter: { readonly account: string; readonly environment: Environment; readonly status?: IncomeStatus['status'] },
    part: ListPart,
  ): Promise<Page<IncomeStatus>> {
    if (part.after === null) await this.progress.caughtUp(incomeStatus);
    const listed = {
      projection: incomeStatus,
      lists: [listOf({ ...filter })],
      sortOf: (doc: IncomeStatus) => doc.createdAt,
    };
    return readPart(this.readModels, listed, part);
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

  /** Sessions whose vendor must be asked, and sessions whose time limit has passed. */
  due(environment: Environment, at: Date, limit: number): Promise<string[]> {
    return this.readModels.due(incomeStatus, at, limit, { list: openCallsIn(environment) });
  }

  private async find(incomeSessionId: string, { environment }: Reader): Promise<IncomeStatus | null> {
    const view = isId(incomeSessionId) ? await this.readModels.get(incomeStatus, incomeSessionId) : null;
    return view?.doc.environment === environment ? view.doc : null;
  }
}
