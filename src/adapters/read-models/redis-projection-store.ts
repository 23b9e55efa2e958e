// The subscription engine's part of the read models in Redis. `redis.ts` reads the same keys.
import { setTimeout as pause } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { type Clock, SystemClock } from '../../kernel/clock.js';
import {
  type AnyProjection,
  type Checkpoint,
  type Commit,
  type CommitFault,
  type DocumentWrite,
  type Generations,
  type Lease,
  ProjectionStore,
  type RebuildReport,
} from '../../ports/projection-store.js';
import { BoundedRedis } from '../redis/bounded-redis.js';
import { type Check, changeIf, defineChangeIf, type RedisCommand, releaseLease, takeLease } from '../redis/guarded.js';
import {
  boundsOf,
  cursorIn,
  entriesOf,
  type GenerationKeys,
  keysOf,
  lineText,
  LISTED,
  listedSince,
  readLine,
} from './redis-keys.js';

/** This limit is longer than a list reader's limit, because a large commit may wait while Redis writes its file. */
const LIMIT_MS = 5_000;
/** The number of documents that one step writes. A reader of a list waits while Redis runs the step. */
const SLICE = 50;
const RETIRED_FOR_SECONDS = 24 * 3_600;
const SCAN_COUNT = 500;
/** The number and the interval of further comparisons of documents that are only ahead on one side. */
const LOOKS = 20;
const LOOK_INTERVAL_MS = 100;
/** Entries of this age are not compared, because one generation may have removed such entries up to an hour before the other generation. */
const NOT_COMPARED_MS = 2 * 3_600_000;

const FAULTS: readonly CommitFault[] = ['fenced', 'missing', 'moved'];

/** This store needs its own connection, because its commits are large and would delay readers of lists. */
export class RedisProjectionStore extends ProjectionStore {
  private readonly connection: BoundedRedis;

  constructor(
    private readonly redis: Redis,
    private readonly clock: Clock = new SystemClock(),
    private readonly lookIntervalMs = LOOK_INTERVAL_MS,
  ) {
    super();
    defineChangeIf(redis);
    this.connection = new BoundedRedis(redis, LIMIT_MS);
  }

  override onReturn(listener: () => void): () => void {
    this.redis.on('ready', listener);
    return () => this.redis.off('ready', listener);
  }

  override lease(projection: AnyProjection, token: string, ttlMs: number): Promise<Lease | null> {
    const { lease, request } = keysOf(projection);
    return this.connection.use(async (redis) => {
      if (!(await takeLease(redis, lease, token, ttlMs))) return null;
      const [generations, rebuildRequest] = await Promise.all([
        this.generationsIn(redis, projection),
        redis.get(request),
      ]);
      return { generations, rebuildRequest };
    });
  }

  override async releaseLease(projection: AnyProjection, token: string): Promise<void> {
    await this.connection.use((redis) => releaseLease(redis, keysOf(projection).lease, token));
  }

  override generations(projection: AnyProjection): Promise<Generations> {
    return this.connection.use((redis) => this.generationsIn(redis, projection));
  }

  private async generationsIn(redis: Redis, projection: AnyProjection): Promise<Generations> {
    const { live, building } = keysOf(projection);
    const [one, other] = await Promise.all([live, building].map(({ state }) => redis.hget(state, 'generation')));
    return { live: one ? Number(one) : null, building: other ? Number(other) : null };
  }

  override async beginGeneration(
    projection: AnyProjection,
    token: string,
    generation: number,
    keepLive: boolean,
  ): Promise<boolean> {
    const { lease, live, building } = keysOf(projection);
    const begun = await this.connection.use((redis) =>
      changeIf(
        redis,
        [[token, 'GET', lease]],
        [
          ...removed(building),
          ...(keepLive ? [] : removed(live)),
          ['HSET', building.state, 'generation', generation, 'position', '', 'log', ''],
        ],
      ),
    );
    return begun === null;
  }

  override async promote(
    projection: AnyProjection,
    token: string,
    through: string | null,
    made: RebuildReport,
  ): Promise<'promoted' | 'behind' | 'fenced'> {
    const { lease, live, building, report, request } = keysOf(projection);
    return this.connection.use(async (redis) => {
      const passed = (await redis.hget(live.state, 'position')) ?? '';
      if (passed > (through ?? '')) return 'behind';
      const found = await Promise.all(KINDS.map(async (kind) => ({ kind, there: await redis.exists(building[kind]) })));
      const failed = await changeIf(
        redis,
        [
          [token, 'GET', lease],
          [String(made.generation), 'HGET', building.state, 'generation'],
          [passed, 'HGET', live.state, 'position'],
          // A commit may have changed the list since. The next run then handles the change.
          ...found.map(({ kind, there }): Check => [String(there), 'EXISTS', building[kind]]),
        ],
        [
          ...removed(live),
          ...found.flatMap(({ kind, there }): RedisCommand[] =>
            there ? [['RENAME', building[kind], live[kind]]] : [],
          ),
          ['SET', report, JSON.stringify(made)],
        ],
      );
      if (failed !== null) return failed < 2 ? 'fenced' : 'behind';
      if (made.request !== null) await changeIf(redis, [[made.request, 'GET', request]], [['DEL', request]]);
      return 'promoted';
    });
  }

