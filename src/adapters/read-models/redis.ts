// The read models in Redis as the rest of the service sees them: reading, and applying what was just appended. The
// subscription engine's side of the same keys is `redis-projection-store.ts`.
import type { Redis } from 'ioredis';
import { categoryOf, idOf, type RecordedEvent } from '../../kernel/domain-event.js';
import { DUE, foldState, type Projection } from '../../kernel/projection.js';
import { type EventStore, EventStoreUnavailable } from '../../ports/event-store.js';
import type { AnyProjection, DocumentWrite } from '../../ports/projection-store.js';
import { type ListQuery, type Page, ReadModels, type View } from '../../ports/read-models.js';
import { BoundedRedis } from '../redis/bounded-redis.js';
import { Gathered } from '../redis/gathered.js';
import { documentFields, isKept, keptSince, keysOf, listName, parseDocument } from './redis-keys.js';
import { defineScripts } from './redis-scripts.js';

export interface ReadModelsObserver {
  /** What was appended could not be applied at once; the subscription will. */
  applyFailed(projection: string, stream: string, error: unknown): void;
  /** A document was not there and has been folded from its stream. */
  missed(projection: string): void;
}

interface DueAsk {
  readonly projection: AnyProjection;
  readonly list: string;
  readonly upTo: string;
  readonly limit: number;
}

/** How long Redis may take before it counts as away. */
const LIMIT_MS = 2_000;

/**
 * The live generation of a projection always lies under the same keys: promoting another one renames it. A writer writes
 * to the live and to the building one in one step, so a read that starts after a write was answered sees it, in any process,
 * also around a promotion: either both generations took the write, or the new one was begun after it and was
 * therefore filled from a log that holds it.
 *
 * A document that has left because it is old is folded from its stream, and is not stored by that.
 *
 * Documents in Redis are for lists. One that is read by its id is folded from its stream: what a caller may see or do can depend on
 * it, and Redis may be behind, or be changed without a trace. While the log cannot be read, the stored document is shown: nothing can
 * be changed by what it says then.
 *
 * While there is no live generation (first start, emptied Redis) every document is folded from its stream, because one
 * that is being built may be behind.
 */
export class RedisReadModels extends ReadModels {
  private readonly connection: BoundedRedis;
  /** Recovery jobs ask in common rounds. */
  private readonly dueLists = new Gathered((asks: readonly DueAsk[]) => this.allDue(asks));
  private readonly byCategory = new Map<string, AnyProjection[]>();

  constructor(
    redis: Redis,
    private readonly events: EventStore,
    projections: readonly AnyProjection[],
    private readonly observer: ReadModelsObserver,
    private readonly keptForMs: number,
    limitMs = LIMIT_MS,
  ) {
    super();
    defineScripts(redis);
    this.connection = new BoundedRedis(redis, limitMs);
    for (const projection of projections) {
      const others = this.byCategory.get(projection.category) ?? [];
      if (others.some(({ name }) => name === projection.name))
        throw new Error(`Two projections are called ${projection.name}`);
      this.byCategory.set(projection.category, [...others, projection]);
    }
  }

  override async get<Doc extends object>(projection: Projection<Doc, unknown>, id: string): Promise<View<Doc> | null> {
    try {
      const folded = await this.fold(projection, id);
      return folded && viewIn(projection, folded);
    } catch (error) {
      const stored = error instanceof EventStoreUnavailable ? await this.stored(projection, id) : null;
      if (stored === null) throw error;
      return stored;
    }
  }

  /** Null as well while Redis is away. */
  private async stored<Doc extends object>(
    projection: Projection<Doc, unknown>,
    id: string,
  ): Promise<View<Doc> | null> {
    const [, docs] = keysOf(projection).live;
    return viewStored(id, await this.connection.use((redis) => redis.hget(docs, id)).catch(() => null));
  }

