// The readers' part of the read models: documents folded from the log, and lists in Redis. `redis-projection-store.ts` writes the lists.
import type { ChainableCommander, Redis } from 'ioredis';
import { categoryOf, idOf, type RecordedEvent } from '../../kernel/domain-event.js';
import { DUE, foldState, type Projection } from '../../kernel/projection.js';
import { together } from '../../kernel/together.js';
import { type EventStore, EventStoreUnavailable } from '../../ports/event-store.js';
import type { AnyProjection } from '../../ports/projection-store.js';
import { type ListQuery, type Page, ReadModels, type View } from '../../ports/read-models.js';
import { BoundedRedis } from '../redis/bounded-redis.js';
import { changeIf, defineChangeIf } from '../redis/guarded.js';
import { boundsOf, cursorIn, keysOf, listName } from './redis-keys.js';

export interface ReadModelsObserver {
  /** The appended state could not be stored for an outage of the log. */
  applyFailed(projection: string, stream: string, error: unknown): void;
}

interface Folded {
  readonly revision: number;
  readonly state: unknown;
}

/** The time after which Redis counts as unavailable. */
const LIMIT_MS = 2_000;
/** The number of streams that a page reads from the log at the same time. */
const READ_TOGETHER = 16;

/**
 * A document is folded from its stream at every read. Rights and decisions can depend on a document, and Redis may be behind the log, or changed
 * without a trace. Redis only says which documents are in a list. The live generation of a projection always has the same keys, because promoting a
 * generation renames its keys.
 */
export class RedisReadModels extends ReadModels {
  private readonly connection: BoundedRedis;
  /** Projections whose documents are kept for outages of the log. */
  private readonly toldWithoutLog: readonly AnyProjection[];

  constructor(
    redis: Redis,
    private readonly events: EventStore,
    projections: readonly AnyProjection[],
    private readonly observer: ReadModelsObserver,
    private readonly keptForMs: number,
    limitMs = LIMIT_MS,
  ) {
    super();
    defineChangeIf(redis);
    this.connection = new BoundedRedis(redis, limitMs);
    this.toldWithoutLog = projections.filter(({ toldWithoutLog }) => toldWithoutLog);
  }

  override async get<Doc extends object>(projection: Projection<Doc, unknown>, id: string): Promise<View<Doc> | null> {
    try {
      const folded = await this.fold(projection, id);
      return folded && viewIn(projection, id, folded);
    } catch (error) {
      if (!(error instanceof EventStoreUnavailable) || !projection.toldWithoutLog) throw error;
      const key = keysOf(projection).document(id);
      const stored = await this.connection.use((redis) => redis.get(key)).catch(() => null);
      const view = kept<Doc>(stored);
      if (view === null) throw error;
      return view;
    }
  }

  override async list<Doc extends object>(
    projection: Projection<Doc, unknown>,
    list: string,
    { order = 'descending', after = null, skip = 0, limit, upTo }: ListQuery,
  ): Promise<Page<Doc>> {
    const [first, last] = boundsOf(list, upTo);
    const reached = after === null ? null : `(${listName(list)} ${after.sort} ${after.id}`;
    // One more entry than a page has, to find out whether another page follows.
    const count = limit === 0 ? 0 : limit + 1;
    const [total, members] = (await this.asked(projection, (asked, entries) => {
      asked.zlexcount(entries, first, last);
      if (order === 'ascending') asked.zrangebylex(entries, reached ?? first, last, 'LIMIT', skip, count);
      else asked.zrevrangebylex(entries, reached ?? last, first, 'LIMIT', skip, count);
    })) as [number, string[]];
    const shown = members.slice(0, limit).map(cursorIn);
    const views = new Map<string, View<Doc> | null>();
    await together(shown, READ_TOGETHER, async ({ id }) => views.set(id, await this.listed(projection, list, id)));
    return {
      items: shown.map(({ id }) => views.get(id) ?? null).filter((view) => view !== null),
      total,
      next: members.length > limit ? (shown.at(-1) ?? null) : null,
    };
  }