  /** Sets an expiry for the data of every other version of the projection, even in the key layouts of earlier releases. */
  override async retireOlderVersions({ name, version }: AnyProjection): Promise<void> {
    for (let cursor = '0'; ;) {
      const [next, keys] = await this.connection.use((redis) =>
        redis.scan(cursor, 'MATCH', `{${name}:v*`, 'COUNT', SCAN_COUNT),
      );
      const older = keys.filter((key) => Number.parseInt(key.slice(name.length + 3), 10) < version);
      // NX preserves the expiry of keys that already have one.
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
      Promise.all([live, building].map(({ state }) => redis.hmget(state, 'generation', 'position', 'log'))),
    );
    const state = states.find(([number]) => number === String(generation));
    return state ? { position: state[1] || null, log: state[2] || null } : null;
  }

  override async resume(projection: AnyProjection, generation: number): Promise<Checkpoint | null> {
    const { live, building } = keysOf(projection);
    const keys = [live, building].flatMap((of) => KINDS.map((kind) => of[kind]));
    await this.connection.use((redis) => Promise.all(keys.map((key) => redis.persist(key))));
    return this.checkpoint(projection, generation);
  }

  override async commit(
    projection: AnyProjection,
    token: string,
    generation: number,
    { expected, next, log, writes }: Commit,
  ): Promise<CommitFault | null> {
    const slices = Math.max(1, Math.ceil(writes.length / SLICE));
    for (let slice = 0; slice < slices; slice++) {
      // The steps run one after the other, so that a reader of a list waits for at most one of them. The last step moves the checkpoint.
      const part = writes.slice(slice * SLICE, (slice + 1) * SLICE);
      const place = { expected, next: slice === slices - 1 ? next : expected, log, writes: part };
      let fault = await this.write(projection, token, generation, place);
      // The generation may have been promoted just now.
      if (fault === 'missing') fault = await this.write(projection, token, generation, place);
      if (fault !== null) return fault;
    }
    return null;
  }

  override async sizes(projection: AnyProjection): Promise<{ readonly live: number; readonly building: number }> {
    const { live, building } = keysOf(projection);
    const [ofLive, ofBuilding] = await this.connection.use((redis) =>
      Promise.all([redis.hlen(live.lines), redis.hlen(building.lines)]),
    );
    return { live: ofLive, building: ofBuilding };
  }

  /** A document that has changed since it was read keeps its entries until the next run. */
  override async letOldEntriesLeave(projection: AnyProjection): Promise<void> {
    const { lines, entries } = keysOf(projection).live;
    const since = listedSince(projection, this.clock.now().getTime());
    if (since === '') return;
    const [first, last] = boundsOf(LISTED, since);
    let gone: boolean;
    do {
      gone = await this.connection.use(async (redis) => {
        const old = await redis.zrangebylex(entries, first, last, 'LIMIT', 0, SLICE);
        if (old.length === 0) return false;
        const ids = old.map((member) => cursorIn(member).id);
        const found = await redis.hmget(lines, ...ids);
        const checks = ids.map((id, place): Check => [found[place] ?? '', 'HGET', lines, id]);
        const others = ids.flatMap((id, place) => membersOf(id, readLine(found[place] ?? null).entries));
        return (
          (await changeIf(redis, checks, [
            ['ZREM', entries, ...old, ...others],
            ['HDEL', lines, ...ids],
          ])) === null
        );
      });
    } while (gone);
  }

