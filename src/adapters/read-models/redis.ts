// The read models in Redis as the rest of the service sees them: reading, and applying what was just appended. The
// subscription engine's side of the same keys is `redis-projection-store.ts`.
import type { Redis } from 'ioredis';
import { categoryOf, idOf, type RecordedEvent } from '../../kernel/domain-event.js';
import type { Projection } from '../../kernel/projection.js';
import type { EventStore } from '../../ports/event-store.js';
import { type AnyProjection, type Generations, type StoredDocument, shardOf } from '../../ports/projection-store.js';
import { ReadModels, type View } from '../../ports/read-models.js';
import { BoundedRedis, unavailable } from '../redis/bounded-redis.js';
import {
  documentFields,
  type GenerationKeys,
  membership,
  parseDocument,
  parsePointer,
  ProjectionKeys,
} from './redis-keys.js';
import { defineScripts } from './redis-scripts.js';

export interface ReadModelsObserver {
  /** What was appended could not be applied at once; the subscription will. */
  applyFailed(projection: string, stream: string, error: unknown): void;
  /** A document was not there and has been folded from its stream. */
  missed(projection: string): void;
}

/** How long Redis may take before it counts as away. */
const LIMIT_MS = 2_000;
/** A pointer moves once in a rebuild; seeing it move this often in a row means that something is broken. */
const MAX_MOVES = 10;

interface PendingRead {
  readonly id: string;
  resolve(stored: string | null | typeof MOVED): void;
  reject(error: unknown): void;
}

/** The generations are no longer those the read relied on. */
const MOVED = Symbol('moved');

/** What this process believes of one projection, verified with every use. */
interface Known {
  readonly keys: ProjectionKeys;
  /** The pointer as stored; undefined before it was first read. */
  text: string | null | undefined;
  generations: Generations;
  /** Reads of this turn of the event loop; they share one look at the pointer. */
  reads: PendingRead[];
}

/**
 * Which generation is read stands under one pointer key that a rebuild moves. Every process remembers it, and verifies it with
 * every access in the same round trip: a reader looks at the pointer before the document, a writer after it wrote. So
 * a read that starts after a write answered sees it, in any process, also around a flip: either both relied on the same
 * generation, or the reader's was begun after the write and was therefore filled from a log that holds it.
 *
 * While there is no live generation (first start, emptied Redis) every document is folded from its stream, because one
 * that is being built may be behind.
 */
export class RedisReadModels extends ReadModels {
  private readonly connection: BoundedRedis;
  private readonly known = new WeakMap<AnyProjection, Known>();
  private readonly byCategory = new Map<string, AnyProjection[]>();

  constructor(
    redis: Redis,
    private readonly events: EventStore,
    projections: readonly AnyProjection[],
    private readonly observer: ReadModelsObserver,
  ) {
    super();
    defineScripts(redis);
    this.connection = new BoundedRedis(redis, LIMIT_MS);
    for (const projection of projections) {
      const others = this.byCategory.get(projection.category) ?? [];
      if (others.some(({ name }) => name === projection.name))
        throw new Error(`Two projections are called ${projection.name}`);
      this.byCategory.set(projection.category, [...others, projection]);
    }
  }

  override async get<Doc extends object>(projection: Projection<Doc>, id: string): Promise<View<Doc> | null> {
    const known = this.knownOf(projection);
    for (let move = 0; move < MAX_MOVES; move++) {
      if (known.text === undefined) await this.lookUp(known);
      const { live } = known.generations;
      const stored = await new Promise<string | null | typeof MOVED>((resolve, reject) => {
        if (known.reads.push({ id, resolve, reject }) === 1) setImmediate(() => this.readAll(known));
      });
      if (stored === MOVED) continue;
      const document = stored === null ? null : parseDocument(stored);
      if (document !== null) return { id, revision: document.revision, doc: document.doc as Doc };
      return this.foldFromLog(projection, known, live, id);
    }
    throw unavailable(new Error(`The generations of ${projection.name} never rest`));
  }

  override idsIn<Doc extends object>(projection: Projection<Doc>, index: string, limit: number): Promise<string[]> {
    const prefix = membership(index, '');
    return this.fromEveryShard(projection, limit, async (redis, [, , members]) => {
      // '!' follows the space that ends the list's name.
      const found = await redis.zrangebylex(members, `[${prefix}`, `(${index}!`, 'LIMIT', 0, limit);
      return found.map((member): [string, number] => [member.slice(prefix.length), 0]);
    });
  }

  override async idsBefore<Doc extends object>(
    projection: Projection<Doc>,
    index: string,
    before: string | null,
    limit: number,
  ): Promise<string[]> {
    const prefix = membership(index, '');
    const found = await this.fromEveryShard(projection, Infinity, async (redis, [, , members]) => {
      const page = await redis.zrevrangebylex(
        members,
        before === null ? `(${index}!` : `(${prefix}${before}`,
        `[${prefix}`,
        'LIMIT',
        0,
        limit,
      );
      return page.map((member): [string, number] => [member.slice(prefix.length), 0]);
    });
    return found.reverse().slice(0, limit);
  }

  override due<Doc extends object>(projection: Projection<Doc>, at: Date, limit: number): Promise<string[]> {
    return this.fromEveryShard(projection, limit, async (redis, [, , , due]) => {
      const found = await redis.zrangebyscore(due, '-inf', at.getTime(), 'WITHSCORES', 'LIMIT', 0, limit);
      return found.flatMap((id, place): [string, number][] =>
        place % 2 === 0 ? [[id, Number(found[place + 1])]] : [],
      );
    });
  }

