// Reads the delivery log: the deliveries to an endpoint and their outcomes.
import type { Environment } from '../../../kernel/environment.js';
import { isId } from '../../../kernel/ids.js';
import { Unavailable } from '../../../kernel/unavailable.js';
import { readPart } from '../../../ports/list-part.js';
import type { ReadModels, View } from '../../../ports/read-models.js';
import type { Vault } from '../../../ports/vault.js';
import type { AttemptOutcome, DeliveryStatus } from '../domain/delivery.js';
import { EXCERPT_KEY, excerptPlace, openExcerpt } from '../domain/excerpt.js';
import {
  DELIVERY_STATUSES,
  type DeliveryDoc,
  type DeliveryFilter,
  deliveryLog,
  dueTo,
  exhausted,
  listOfAll,
  listsOfEndpoint,
  newestTaken,
  outcomes,
} from './delivery-log.js';

export interface DeliveryPage {
  readonly items: readonly View<DeliveryDoc>[];
  /** The next page begins below this id; null at the end. */
  readonly next: string | null;
  readonly total: number;
}

/** An attempt that has ended, with its decrypted excerpt. */
export interface ReadAttempt extends AttemptOutcome {
  readonly attemptedAt: string;
}

/** Lists whose readers can wait until the lists are complete (see platform/subscriptions/complete-lists.ts). */
interface Lists {
  caughtUp(projection: typeof deliveryLog): Promise<boolean>;
  idsIn(projection: typeof deliveryLog, list: string): Promise<string[]>;
}

/** The projector lists an attempt a moment after it was made. A reader of a page waits for the projector, at most a second. */
export class DeliveryReader {
  /** The number of due attempts that earlier calls have returned. */
  private seen = 0;

  constructor(
    private readonly readModels: ReadModels,
    private readonly vault: Vault,
    private readonly lists: Lists,
  ) {}

  /** Newest first. The order never changes, so the next page continues where the previous page ended, even if new deliveries were added. */
  async page(endpointId: string, filter: DeliveryFilter, before: string | null, limit: number): Promise<DeliveryPage> {
    await this.lists.caughtUp(deliveryLog);
    return this.pageOf(listsOfEndpoint(endpointId, filter), before, limit);
  }

  /** As `page`, over all endpoints of all accounts. It does not wait for the projector. */
  pageOfAll(status: DeliveryStatus | undefined, before: string | null, limit: number): Promise<DeliveryPage> {
    return this.pageOf((status === undefined ? DELIVERY_STATUSES : [status]).map(listOfAll), before, limit);
  }

  private async pageOf(lists: readonly string[], before: string | null, limit: number): Promise<DeliveryPage> {
    const after = before === null ? null : { sort: '', id: before };
    const together = { projection: deliveryLog, lists, sortOf: () => '' };
    const { items, next, total } = await readPart(this.readModels, together, { after, from: null, to: null, limit });
    return { items, next: next?.id ?? null, total };
  }

  /** The newest deliveries whose attempts have failed so far. */
  async failed(endpointId: string, limit: number): Promise<readonly View<DeliveryDoc>[]> {
    const lists = (['retrying', 'exhausted'] as const).flatMap((status) => listsOfEndpoint(endpointId, { status }));
    return (await this.pageOf(lists, null, limit)).items;
  }

  /** Null unless the delivery belongs to that endpoint. */
  async find(endpointId: string, deliveryId: string): Promise<View<DeliveryDoc> | null> {
    const view = isId(deliveryId) ? await this.readModels.get(deliveryLog, deliveryId) : null;
    return view?.doc.delivery.endpointId === endpointId ? view : null;
  }

  /** The attempts that have ended, oldest first. */
  async attemptsOf({ id, doc }: View<DeliveryDoc>): Promise<readonly ReadAttempt[]> {
    const key = doc.attempts.some(({ outcome }) => outcome?.excerpt)
      ? await this.vault.installationKey(EXCERPT_KEY)
      : null;
    return doc.attempts.flatMap(({ attempt, attemptedAt, outcome }) => {
      if (outcome === null) return [];
      const excerpt =
        key !== null && outcome.excerpt ? openExcerpt(key, excerptPlace(id, attempt), outcome.excerpt) : null;
      return [{ ...outcome, attemptedAt, excerpt }];
    });
  }

  /** Returns when the three reads below are up to date, or after a second. */
  async caughtUp(): Promise<void> {
    await this.lists.caughtUp(deliveryLog);
  }

  /** The deliveries that the endpoint last accepted and last refused. Pings are omitted. */
  async lastOutcomes(
    endpointId: string,
  ): Promise<{ readonly taken: View<DeliveryDoc> | null; readonly refused: View<DeliveryDoc> | null }> {
    const [taken, refused] = await Promise.all(
      (['taken', 'refused'] as const).map((outcome) =>
        this.readModels.list(deliveryLog, outcomes(outcome, endpointId), { limit: 1 }),
      ),
    );
    return { taken: taken?.items[0] ?? null, refused: refused?.items[0] ?? null };
  }

  /** Of the events that the receiver has taken, the newest one of that environment. */
  async newestTaken(endpointId: string, environment: Environment): Promise<DeliveryDoc['delivery'] | null> {
    const { items } = await this.readModels.list(deliveryLog, newestTaken(endpointId, environment), { limit: 1 });
    return items[0]?.doc.delivery ?? null;
  }

  /** The number of listed deliveries of the endpoint that were exhausted after that time (ISO 8601 UTC). */
  async exhaustedAfter(endpointId: string, time: string): Promise<number> {
    const list = exhausted(endpointId);
    const before = await this.readModels.list(deliveryLog, list, { limit: 0, upTo: time });
    const all = await this.readModels.list(deliveryLog, list, { limit: 0 });
    return all.total - before.total;
  }

  /** The number of listed deliveries of the endpoint in that state. */
  async count(endpointId: string, status: DeliveryStatus): Promise<number> {
    return (await this.pageOf(listsOfEndpoint(endpointId, { status }), null, 0)).total;
  }

  /**
   * The deliveries with a due attempt, which may have no worker. Each call continues where the previous call ended, so that a slow endpoint with many
   * attempts does not hide the attempts of others.
   */
  async due(at: Date, limit: number): Promise<string[]> {
    const { seen } = this;
    const ids = await this.readModels.due(deliveryLog, at, limit, { skip: seen });
    this.seen = ids.length < limit ? 0 : seen + limit;
    return ids;
  }

  /** All deliveries of an endpoint that have not ended. Throws Unavailable when the lists do not have all deliveries in time. */
  async open(endpointId: string): Promise<string[]> {
    // The order of these reads matters. A delivery that is attempted in the meantime is then in both lists. In the other order, the delivery could be
    // in neither list.
    const pending = await this.idsOf(endpointId, 'pending');
    return [...new Set([...pending, ...(await this.idsOf(endpointId, 'retrying'))])];
  }

  /** Open deliveries of the test environment with an attempt that is due, the most overdue first. Throws Unavailable as `open` does. */
  async openUntil(endpointId: string, at: Date, most: number): Promise<string[]> {
    if (!(await this.lists.caughtUp(deliveryLog))) throw new Unavailable('The lists of deliveries are behind the log');
    return this.readModels.due(deliveryLog, at, most, { list: dueTo(endpointId, 'test') });
  }

  private async idsOf(endpointId: string, status: DeliveryStatus): Promise<string[]> {
    const lists = listsOfEndpoint(endpointId, { status });
    return (await Promise.all(lists.map((list) => this.lists.idsIn(deliveryLog, list)))).flat();
  }
}