  override due(projection: AnyProjection, at: Date, limit: number, { list = DUE, skip = 0 } = {}): Promise<string[]> {
    return this.ids(projection, boundsOf(list, at.toISOString()), limit, skip);
  }

  override idsIn(projection: AnyProjection, list: string): Promise<string[]> {
    return this.ids(projection, boundsOf(list), -1);
  }

  override async applyNow(history: readonly RecordedEvent[]): Promise<void> {
    const last = history.at(-1);
    if (last === undefined || this.keptForMs === 0) return;
    const { stream, revision } = last;
    const id = idOf(stream);
    for (const projection of this.toldWithoutLog.filter(({ category }) => category === categoryOf(stream))) {
      const key = keysOf(projection).document(id);
      try {
        // The end of a long stream is not enough for a document, and the kept document is out of date.
        const isWhole = history[0]?.revision === 0;
        const view = isWhole ? viewIn(projection, id, { revision, state: foldState(projection, history) }) : null;
        await this.connection.use<unknown>((redis) => (view ? keep(redis, key, view, this.keptForMs) : redis.del(key)));
      } catch (error) {
        this.observer.applyFailed(projection.name, stream, error);
      }
    }
  }

  private async ids(
    projection: AnyProjection,
    [first, last]: readonly [string, string],
    limit: number,
    skip = 0,
  ): Promise<string[]> {
    const [members] = (await this.asked(projection, (asked, entries) =>
      asked.zrangebylex(entries, first, last, 'LIMIT', skip, limit),
    )) as [string[]];
    return members.map((member) => cursorIn(member).id);
  }

  /** Reads entries of the live generation. While no generation is live, it reads the unfinished one. */
  private async asked(
    projection: AnyProjection,
    ask: (asked: ChainableCommander, entries: string) => void,
  ): Promise<unknown[]> {
    const { live, building } = keysOf(projection);
    return this.connection.use(async (redis) => {
      const asked = redis.multi().exists(live.state);
      for (const { entries } of [live, building]) ask(asked, entries);
      const replies = (await asked.exec()) ?? [];
      const [isLive, ...answers] = replies.map(([error, answer]) => {
        if (error) throw error;
        return answer;
      });
      return isLive === 1 ? answers.slice(0, answers.length / 2) : answers.slice(answers.length / 2);
    });
  }

  /** Null for a document that has left the list according to the log. The projector will remove the document from the list soon. */
  private async listed<Doc extends object>(
    projection: Projection<Doc, unknown>,
    list: string,
    id: string,
  ): Promise<View<Doc> | null> {
    const folded = await this.fold(projection, id);
    const isListed = folded && projection.entries?.(folded.state).some((entry) => entry.list === list);
    return isListed ? viewIn(projection, id, folded) : null;
  }

  /** Null means that the stream has no document, because the log was read. */
  private async fold(projection: AnyProjection, id: string): Promise<Folded | null> {
    const history = await this.events.readStream(`${projection.category}-${id}`);
    const last = history.at(-1);
    return last === undefined ? null : { revision: last.revision, state: foldState(projection, history) };
  }
}

/** Replaces only an earlier document, because two processes may have appended one after the other. */
async function keep(redis: Redis, key: string, view: View<object>, keptForMs: number): Promise<void> {
  for (let refused: number | null = 0, tries = 0; refused !== null && tries < 2; tries++) {
    const stored = await redis.get(key);
    if ((kept(stored)?.revision ?? -1) >= view.revision) return;
    const set = ['SET', key, JSON.stringify(view), 'PX', keptForMs] as const;
    refused = await changeIf(redis, [[stored ?? '', 'GET', key]], [set]);
  }
}

/** Also null if the text is not a document. */
function kept<Doc extends object>(stored: string | null): View<Doc> | null {
  try {
    return JSON.parse(stored ?? 'null') as View<Doc> | null;
  } catch {
    return null;
  }
}

function viewIn<Doc extends object>(
  projection: Projection<Doc, unknown>,
  id: string,
  { revision, state }: Folded,
): View<Doc> {
  return { id, revision, doc: projection.view(state) };
}
