// Reads webhook endpoints for the dashboard of their account, for operators, and for the timer that checks their health.
import type { Environment } from '../../../kernel/environment.js';
import { listOf } from '../../../kernel/projection.js';
import { readPart } from '../../../ports/list-part.js';
import type { Cursor, Page, ReadModels } from '../../../ports/read-models.js';
import type { AttemptErrorCode, AttemptOutcome } from '../domain/delivery.js';
import type { Endpoint } from '../domain/endpoint.js';
import { endpointRecord, type EndpointRecord } from '../domain/endpoint-record.js';
import type { DeliveryPage, DeliveryReader } from './deliveries.js';
import { lastErrorOf } from './delivery-log.js';
import { type EndpointDoc, endpointProjection, type EndpointSummary } from './endpoint-projection.js';

export const ENDPOINT_STATUSES = ['active', 'failing', 'disabled'] as const satisfies readonly Endpoint['status'][];

export interface EndpointPage {
  readonly items: readonly { readonly accountId: string; readonly endpoint: EndpointSummary }[];
  /** The next page begins below this account; null at the end. */
  readonly next: string | null;
}

export interface EndpointView extends EndpointSummary {
  readonly lastSuccessAt: string | null;
  readonly lastFailureAt: string | null;
  /** The error of that failure. */
  readonly lastError: AttemptOutcome | null;
  /** The newest first; at most five. */
  readonly recentFailures: DeliveryPage['items'];
}

/**
 * An endpoint that receives no events, or that refused some. The counts include only deliveries that the delivery log lists.
 */
export interface TroubledEndpoint {
  readonly account: string;
  /** The environment of the delivery that the endpoint refused last, like the `last...` fields. Null when no refused delivery is listed. */
  readonly environment: Environment | null;
  readonly endpoint: string;
  readonly state: Endpoint['status'];
  /** The time when the endpoint got this state. */
  readonly since: string;
  readonly consecutiveFailures: number;
  readonly lastFailureAt: string | null;
  readonly lastErrorCode: AttemptErrorCode | null;
  readonly lastHttpStatus: number | null;
  readonly retrying: number;
  readonly exhausted: number;
}

/** The number of accounts that are read at a time. */
const STEP = 200;
const SHOWN_FAILURES = 5;

/** Reads the present endpoint of an account from the log (see platform/aggregates/grouped-stream.ts). */
interface Endpoints {
  load(folded: typeof endpointRecord, accountId: string): Promise<{ readonly state: EndpointRecord }>;
}

/** An account's own endpoint is read from the log, because a read model would show a change only a moment after the reply. */
export class EndpointReader {
  constructor(
    private readonly endpoints: Endpoints,
    private readonly readModels: ReadModels,
    private readonly deliveries: DeliveryReader,
  ) {}

  /** The account's endpoint; null when the account has none, or when the endpoint has another id. */
  async find(accountId: string, endpointId?: string): Promise<EndpointView | null> {
    const known = await this.current(accountId);
    if (known === null || (endpointId !== undefined && known.endpointId !== endpointId)) return null;
    await this.deliveries.caughtUp();
    const { taken, refused } = await this.deliveries.lastOutcomes(known.endpointId);
    // The wait for the lists may have taken time, and the endpoint may have changed in the meantime.
    const current = await this.current(accountId);
    if (current?.endpointId !== known.endpointId) return this.find(accountId, endpointId);
    return {
      ...current,
      consecutiveFailures: await this.failuresInARow(current),
      lastSuccessAt: taken?.doc.succeededAt ?? null,
      lastFailureAt: refused?.doc.failedAt ?? null,
      lastError: lastErrorOf(refused?.doc),
      recentFailures: await this.deliveries.failed(current.endpointId, SHOWN_FAILURES),
    };
  }

  /** Whether the endpoint belongs to the account. */
  async has(accountId: string, endpointId: string): Promise<boolean> {
    return (await this.current(accountId))?.endpointId === endpointId;
  }