  override async list<Doc extends object>(
    projection: Projection<Doc, unknown>,
    list: string,
    { order = 'descending', after = null, skip = 0, limit, upTo }: ListQuery,
  ): Promise<Page<Doc>> {
    const { live, building } = keysOf(projection);
    const name = listName(list);
    const [first, last] = boundsOf(list, upTo);
    const reached = after === null ? null : `(${name} ${after.sort} ${after.id}`;
    const page = order === 'ascending' ? [reached ?? first, last] : [first, reached ?? last];
    // One more than fits: only if it is there is there another page.
    const count = limit === 0 ? 0 : limit + 1;
    const [total, ...found] = await this.connection.use((redis) =>
      redis.readModelList(...live, ...building, first, last, ...page, order, String(skip), String(count)),
    );
    const entries = found.flatMap((entry, place) =>
      place % 2 === 0 ? [{ cursor: cursorIn(entry ?? ''), stored: found[place + 1] ?? null }] : [],
    );
    const shown = entries.slice(0, limit);
    const views = await Promise.all(shown.map(({ cursor, stored }) => this.viewOf(projection, cursor.id, stored)));
    return {
      items: views.filter((view) => view !== null),
      total,
      next: entries.length > limit ? (shown.at(-1)?.cursor ?? null) : null,
    };
  }

  /** Without the documents, which nobody wants here. */
  override async due(projection: AnyProjection, at: Date, limit: number, list = DUE): Promise<string[]> {
    const entries = await this.dueLists.ask({ projection, list, upTo: at.toISOString(), limit });
    return entries.map((entry) => cursorIn(entry).id);
  }

  private allDue(asks: readonly DueAsk[]): Promise<string[][]> {
    const keys = asks.flatMap(({ projection }) => {
      const { live, building } = keysOf(projection);
      return [live[0], live[2], building[2]];
    });
    const args = asks.flatMap(({ list, upTo, limit }) => [...boundsOf(list, upTo), String(limit)]);
    return this.connection.use((redis) => redis.readModelsDue(keys.length, ...keys, ...args));
  }

  override async applyNow(history: readonly RecordedEvent[]): Promise<void> {
    const last = history.at(-1);
    if (last === undefined) return;
    const { stream, revision, metadata } = last;
    const { occurredAt } = metadata;
    await Promise.all(
      (this.byCategory.get(categoryOf(stream)) ?? []).map(async (projection) => {
        try {
          const state = foldState(projection, history);
          await this.write(projection, { id: idOf(stream), revision, state, occurredAt });
        } catch (error) {
          this.observer.applyFailed(projection.name, stream, error);
        }
      }),
    );
  }

  private async viewOf<Doc extends object>(
    projection: Projection<Doc, unknown>,
    id: string,
    stored: string | null,
  ): Promise<View<Doc> | null> {
    const view = viewStored<Doc>(id, stored);
    if (view !== null) return view;
    const folded = await this.fold(projection, id);
    if (folded === null) return null;
    this.observer.missed(projection.name);
    // One that has left does not come back because it is read.
    if (isKept(projection, folded.occurredAt, keptSince(this.keptForMs))) {
      this.write(projection, folded).catch((error: unknown) => {
        this.observer.applyFailed(projection.name, `${projection.category}-${id}`, error);
      });
    }
    return viewIn(projection, folded);
  }

  /** Null is the truth about the stream: the log was asked. */
  private async fold(projection: AnyProjection, id: string): Promise<DocumentWrite | null> {
    const history = await this.events.readStream(`${projection.category}-${id}`);
    const last = history.at(-1);
    if (last === undefined) return null;
    const { revision, metadata } = last;
    return { id, revision, state: foldState(projection, history), occurredAt: metadata.occurredAt };
  }

  private async write(projection: AnyProjection, write: DocumentWrite): Promise<void> {
    const { live, building } = keysOf(projection);
    const fields = documentFields(projection, write);
    await this.connection.use((redis) => redis.readModelApply(...live, ...building, ...fields));
  }
}

function viewStored<Doc extends object>(id: string, text: string | null): View<Doc> | null {
  const document = text === null ? null : parseDocument(text);
  return document && { id, revision: document.revision, doc: document.doc as Doc };
}

function viewIn<Doc extends object>(
  projection: Projection<Doc, unknown>,
  { id, revision, state }: DocumentWrite,
): View<Doc> {
  return { id, revision, doc: projection.view(state) };
}

/** '!' follows the space that ends a value. */
function boundsOf(list: string, upTo: string | undefined): [first: string, last: string] {
  const name = listName(list);
  return [`[${name} `, upTo === undefined ? `(${name}!` : `(${name} ${upTo}!`];
}

function cursorIn(entry: string): { readonly sort: string; readonly id: string } {
  const [, sort = '', id = ''] = entry.split(' ');
  return { sort, id };
}
