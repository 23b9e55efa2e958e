// The subscription engine's side of the read models in Redis. `redis.ts` is the readers' side of the same keys.
import { hash } from 'node:crypto';
import type { Redis } from 'ioredis';
import {
  type AnyProjection,
  type Checkpoint,
  type CommitFault,
  type DocumentWrite,
  type Fingerprint,
  type Generations,
  type LeaseState,
  ProjectionStore,
  type RebuildReport,
  SHARDS,
  type ShardCommit,
  shardOf,
  type StoredDocument,
} from '../../ports/projection-store.js';
import { BoundedRedis } from '../redis/bounded-redis.js';
import {
  documentFields,
  parseDocument,
  parsePointer,
  pointerText,
  ProjectionKeys,
  type ShardKeys,
} from './redis-keys.js';
import { defineScripts } from './redis-scripts.js';

/** Longer than a reader may wait: a large commit may have to wait for Redis to write its file. */
const LIMIT_MS = 5_000;
const RETIRED_FOR_SECONDS = 24 * 3_600;
const SCAN_COUNT = 500;
/** How often, and how long apart, documents that are merely ahead on one side are looked at again. */
const LOOKS = 20;
const LOOK_INTERVAL_MS = 100;

const FAULTS: Readonly<Record<number, CommitFault>> = { 0: 'missing', [-1]: 'fenced', [-2]: 'moved' };

/** Give it a connection of its own: its commits are large, and a document that is read would wait behind them. */
export class RedisProjectionStore extends ProjectionStore {
  private readonly connection: BoundedRedis;
  private readonly keys = new WeakMap<AnyProjection, ProjectionKeys>();

  constructor(private readonly redis: Redis) {
    super();
    defineScripts(redis);
    this.connection = new BoundedRedis(redis, LIMIT_MS);
  }

  override onReturn(listener: () => void): () => void {
    this.redis.on('ready', listener);
    return () => this.redis.off('ready', listener);
  }

  override acquireLease(projection: AnyProjection, holder: string, ttlMs: number): Promise<number | null> {
    const { lease, fence } = this.keysOf(projection);
    return this.connection.use((redis) => redis.projectionLease(lease, fence, holder, String(ttlMs)));
  }

  override async renewLease(projection: AnyProjection, fence: number, ttlMs: number): Promise<LeaseState> {
    const { lease, pointer, request } = this.keysOf(projection);
    const [held, text, rebuildRequest] = await this.connection.use((redis) =>
      redis.projectionRenew(lease, pointer, request, String(fence), String(ttlMs)),
    );
    return { held: held === 1, generations: parsePointer(text), rebuildRequest };
  }

  override async releaseLease(projection: AnyProjection, fence: number): Promise<void> {
    await this.connection.use((redis) => redis.projectionRelease(this.keysOf(projection).lease, String(fence)));
  }

  override async generations(projection: AnyProjection): Promise<Generations> {
    return parsePointer(await this.connection.use((redis) => redis.get(this.keysOf(projection).pointer)));
  }

  override async beginGeneration(
    projection: AnyProjection,
    fence: number,
    from: Generations,
    keepLive: boolean,
  ): Promise<Generations | null> {
    // The time of day, so that a number does not come back after everything was lost.
    const building = Math.max(Date.now(), (from.live ?? 0) + 1, (from.building ?? 0) + 1);
    const begun: Generations = { live: keepLive ? from.live : null, building };
    await this.eachShard(projection, building, (redis, keys) => redis.projectionPrepare(...keys, String(fence)));
    return (await this.point(projection, fence, from, begun, { begun: building })) ? begun : null;
  }

  override flip(projection: AnyProjection, fence: number, from: Generations, report: RebuildReport): Promise<boolean> {
    return this.point(projection, fence, from, { live: from.building, building: null }, { report });
  }

  override async retireOthers(projection: AnyProjection, kept: Generations): Promise<void> {
    const keys = this.keysOf(projection);
    for (const generation of await this.knownGenerations(keys)) {
      if (generation === kept.live || generation === kept.building) continue;
      await this.retire(keys, generation);
      await this.connection.use((redis) => redis.srem(keys.known, String(generation)));
    }
    if (kept.live === null) return;
    for (let version = 1; version < projection.version; version++) {
      const older = new ProjectionKeys({ name: projection.name, version });
      for (const generation of await this.knownGenerations(older)) await this.retire(older, generation);
      await this.connection.use((redis) =>
        Promise.all(
          [older.pointer, older.known, older.fence, older.report].map((key) =>
            redis.expire(key, RETIRED_FOR_SECONDS, 'NX'),
          ),
        ),
      );
    }
  }