  /** The endpoints of all accounts in one of these states, by the ids of the accounts, the newest first. */
  async page(statuses: readonly Endpoint['status'][], before: string | null, limit: number): Promise<EndpointPage> {
    const after = before === null ? null : { sort: '', id: before };
    const lists = statuses.map((status) => listOf({ status }));
    const listed = { projection: endpointProjection, lists, sortOf: () => '' };
    const { items, next } = await readPart(this.readModels, listed, { after, from: null, to: null, limit });
    return {
      items: items.flatMap(({ id, doc }) => (doc.current ? [{ accountId: id, endpoint: doc.current }] : [])),
      next: next?.id ?? null,
    };
  }

  /** The accounts with a failing endpoint whose time has passed, or with an endpoint that resumes. */
  due(at: Date, limit: number): Promise<string[]> {
    return this.readModels.due(endpointProjection, at, limit);
  }

  /** The number of endpoints in each state. */
  async count(): Promise<Readonly<Record<Endpoint['status'], number>>> {
    const count = async (status: Endpoint['status']): Promise<number> =>
      (await this.readModels.list(endpointProjection, listOf({ status }), { limit: 0 })).total;
    const [active, failing, disabled] = await Promise.all([count('active'), count('failing'), count('disabled')]);
    return { active, failing, disabled };
  }

  /** Endpoints of one account or of all accounts that are failing or disabled, or that have retried or exhausted deliveries. */
  async *troubled(accountId: string | null): AsyncGenerator<TroubledEndpoint> {
    await this.deliveries.caughtUp();
    for (const status of ['failing', 'disabled', 'active'] as const)
      for await (const { account, endpoint } of this.inState(status)) {
        if (accountId !== null && account !== accountId) continue;
        const retrying = await this.deliveries.count(endpoint.endpointId, 'retrying');
        const exhausted = await this.deliveries.count(endpoint.endpointId, 'exhausted');
        if (status === 'active' && retrying + exhausted === 0) continue;
        yield { ...(await this.troubleOf(account, endpoint)), retrying, exhausted };
      }
  }

  private async *inState(
    status: Endpoint['status'],
  ): AsyncGenerator<{ readonly account: string; readonly endpoint: EndpointSummary }> {
    for (let after: Cursor | null = null; ;) {
      const page: Page<EndpointDoc> = await this.readModels.list(endpointProjection, listOf({ status }), {
        after,
        limit: STEP,
      });
      for (const { id, doc } of page.items)
        if (doc.current?.status === status) yield { account: id, endpoint: doc.current };
      if (page.next === null) return;
      after = page.next;
    }
  }

  private async troubleOf(
    account: string,
    endpoint: EndpointSummary,
  ): Promise<Omit<TroubledEndpoint, 'retrying' | 'exhausted'>> {
    const { endpointId, status, statusAt } = endpoint;
    const { refused } = await this.deliveries.lastOutcomes(endpointId);
    const outcome = lastErrorOf(refused?.doc);
    return {
      account,
      environment: refused?.doc.environment ?? null,
      endpoint: endpointId,
      state: status,
      since: statusAt,
      consecutiveFailures: await this.failuresInARow(endpoint),
      lastFailureAt: refused?.doc.failedAt ?? null,
      lastErrorCode: outcome?.errorCode ?? null,
      lastHttpStatus: outcome?.httpStatus ?? null,
    };
  }

  /**
   * Exhausted deliveries since the last success. The log counts these deliveries until the endpoint is failing, and the delivery log counts later
   * deliveries.
   */
  private async failuresInARow({
    endpointId,
    status,
    consecutiveFailures,
    countedFrom,
  }: EndpointSummary): Promise<number> {
    if (status === 'active') return consecutiveFailures;
    return Math.max(consecutiveFailures, await this.deliveries.exhaustedAfter(endpointId, countedFrom));
  }

  /** The account's endpoint; null when it has none. */
  async current(accountId: string): Promise<EndpointSummary | null> {
    return endpointProjection.view((await this.endpoints.load(endpointRecord, accountId)).state).current;
  }
}