  override async differences(projection: AnyProjection, limit: number): Promise<string[]> {
    const { live, building } = keysOf(projection);
    let suspects = new Set<string>();
    for (const scanned of [live.lines, building.lines])
      for await (const ids of this.idsIn(scanned))
        for (const [id, one, other] of await this.pairs(projection, ids)) if (one !== other) suspects.add(id);
    const differing = new Set<string>();
    for (let look = 0; suspects.size > 0; look++) {
      const unsettled = new Set<string>();
      for (const [id, one, other] of await this.pairs(projection, [...suspects])) {
        if (one === other) continue;
        const ahead = readLine(one).revision !== readLine(other).revision;
        (ahead && look < LOOKS ? unsettled : differing).add(id);
      }
      suspects = unsettled;
      if (suspects.size > 0) await pause(this.lookIntervalMs);
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

  /**
   * Only the holder of the lease writes lines, so they have not changed between the read and the change. Only the job for old entries may have
   * removed some of them. Therefore all entries of a document are put, not only new ones.
   */
  private write(
    projection: AnyProjection,
    token: string,
    generation: number,
    { expected, next, log, writes }: Commit,
  ): Promise<CommitFault | null> {
    const { lease, live, building } = keysOf(projection);
    return this.connection.use(async (redis) => {
      const isLive = (await redis.hget(live.state, 'generation')) === String(generation);
      const keys = isLive ? live : building;
      const changes = writes.length === 0 ? [] : await this.changes(redis, projection, keys, writes);
      const failed = await changeIf(
        redis,
        [
          [token, 'GET', lease],
          [String(generation), 'HGET', keys.state, 'generation'],
          [expected ?? '', 'HGET', keys.state, 'position'],
        ],
        [...changes, ['HSET', keys.state, 'position', next ?? '', 'log', log ?? '']],
      );
      return failed === null ? null : (FAULTS[failed] ?? null);
    });
  }

  private async changes(
    redis: Redis,
    projection: AnyProjection,
    { lines, entries }: GenerationKeys,
    writes: readonly DocumentWrite[],
  ): Promise<RedisCommand[]> {
    const before = await redis.hmget(lines, ...writes.map(({ id }) => id));
    const put: string[] = [];
    const gone: string[] = [];
    const off: string[] = [];
    const on: string[] = [];
    const latest = new Map<string, string>();
    for (const [place, write] of writes.entries()) {
      const { id, revision } = write;
      const stored = before[place] ?? null;
      const line = readLine(stored);
      if (line.revision >= revision) continue;
      const made = entriesOf(projection, write, this.clock.now().getTime());
      if (made.replaced.length > 0) put.push(id, lineText(revision, made.replaced));
      else if (stored !== null) gone.push(id);
      off.push(
        ...membersOf(
          id,
          line.entries.filter((entry) => !made.replaced.includes(entry)),
        ),
      );
      on.push(...membersOf(id, made.replaced));
      for (const member of membersOf(id, made.latest)) {
        const [list = ''] = member.split(' ');
        if (member > (latest.get(list) ?? '')) latest.set(list, member);
      }
    }
    for (const [list, member] of latest) {
      const [known = ''] = await redis.zrevrangebylex(entries, `(${list}!`, `[${list} `, 'LIMIT', 0, 1);
      if (known >= member) continue;
      on.push(member);
      if (known !== '') off.push(known);
    }
    const commands: RedisCommand[] = [
      ['HSET', lines, ...put],
      ['HDEL', lines, ...gone],
      ['ZREM', entries, ...off],
      ['ZADD', entries, ...on.flatMap((member) => ['0', member])],
    ];
    return commands.filter(({ length }) => length > 2);
  }

  private async *idsIn(lines: string): AsyncIterable<string[]> {
    let cursor = '0';
    do {
      const [next, page] = await this.connection.use((redis) => redis.hscan(lines, cursor, 'COUNT', SCAN_COUNT));
      cursor = next;
      yield page.filter((_, place) => place % 2 === 0);
    } while (cursor !== '0');
  }

  /** The lines of each document on both sides at one moment, except lines that are old enough to leave. */
  private async pairs(
    projection: AnyProjection,
    ids: readonly string[],
  ): Promise<[id: string, one: string | null, other: string | null][]> {
    if (ids.length === 0) return [];
    const { live, building } = keysOf(projection);
    const since = listedSince(projection, this.clock.now().getTime() + NOT_COMPARED_MS);
    const compared = (line: string | null | undefined): string | null =>
      readLine(line ?? null).entries.some((entry) => entry.startsWith(`${LISTED} `) && entry < `${LISTED} ${since}`)
        ? null
        : (line ?? null);
    const replies = await this.connection.use((redis) =>
      redis
        .multi()
        .hmget(live.lines, ...ids)
        .hmget(building.lines, ...ids)
        .exec(),
    );
    const [ones = [], others = []] = (replies ?? []).map(([, lines]) => lines as (string | null)[]);
    return ids.map((id, place) => [id, compared(ones[place]), compared(others[place])]);
  }
}

const KINDS = ['state', 'lines', 'entries'] as const;

function removed(generation: GenerationKeys): RedisCommand[] {
  return KINDS.map((kind) => ['UNLINK', generation[kind]]);
}

function membersOf(id: string, entries: readonly string[]): string[] {
  return entries.map((entry) => `${entry} ${id}`);
}
