// The delivery log: what was sent to an endpoint, and what came of it.
import { Injectable } from '@nestjs/common';
import type { RecordedEvent } from '../../../kernel/domain-event.js';
import { isId } from '../../../kernel/ids.js';
import { exhaustiveEvents, type Projection } from '../../../kernel/projection.js';
import { ReadModels, type View } from '../../../ports/read-models.js';
import { Vault } from '../../../ports/vault.js';
import {
  delivery,
  dueAt,
  type AttemptOutcome,
  type Delivery,
  type DeliveryEvent,
  type DeliveryStatus,
} from '../domain/delivery.js';
import { EXCERPT_KEY, excerptPlace, openExcerpt } from '../domain/excerpt.js';

/** One attempt; the outcome is null while it is under way. */
export interface LoggedAttempt {
  readonly attempt: number;
  readonly attemptedAt: string;
  readonly outcome: AttemptOutcome | null;
}

/** Attempts beyond these are in the log only: redeliveries have no end. */
const MAX_ATTEMPTS_SHOWN = 50;

export interface DeliveryDoc {
  readonly accountId: string;
  /** Without the body, which nobody reads here. */
  readonly delivery: Omit<Delivery, 'body'>;
  readonly attempts: readonly LoggedAttempt[];
  /** When the receiver last took it, and last did not; null: never. */
  readonly succeededAt: string | null;
  readonly failedAt: string | null;
}

/**
 * Lists: `endpoint:<id>` of all, `endpoint:<id>:<type>` of one type; of all but pings `taken:<id>` and `refused:<id>`, those that
 * the receiver took and did not take at some time. Ids are in the order of the events that are told of.
 */
export const deliveryLog: Projection<DeliveryDoc> = {
  name: 'webhook_delivery',
  version: 1,
  category: delivery.category,

  evolve(doc, event) {
    const delivered = known(event);
    const before = doc === null ? delivery.initial : { ...doc.delivery, body: '' };
    const state = delivery.evolve(before, delivered);
    const { accountId, occurredAt } = event.metadata;
    if (state.status === 'none' || accountId === null)
      throw new Error(`${event.stream} does not begin with DeliveryScheduled`);
    const { body: _, ...shown } = state;
    return {
      accountId,
      delivery: shown,
      attempts: withAttempt(doc?.attempts ?? [], delivered, occurredAt),
      succeededAt: event.type === 'DeliverySucceeded' ? occurredAt : (doc?.succeededAt ?? null),
      failedAt: event.type === 'DeliveryAttemptFailed' ? occurredAt : (doc?.failedAt ?? null),
    };
  },

  indexes: ({ delivery: { endpointId, eventType, kind }, succeededAt, failedAt }) => [
    `endpoint:${endpointId}`,
    `endpoint:${endpointId}:${eventType}`,
    ...(kind === 'event' && succeededAt !== null ? [`taken:${endpointId}`] : []),
    ...(kind === 'event' && failedAt !== null ? [`refused:${endpointId}`] : []),
  ],
  dueAt: (doc) => dueAt({ ...doc.delivery, body: '' }),
};

function withAttempt(
  attempts: readonly LoggedAttempt[],
  event: RecordedEvent & DeliveryEvent,
  at: string,
): readonly LoggedAttempt[] {
  switch (event.type) {
    case 'DeliveryAttemptStarted':
      return [...attempts, { attempt: event.data.attempt, attemptedAt: at, outcome: null }].slice(-MAX_ATTEMPTS_SHOWN);
    case 'DeliverySucceeded':
    case 'DeliveryAttemptFailed': {
      const { attempt, errorCode, httpStatus, latencyMs, excerpt } = event.data;
      return attempts.map((one) =>
        one.attempt === attempt ? { ...one, outcome: { errorCode, httpStatus, latencyMs, excerpt } } : one,
      );
    }
    default:
      return attempts;
  }
}

const known = exhaustiveEvents<DeliveryEvent>('webhook_delivery', {
  DeliveryScheduled: true,
  DeliveryAttemptStarted: true,
  DeliverySucceeded: true,
  DeliveryAttemptFailed: true,
  DeliveryExhausted: true,
  DeliveryCanceled: true,
  RedeliveryRequested: true,
});

