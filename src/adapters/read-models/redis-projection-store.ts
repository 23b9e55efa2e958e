// The subscription engine's side of the read models in Redis. `redis.ts` is the readers' side of the same keys.
import type { Redis } from 'ioredis';
import {
  type AnyProjection,
  type Checkpoint,
  type Commit,
  type CommitFault,
  type Generations,
  type Lease,
  ProjectionStore,
  type RebuildReport,
} from '../../ports/projection-store.js';
import { BoundedRedis } from '../redis/bounded-redis.js';
import { Gathered } from '../redis/gathered.js';
import { documentFields, keptSince, keysOf, listedSince, textAfter } from './redis-keys.js';
import { defineScripts } from './redis-scripts.js';

/** Longer than who reads a document may wait: a large commit may have to wait for Redis to write its file. */
const LIMIT_MS = 5_000;
/** Documents written in one step: while Redis runs it, whoever reads a document waits. */
const SLICE = 15;
const RETIRED_FOR_SECONDS = 24 * 3_600;
const SCAN_COUNT = 500;
/** Documents compared in one step. */
const COMPARED = 200;
/** How often, and how long apart, documents that are merely ahead on one side are looked at again. */
const LOOKS = 20;
const LOOK_INTERVAL_MS = 100;
const CLOCKS_APART_MS = 600_000;

interface Leasing {
  readonly projection: AnyProjection;
  readonly token: string;
  readonly ttlMs: number;
}

/** Give it a connection of its own: its commits are large, and a document that is read would wait behind them. */
export class RedisProjectionStore extends ProjectionStore {
  private readonly connection: BoundedRedis;
  /** A projector takes and renews all of its leases in one step. */
  private readonly leases = new Gathered((asks: readonly Leasing[]) => this.leaseAll(asks));

  constructor(
    private readonly redis: Redis,
    private readonly keptForMs: number,
    private readonly lookIntervalMs = LOOK_INTERVAL_MS,
  ) {
    super();
    defineScripts(redis);
    this.connection = new BoundedRedis(redis, LIMIT_MS);
  }

  override onReturn(listener: () => void): () => void {
    this.redis.on('ready', listener);
    return () => this.redis.off('ready', listener);
  }

  override async lease(projection: AnyProjection, token: string, ttlMs: number): Promise<Lease | null> {
    const found = await this.leases.ask({ projection, token, ttlMs });
    if (found === null) return null;
    return { generations: generationsOf(found), rebuildRequest: found[2] ?? null };
  }

  private leaseAll(asks: readonly Leasing[]): Promise<((string | null)[] | null)[]> {
    const keys = asks.flatMap(({ projection }) => {
      const { lease, live, building, request } = keysOf(projection);
      return [lease, live[0], building[0], request];
    });
    const args = asks.flatMap(({ token, ttlMs }) => [token, String(ttlMs)]);
    return this.connection.use((redis) => redis.projectionLeases(keys.length, ...keys, ...args));
  }

  override async releaseLease(projection: AnyProjection, token: string): Promise<void> {
    await this.connection.use((redis) => redis.projectionRelease(keysOf(projection).lease, token));
  }

  override async generations(projection: AnyProjection): Promise<Generations> {
    const { live, building } = keysOf(projection);
    return generationsOf(
      await this.connection.use((redis) =>
        Promise.all([redis.hget(live[0], 'generation'), redis.hget(building[0], 'generation')]),
      ),
    );
  }

  override async beginGeneration(
    projection: AnyProjection,
    token: string,
    generation: number,
    keepLive: boolean,
  ): Promise<boolean> {
    const { lease, live, building } = keysOf(projection);
    const begun = await this.connection.use((redis) =>
      redis.projectionBegin(lease, ...live, ...building, token, String(generation), keepLive ? '1' : '0'),
    );
    return begun === 1;
  }

  override promote(
    projection: AnyProjection,
    token: string,
    through: string | null,
    made: RebuildReport,
  ): Promise<'promoted' | 'behind' | 'fenced'> {
    const { lease, live, building, report, request } = keysOf(projection);
    const keys = [lease, ...live, ...building, report, request];
    const { generation, request: answered } = made;
    return this.connection.use((redis) =>
      redis.projectionPromote(...keys, token, String(generation), through ?? '', JSON.stringify(made), answered ?? ''),
    );
  }

  /** Whatever lies under the name of the projection and another version, also in the key layouts of earlier releases. */
  override async retireOlderVersions({ name, version }: AnyProjection): Promise<void> {
    for (let cursor = '0'; ;) {
      const [next, keys] = await this.connection.use((redis) =>
        redis.scan(cursor, 'MATCH', `{${name}:v*`, 'COUNT', SCAN_COUNT),
      );
      const older = keys.filter((key) => Number.parseInt(key.slice(name.length + 3), 10) < version);
      // NX: what was retired already keeps its time.
      await this.connection.use((redis) =>
        Promise.all(older.map((key) => redis.expire(key, RETIRED_FOR_SECONDS, 'NX'))),
      );
      cursor = next;
      if (cursor === '0') return;
    }
  }

  override async checkpoint(projection: AnyProjection, generation: number): Promise<Checkpoint | null> {
    const { live, building } = keysOf(projection);
    const states = await this.connection.use((redis) =>
      Promise.all([live, building].map(([state]) => redis.hmget(state, 'generation', 'position', 'log'))),
    );
    const state = states.find(([number]) => number === String(generation));
    return state ? { position: state[1] || null, log: state[2] || null } : null;
  }