  override async claim(
    projection: AnyProjection,
    generation: number,
    fence: number,
  ): Promise<readonly Checkpoint[] | 'fenced' | 'missing'> {
    const { pointer, known } = this.keysOf(projection);
    const [claimed] = await Promise.all([
      this.eachShard(projection, generation, (redis, keys) => redis.projectionClaim(...keys, String(fence))),
      // They expire when a newer version retired this one; whoever claims wants them.
      this.connection.use((redis) =>
        Promise.all([redis.persist(pointer), redis.persist(known), redis.persist(this.keysOf(projection).fence)]),
      ),
    ]);
    const checkpoints: Checkpoint[] = [];
    for (const state of claimed) {
      if (state === null) return 'missing';
      const [position = '', log] = state;
      if (log === undefined) return 'fenced';
      checkpoints.push({ position: position === '' ? null : position, log: log === '' ? null : log });
    }
    return checkpoints;
  }

  override checkpoints(projection: AnyProjection, generation: number): Promise<readonly Checkpoint[]> {
    return this.eachShard(projection, generation, async (redis, [state]) => {
      const [position, log] = await redis.hmget(state, 'position', 'log');
      return { position: position || null, log: log || null };
    });
  }

  override async documents(
    projection: AnyProjection,
    generation: number,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, StoredDocument>> {
    const found = new Map<string, StoredDocument>();
    const byShard = Array.from({ length: SHARDS }, (): string[] => []);
    for (const id of ids) byShard[shardOf(id)]?.push(id);
    await this.eachShard(projection, generation, async (redis, [, docs], shard) => {
      const wanted = byShard[shard] ?? [];
      if (wanted.length === 0) return;
      const texts = await redis.hmget(docs, ...wanted);
      for (const [place, id] of wanted.entries()) {
        const stored = parseDocument(texts[place] ?? '');
        if (stored !== null) found.set(id, stored);
      }
    });
    return found;
  }

  override async commit(
    projection: AnyProjection,
    generation: number,
    fence: number,
    commits: readonly ShardCommit[],
  ): Promise<CommitFault | null> {
    const { shards } = this.keysOf(projection).generation(generation);
    const replies = await this.connection.use((redis) =>
      Promise.all(
        commits.map(({ shard, expected, next, log, writes }) => {
          const args = [...(shards[shard] ?? []), String(fence), expected ?? '', next ?? '', log ?? ''];
          for (const write of writes) appendFields(args, projection, write);
          return redis.projectionCommit(...args);
        }),
      ),
    );
    for (const reply of replies) {
      if (reply !== 1) return FAULTS[reply] ?? 'missing';
    }
    return null;
  }

  override async fingerprint(projection: AnyProjection, generation: number): Promise<Fingerprint> {
    let sum = 0n;
    let documents = 0;
    const counts = await this.eachShard(projection, generation, (redis, [, , index, due]) =>
      Promise.all([redis.zcard(index), redis.zcard(due)]),
    );
    for (const docs of this.keysOf(projection).generation(generation).docs) {
      // A scan may return a document twice.
      const seen = new Set<string>();
      for await (const page of this.scan(docs)) {
        for (const [id, text] of page) {
          if (seen.has(id)) continue;
          seen.add(id);
          sum += hash('sha256', `${id}\n${text}`, 'buffer').readBigUInt64BE();
        }
      }
      documents += seen.size;
    }
    const total = (place: 0 | 1): number => counts.reduce((all, shard) => all + shard[place], 0);
    return {
      documents,
      memberships: total(0),
      due: total(1),
      digest: BigInt.asUintN(64, sum).toString(16).padStart(16, '0'),
    };
  }

  override async differences(projection: AnyProjection, one: number, other: number, limit: number): Promise<string[]> {
    const differing: string[] = [];
    const unsettled: string[] = [];
    const keys = this.keysOf(projection);
    const compare = async (shard: number, ids: readonly string[]): Promise<void> => {
      const [first = [], second = []] = await this.connection.use((redis) =>
        Promise.all(
          [one, other].map((generation) => redis.hmget(keys.generation(generation).docs[shard] ?? '', ...ids)),
        ),
      );
      for (const [place, id] of ids.entries()) {
        const [a, b] = [first[place] ?? null, second[place] ?? null];
        if (a === b) continue;
        if (a !== null && b !== null && revisionOf(a) === revisionOf(b)) differing.push(id);
        else unsettled.push(id);
      }
    };
    for (let shard = 0; shard < SHARDS; shard++) {
      for (const generation of [one, other]) {
        for await (const page of this.scan(keys.generation(generation).docs[shard] ?? '')) {
          if (page.length > 0)
            await compare(
              shard,
              page.map(([id]) => id),
            );
        }
      }
    }
    let open = [...new Set(unsettled)];
    for (let look = 0; look < LOOKS && open.length > 0; look++) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_INTERVAL_MS));
      const [first, second] = await Promise.all([
        this.texts(projection, one, open),
        this.texts(projection, other, open),
      ]);
      open = open.filter((id) => {
        const [a, b] = [first.get(id), second.get(id)];
        if (a === b) return false;
        if (a === undefined || b === undefined || revisionOf(a) !== revisionOf(b)) return true;
        differing.push(id);
        return false;
      });
    }
    return [...new Set([...differing, ...open])].slice(0, limit);
  }

  override async requestRebuild(projection: AnyProjection, request: string): Promise<void> {
    await this.connection.use((redis) => redis.set(this.keysOf(projection).request, request));
  }

  override async lastReport(projection: AnyProjection): Promise<RebuildReport | null> {
    const text = await this.connection.use((redis) => redis.get(this.keysOf(projection).report));
    return text === null ? null : (JSON.parse(text) as RebuildReport);
  }

  private keysOf(projection: AnyProjection): ProjectionKeys {
    let keys = this.keys.get(projection);
    if (!keys) {
      keys = new ProjectionKeys(projection);
      this.keys.set(projection, keys);
    }
    return keys;
  }

  /** Asks all shards in one round trip, if `ask` needs no more than one. */
  private eachShard<Reply>(
    projection: AnyProjection,
    generation: number,
    ask: (redis: Redis, keys: ShardKeys, shard: number) => Promise<Reply>,
  ): Promise<Reply[]> {
    const { shards } = this.keysOf(projection).generation(generation);
    return this.connection.use((redis) => Promise.all(shards.map((keys, shard) => ask(redis, keys, shard))));
  }

  private async point(
    projection: AnyProjection,
    fence: number,
    from: Generations,
    to: Generations,
    { begun, report }: { readonly begun?: number; readonly report?: RebuildReport },
  ): Promise<boolean> {
    const { lease, pointer, known, request, report: reportKey } = this.keysOf(projection);
    const moved = await this.connection.use((redis) =>
      redis.projectionPoint(
        lease,
        pointer,
        known,
        request,
        reportKey,
        String(fence),
        pointerText(from),
        pointerText(to),
        begun === undefined ? '' : String(begun),
        report === undefined ? '' : JSON.stringify(report),
        report?.request ?? '',
      ),
    );
    return moved === 1;
  }

  private async knownGenerations(keys: ProjectionKeys): Promise<number[]> {
    return (await this.connection.use((redis) => redis.smembers(keys.known))).map(Number);
  }

  /** NX: what was retired already keeps its time. */
  private async retire(keys: ProjectionKeys, generation: number): Promise<void> {
    const all = keys.generation(generation).shards.flat();
    await this.connection.use((redis) => Promise.all(all.map((key) => redis.expire(key, RETIRED_FOR_SECONDS, 'NX'))));
  }

  private async *scan(docs: string): AsyncIterable<[id: string, text: string][]> {
    let cursor = '0';
    do {
      const [next, flat] = await this.connection.use((redis) => redis.hscan(docs, cursor, 'COUNT', SCAN_COUNT));
      cursor = next;
      yield flat.flatMap((id, place): [string, string][] => (place % 2 === 0 ? [[id, flat[place + 1] ?? '']] : []));
    } while (cursor !== '0');
  }

  private async texts(
    projection: AnyProjection,
    generation: number,
    ids: readonly string[],
  ): Promise<Map<string, string>> {
    const { docs } = this.keysOf(projection).generation(generation);
    const found = await this.connection.use((redis) =>
      Promise.all(ids.map((id) => redis.hget(docs[shardOf(id)] ?? '', id))),
    );
    return new Map(
      ids.flatMap((id, place): [string, string][] => (typeof found[place] === 'string' ? [[id, found[place]]] : [])),
    );
  }
}

function appendFields(args: string[], projection: AnyProjection, { id, revision, doc }: DocumentWrite): void {
  for (const field of documentFields(projection, id, revision, doc)) args.push(field);
}

function revisionOf(text: string): string {
  return text.slice(0, text.indexOf(' '));
}