export interface DeliveryFilter {
  readonly status?: DeliveryStatus;
  readonly eventType?: string;
}

export interface DeliveryPage {
  readonly items: readonly View<DeliveryDoc>[];
  /** Id below which the next page begins; null at the end. */
  readonly next: string | null;
}

/** What the log tells of an attempt that is over. */
export interface ReadAttempt extends AttemptOutcome {
  readonly attemptedAt: string;
}

/** Documents looked at for one page at most: a filter that matches little gives short pages, not long waits. */
const MAX_LOOKED_AT = 2_000;
const STEP = 200;
/** Deliveries looked at for an endpoint's last outcomes: events of one moment may end in any order. */
const MAX_NEWEST = 50;

@Injectable()
export class DeliveryReader {
  constructor(
    private readonly readModels: ReadModels,
    private readonly vault: Vault,
  ) {}

  /** Newest first. The order never changes, so that a page that was begun goes on where it stopped whatever came since. */
  async page(
    endpointId: string,
    { status, eventType }: DeliveryFilter,
    before: string | null,
    limit: number,
  ): Promise<DeliveryPage> {
    const list = eventType === undefined ? `endpoint:${endpointId}` : `endpoint:${endpointId}:${eventType}`;
    const items: View<DeliveryDoc>[] = [];
    let cursor = before;
    const step = status === undefined ? limit + 1 : STEP;
    for (let looked = 0; looked < MAX_LOOKED_AT; looked += step) {
      const ids = await this.readModels.idsBefore(deliveryLog, list, cursor, step);
      const views = await Promise.all(ids.map((id) => this.readModels.get(deliveryLog, id)));
      for (const [place, view] of views.entries()) {
        cursor = ids[place] ?? cursor;
        if (view === null || (status !== undefined && view.doc.delivery.status !== status)) continue;
        // One more than fits is there: only then is there another page.
        if (items.length === limit) return { items, next: items.at(-1)?.id ?? null };
        items.push(view);
      }
      if (ids.length < step) return { items, next: null };
    }
    return { items, next: cursor };
  }

  /** Null unless it is a delivery of that endpoint. */
  async find(endpointId: string, deliveryId: string): Promise<View<DeliveryDoc> | null> {
    const view = isId(deliveryId) ? await this.readModels.get(deliveryLog, deliveryId) : null;
    return view?.doc.delivery.endpointId === endpointId ? view : null;
  }

  /** Of those that are over, oldest first. */
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

  /** When the endpoint last took and last refused something, as the newest of those deliveries tell. */
  async lastOutcomes(
    endpointId: string,
  ): Promise<{ readonly successAt: string | null; readonly failureAt: string | null }> {
    const latest = async (list: string, field: 'succeededAt' | 'failedAt'): Promise<string | null> => {
      const ids = await this.readModels.idsBefore(deliveryLog, list, null, MAX_NEWEST);
      const views = await Promise.all(ids.map((id) => this.readModels.get(deliveryLog, id)));
      return (
        views
          .flatMap((view) => view?.doc[field] ?? [])
          .sort()
          .at(-1) ?? null
      );
    };
    const [successAt, failureAt] = await Promise.all([
      latest(`taken:${endpointId}`, 'succeededAt'),
      latest(`refused:${endpointId}`, 'failedAt'),
    ]);
    return { successAt, failureAt };
  }

  /** Attempts that are due and that nobody may be working on. */
  due(at: Date, limit: number): Promise<string[]> {
    return this.readModels.due(deliveryLog, at, limit);
  }

  /** All deliveries of an endpoint that are not over, newest first. */
  async open(endpointId: string): Promise<string[]> {
    const open: string[] = [];
    for (let cursor: string | null = null; ;) {
      const ids: string[] = await this.readModels.idsBefore(deliveryLog, `endpoint:${endpointId}`, cursor, STEP);
      const views = await Promise.all(ids.map((id) => this.readModels.get(deliveryLog, id)));
      for (const view of views)
        if (view && (view.doc.delivery.status === 'pending' || view.doc.delivery.status === 'retrying'))
          open.push(view.id);
      if (ids.length < STEP) return open;
      cursor = ids.at(-1) ?? null;
    }
  }
}