  override async resume(projection: AnyProjection, generation: number): Promise<Checkpoint | null> {
    const { live, building } = keysOf(projection);
    await this.connection.use((redis) => Promise.all([...live, ...building].map((key) => redis.persist(key))));
    return this.checkpoint(projection, generation);
  }

  override async commit(
    projection: AnyProjection,
    token: string,
    generation: number,
    { expected, next, log, writes }: Commit,
  ): Promise<CommitFault | null> {
    const { lease, live, building } = keysOf(projection);
    const kept = keptSince(this.keptForMs);
    const listed = listedSince(projection);
    const slices = Math.max(1, Math.ceil(writes.length / SLICE));
    for (let slice = 0; slice < slices; slice++) {
      // One after the other, so that whoever reads a document waits for one of them at most. The last moves the checkpoint.
      const place = [expected ?? '', (slice === slices - 1 ? next : expected) ?? '', log ?? '', kept, listed];
      const args = [lease, ...live, ...building, token, String(generation), ...place];
      for (const write of writes.slice(slice * SLICE, (slice + 1) * SLICE))
        args.push(...documentFields(projection, write, kept));
      const outcome = await this.connection.use((redis) => redis.projectionCommit(...args));
      if (outcome !== 'done') return outcome;
    }
    return null;
  }

  override async sizes(projection: AnyProjection): Promise<{ readonly live: number; readonly building: number }> {
    const { live, building } = keysOf(projection);
    const [ofLive, ofBuilding] = await this.connection.use((redis) =>
      Promise.all([redis.hlen(live[1]), redis.hlen(building[1])]),
    );
    return { live: ofLive, building: ofBuilding };
  }

  override async differences(projection: AnyProjection, limit: number): Promise<string[]> {
    const { live, building } = keysOf(projection);
    const docs = [live[1], building[1]] as const;
    let suspects = new Set<string>();
    const compare = async (scanned: string, other: string): Promise<void> => {
      for await (const ids of this.unequal(scanned, other))
        for await (const [id, one, two] of this.pairs(projection, docs, ids)) if (one !== two) suspects.add(id);
    };
    const sizes = await this.sizes(projection);
    await compare(...docs);
    // Of two that were as long before, neither had more, where all that the one had is the same in the other one.
    if (suspects.size > 0 || sizes.live !== sizes.building) await compare(docs[1], docs[0]);
    const differing = new Set<string>();
    for (let look = 0; suspects.size > 0; look++) {
      const unsettled = new Set<string>();
      for await (const [id, one, other] of this.pairs(projection, docs, [...suspects])) {
        if (one === other) continue;
        const ahead = one === null || other === null || Number.parseInt(one, 10) !== Number.parseInt(other, 10);
        (ahead && look < LOOKS ? unsettled : differing).add(id);
      }
      suspects = unsettled;
      if (suspects.size > 0) await new Promise((resolve) => setTimeout(resolve, this.lookIntervalMs));
    }
    return [...differing].slice(0, limit);
  }

  override async requestRebuild(projection: AnyProjection, request: string): Promise<void> {
    await this.connection.use((redis) => redis.set(keysOf(projection).request, request));
  }

  override async lastReport(projection: AnyProjection): Promise<RebuildReport | null> {
    const text = await this.connection.use((redis) => redis.get(keysOf(projection).report));
    return text === null ? null : (JSON.parse(text) as RebuildReport);
  }

  /** Ids of documents of a hash that are not the same in another one. Compared in Redis, so that only what differs is sent. */
  private async *unequal(scanned: string, other: string): AsyncIterable<string[]> {
    let cursor = '0';
    do {
      const page = await this.connection.use((redis) =>
        redis.projectionUnequal(scanned, other, cursor, String(COMPARED)),
      );
      [cursor = '0'] = page;
      yield page.slice(1);
    } while (cursor !== '0');
  }

  /** What is stored of each document on both sides, as of one moment for each slice, without what is old enough to leave. */
  private async *pairs(
    projection: AnyProjection,
    docs: readonly [string, string],
    ids: readonly string[],
  ): AsyncIterable<[id: string, one: string | null, other: string | null]> {
    for (let start = 0; start < ids.length; start += COMPARED) {
      const slice = ids.slice(start, start + COMPARED);
      const replies = await this.connection.use((redis) =>
        redis
          .multi()
          .hmget(docs[0], ...slice)
          .hmget(docs[1], ...slice)
          .exec(),
      );
      const [ones = [], others = []] = (replies ?? []).map(([, texts]) => texts as (string | null)[]);
      // One side may have let a document go before the other, by a clock that is ahead of this one.
      const since = keptSince(this.keptForMs - CLOCKS_APART_MS);
      const entriesSince = listedSince(projection, CLOCKS_APART_MS);
      const stored = (text: string | null | undefined): string | null => textAfter(text ?? null, since, entriesSince);
      yield* slice.map((id, place): [string, string | null, string | null] => [
        id,
        stored(ones[place]),
        stored(others[place]),
      ]);
    }
  }
}

function generationsOf([live = null, building = null]: readonly (string | null)[]): Generations {
  return { live: live === null ? null : Number(live), building: building === null ? null : Number(building) };
}