  override async applyNow(history: readonly RecordedEvent[]): Promise<void> {
    const last = history.at(-1);
    if (last === undefined) return;
    const { stream, revision } = last;
    const projections = this.byCategory.get(categoryOf(stream)) ?? [];
    await Promise.all(
      projections.map(async (projection) => {
        try {
          const doc = fold(projection, history);
          if (doc !== null) await this.write(projection, this.knownOf(projection), idOf(stream), { revision, doc });
        } catch (error) {
          this.observer.applyFailed(projection.name, stream, error);
        }
      }),
    );
  }

  private knownOf(projection: AnyProjection): Known {
    let known = this.known.get(projection);
    if (!known) {
      known = { keys: new ProjectionKeys(projection), text: undefined, generations: parsePointer(null), reads: [] };
      this.known.set(projection, known);
    }
    return known;
  }

  private async lookUp(known: Known): Promise<void> {
    this.learn(known, await this.connection.use((redis) => redis.get(known.keys.pointer)));
  }

  private learn(known: Known, text: string | null): void {
    if (text === known.text) return;
    known.text = text;
    known.generations = parsePointer(text);
  }

  /** All reads that came up in one turn of the event loop, behind one look at the pointer. */
  private readAll(known: Known): void {
    const reads = known.reads;
    known.reads = [];
    void this.connection
      .use((redis) => {
        const relied = known.text;
        const { live } = known.generations;
        const docs = live === null ? null : known.keys.generation(live).docs;
        // The commands are written back to back; Redis answers them in this order.
        let holds = false;
        const look = redis.get(known.keys.pointer).then((text) => {
          this.learn(known, text);
          holds = text === relied;
        });
        const replies: Promise<unknown>[] = [look];
        for (const read of reads) {
          const key = docs?.[shardOf(read.id)];
          const reply = key === undefined ? look.then(() => null) : redis.hget(key, read.id);
          replies.push(reply.then((stored) => read.resolve(holds ? stored : MOVED)));
        }
        return Promise.all(replies);
      })
      .catch((error: unknown) => {
        for (const read of reads) read.reject(error);
      });
  }

  /** Null is the truth about the stream: the log was asked. */
  private async foldFromLog<Doc extends object>(
    projection: Projection<Doc>,
    known: Known,
    live: number | null,
    id: string,
  ): Promise<View<Doc> | null> {
    const history = await this.events.readStream(`${projection.category}-${id}`);
    const doc = fold(projection, history);
    const last = history.at(-1);
    if (doc === null || last === undefined) return null;
    this.observer.missed(projection.name);
    if (live !== null) {
      this.write(projection, known, id, { revision: last.revision, doc }).catch((error: unknown) => {
        this.observer.applyFailed(projection.name, last.stream, error);
      });
    }
    return { id, revision: last.revision, doc };
  }

  private async write(
    projection: AnyProjection,
    known: Known,
    id: string,
    { revision, doc }: StoredDocument,
  ): Promise<void> {
    const fields = documentFields(projection, id, revision, doc);
    const shard = shardOf(id);
    for (let move = 0; move < MAX_MOVES; move++) {
      if (known.text === undefined) await this.lookUp(known);
      const relied = known.text;
      const { live, building } = known.generations;
      const text = await this.connection.use(async (redis) => {
        const writes: Promise<unknown>[] = [];
        for (const generation of [live, building]) {
          const keys = generation === null ? undefined : known.keys.generation(generation).shards[shard];
          if (keys) writes.push(redis.readModelWrite(...keys, ...fields));
        }
        const [pointer] = await Promise.all([redis.get(known.keys.pointer), ...writes]);
        return pointer;
      });
      this.learn(known, text);
      if (text === relied) return;
    }
    throw unavailable(new Error(`The generations of ${projection.name} never rest`));
  }

  /** Merges what the shards of one generation answer, ordered by number and then id. */
  private async fromEveryShard(
    projection: AnyProjection,
    limit: number,
    ask: (redis: Redis, keys: GenerationKeys['shards'][number]) => Promise<[id: string, order: number][]>,
  ): Promise<string[]> {
    if (limit < 1) return [];
    const known = this.knownOf(projection);
    for (let move = 0; move < MAX_MOVES; move++) {
      if (known.text === undefined) await this.lookUp(known);
      const relied = known.text;
      const generation = known.generations.live ?? known.generations.building;
      const [text, found] = await this.connection.use((redis) => {
        const shards = generation === null ? [] : known.keys.generation(generation).shards;
        return Promise.all([redis.get(known.keys.pointer), Promise.all(shards.map((keys) => ask(redis, keys)))]);
      });
      this.learn(known, text);
      if (text !== relied) continue;
      return found
        .flat()
        .sort(([a, first], [b, second]) => first - second || (a < b ? -1 : 1))
        .slice(0, limit)
        .map(([id]) => id);
    }
    throw unavailable(new Error(`The generations of ${projection.name} never rest`));
  }
}

function fold<Doc extends object>(projection: Projection<Doc>, history: readonly RecordedEvent[]): Doc | null {
  let doc: Doc | null = null;
  for (const event of history) doc = projection.evolve(doc, event);
  return doc;
}
