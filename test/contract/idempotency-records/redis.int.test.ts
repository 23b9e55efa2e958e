import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import {
  RedisIdempotencyRecords,
  type IdempotencyTimes,
  type MostKept,
} from '../../../src/adapters/idempotency-records/redis.js';
import { isId } from '../../../src/kernel/ids.js';
import { Unavailable } from '../../../src/kernel/unavailable.js';
import type { Beginning, Execution, KeptReply, KeyedRequest } from '../../../src/ports/idempotency-records.js';
import { until } from '../../support/eventually.js';
import { RedisServer } from '../../support/redis.js';
import { Vaults } from '../../support/vaults.js';

const masterKey = (id: string): string => `${id}:${randomBytes(32).toString('base64')}`;
const reply = (text: string): KeptReply => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(text),
});

describe('idempotency records in Redis', () => {
  let server: RedisServer;
  const masterText = masterKey('k1');
  const vaults = new Vaults();
  let request: KeyedRequest;

  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(async () => {
    await server.stop();
    await vaults.close();
  });
  beforeEach(() => {
    request = {
      accountId: 'account-1',
      environment: 'test',
      visitor: null,
      route: 'POST /things',
      key: randomUUID(),
      content: '{"ssn":"900551234"}',
    };
  });

  /** Records in another process with a connection of its own. */
  const records = (times: Partial<IdempotencyTimes> = {}, keys = masterText): RedisIdempotencyRecords =>
    new RedisIdempotencyRecords(server.client(), vaults.open(keys), { waitAtMost: 5_000, ...times });

  const execution = (beginning: Beginning): Execution => {
    if (beginning.kind !== 'execute') throw new Error(`The request was not to be executed: ${beginning.kind}`);
    return beginning.execution;
  };
  const replayed = (beginning: Beginning): string => {
    if (beginning.kind !== 'replay') throw new Error(`Nothing was replayed: ${beginning.kind}`);
    return Buffer.from(beginning.reply.body).toString();
  };
  const nothing = { waitAtMost: 0 };

  it('let a new request be executed, and repeat its reply in other processes too', async () => {
    const first = execution(await records().begin(request));
    expect(isId(first.scope)).toBe(true);
    expect(
      await first.keep(
        { status: 422, headers: { 'content-type': 'text/plain' }, body: Buffer.from('no\u00e9') },
        'person',
      ),
    ).toBe('kept');
    for (const again of [records(), records()]) {
      const beginning = await again.begin(request);
      expect(beginning).toMatchObject({
        kind: 'replay',
        reply: { status: 422, headers: { 'content-type': 'text/plain' } },
      });
      expect(replayed(beginning)).toBe('no\u00e9');
    }
  });

  it.each([
    [null, '24 hours', 86_400_000],
    ['visitor-1', 'one hour', 3_600_000],
  ])('keep a reply to visitor %s for %s after it was given', async (visitor, _, ms) => {
    const redis = server.client();
    await redis.flushall();
    await execution(await records().begin({ ...request, visitor })).keep(reply('{}'), 'person');
    const [record = ''] = await redis.keys('*');
    const ttl = await redis.pttl(record);
    expect(ttl).toBeGreaterThan(ms - 5_000);
    expect(ttl).toBeLessThanOrEqual(ms);
  });

  describe('records at the limit of kept replies of a visitor or account', () => {
    let notKept: number;
    const limited = (most: Partial<MostKept> = {}): RedisIdempotencyRecords =>
      new RedisIdempotencyRecords(
        server.client(),
        vaults.open(masterText),
        { waitAtMost: 5_000 },
        { ofVisitor: 0, ofAccount: 0, ...most },
        () => (notKept += 1),
      );
    beforeEach(() => {
      notKept = 0;
      request = { ...request, accountId: randomUUID() };
    });

    it.each([
      [{ ofVisitor: 2 }, 'visitor-1'],
      [{ ofAccount: 2 }, null],
    ])('let further requests be executed and keep no reply for them, with the limit %j', async (most, visitor) => {
      const all = limited(most);
      const keep = async (key: string, more: Partial<KeyedRequest> = {}): Promise<string> =>
        execution(await all.begin({ ...request, visitor, key, ...more })).keep(reply(key), 'person');
      expect([await keep('one'), await keep('two', { route: 'POST /others' })]).toEqual(['kept', 'kept']);
      for (let time = 1; time <= 2; time++) {
        expect(await keep('three')).toBe('beyond-cap');
        expect(notKept).toBe(time);
      }
      // Redis keeps nothing about this key, so the key may be used with other content.
      expect(await keep('three', { content: 'other' })).toBe('beyond-cap');
      expect(replayed(await all.begin({ ...request, visitor, key: 'one' }))).toBe('one');
      for (const others of [{ accountId: randomUUID() }, { environment: 'live' }, { visitor: 'visitor-2' }] as const)
        expect(await keep('elsewhere', { route: JSON.stringify(others), ...others })).toBe('kept');
    });

    it('do not count running executions, released keys and expired replies', async () => {
      const all = limited({ ofAccount: 1 });
      const begin = async (key: string): Promise<Execution> => execution(await all.begin({ ...request, key }));
      const [one, two, three] = [await begin('one'), await begin('two'), await begin('three')];
      await one.release(false);
      await two.release(true);
      expect(await three.keep(reply('{}'), null)).toBe('kept');
      expect(await (await begin('four')).keep(reply('{}'), null)).toBe('beyond-cap');
      const redis = server.client();
      const [counted = ''] = await redis.keys(`*${request.accountId}*`);
      for (const name of await redis.zrange(counted, '0', '-1')) await redis.zadd(counted, '1', name);
      expect(await (await begin('five')).keep(reply('{}'), null)).toBe('kept');
    });

    it('let one of several requests with the same key be executed, and the waiting requests get its reply', async () => {
      const all = limited({ ofAccount: 1 });
      await execution(await all.begin(request)).keep(reply('{}'), null);
      const twins = { ...request, key: 'twins' };
      const first = execution(await all.begin(twins));
      const waiting = [limited({ ofAccount: 1 }).begin(twins), all.begin(twins)];
      const redis = server.client();
      await until('they wait', async () => {
        const names = await redis.keys('idempotency:*');
        return (await Promise.all(names.map((name) => redis.hexists(name, 'twin')))).includes(1);
      });
      expect(await first.keep(reply('once'), null)).toBe('beyond-cap');
      expect((await Promise.all(waiting)).map(replayed)).toEqual(['once', 'once']);
    });
  });

  it('forget a key and its content when its first execution had no effect', async () => {
    const redis = server.client();
    await redis.flushall();
    const first = execution(await records().begin(request));
    expect(first.first).toBe(true);
    await first.release(true);
    expect(await redis.keys('*')).toEqual([]);
    const other = execution(await records().begin({ ...request, content: 'other' }));
    expect(other.first).toBe(true);
    await other.release(false);
    expect(execution(await records().begin({ ...request, content: 'other' })).first).toBe(false);
  });

  it('forget a reply after its lifetime', async () => {
    const short = records({ keepFor: 50 });
    await execution(await short.begin(request)).keep(reply('{}'), 'person');
    let beginning = await short.begin(request);
    await until('its lifetime is over', async () => {
      beginning = await short.begin(request);
      return beginning.kind !== 'replay';
    });
    expect(beginning.kind).toBe('execute');
    await execution(beginning).release(false);
  });

  it('refuse the key for other content: during the execution, after its reply and after a release', async () => {
    const other = { ...request, content: '{"ssn":"900551235"}' };
    const first = execution(await records().begin(request));
    expect(await records().begin(other)).toEqual({ kind: 'reused' });
    await first.release(false);
    expect(await records().begin(other)).toEqual({ kind: 'reused' });
    await execution(await records().begin(request)).keep(reply('{}'), 'person');
    expect(await records().begin(other)).toEqual({ kind: 'reused' });
  });

  it('separate accounts, environments, routes and keys', async () => {
    const others: KeyedRequest[] = [
      { ...request, accountId: 'account-2' },
      { ...request, environment: 'live' },
      { ...request, route: 'POST /others' },
      { ...request, key: `${request.key}x` },
    ];
    const executions = [];
    for (const one of [request, ...others]) executions.push(execution(await records(nothing).begin(one)));
    expect(new Set(executions.map(({ scope }) => scope)).size).toBe(5);
    await Promise.all(executions.map((one) => one.release(false)));
  });

  it('let one of many concurrent requests with the same key be executed; the others wait and get its reply', async () => {
    const processes = Array.from({ length: 4 }, () => records());
    let executed = 0;
    const replies = await Promise.all(
      Array.from({ length: 40 }, async (_, at) => {
        const beginning = await processes[at % processes.length]!.begin(request);
        if (beginning.kind === 'execute') {
          executed += 1;
          await beginning.execution.keep(reply(`{"by":${at}}`), 'person');
          return `{"by":${at}}`;
        }
        return replayed(beginning);
      }),
    );
    expect(executed).toBe(1);
    expect(new Set(replies).size).toBe(1);
  });

  it('let exactly one waiting request be executed after the first released the key', async () => {
    const first = execution(await records().begin(request));
    const waiting = Promise.all(
      Array.from({ length: 6 }, async () => {
        const beginning = await records().begin(request);
        if (beginning.kind === 'execute') await beginning.execution.keep(reply('second'), 'person');
        return beginning.kind;
      }),
    );
    await first.release(false);
    expect((await waiting).sort()).toEqual(['execute', 'replay', 'replay', 'replay', 'replay', 'replay']);
  });

  it('report busy to a request that waited without a result', async () => {
    const first = execution(await records().begin(request));
    expect(await records({ waitAtMost: 100 }).begin(request)).toEqual({ kind: 'busy' });
    await first.release(false);
  });

  it('keep the lease while the execution runs', async () => {
    const first = execution(await records({ lease: 500 }).begin(request));
    expect(await records({ lease: 500, waitAtMost: 1_200 }).begin(request)).toEqual({ kind: 'busy' });
    await first.release(false);
  });

  /** The renewals of the execution never reach Redis again, as if its process had died. */
  const dead = async (): Promise<Execution> => {
    const client = new Redis(server.url);
    const first = execution(
      await new RedisIdempotencyRecords(client, vaults.open(masterText), { lease: 300 }).begin(request),
    );
    client.disconnect();
    return first;
  };

  it('let another request take over from a process that died, with the same scope', async () => {
    const first = await dead();
    const second = execution(await records().begin(request));
    expect([second.scope, second.first]).toEqual([first.scope, false]);
    await second.keep(reply('second'), 'person');
    expect(replayed(await records().begin(request))).toBe('second');
  });

  it('give a retry after a release a scope of its own, so that the retry does not find the data of the failed execution', async () => {
    const first = execution(await records().begin(request));
    await first.release(false);
    const second = execution(await records().begin(request));
    expect(second.scope).not.toBe(first.scope);
    await second.keep(reply('second'), 'person');
  });

  it('never use the scope of an expired or lost record again, even if the key returns with other content', async () => {
    const first = execution(await records().begin(request));
    await first.keep(reply('done'), 'person');
    for (const content of ['{"ssn":"900559999"}', request.content]) {
      await server.flush();
      const later = execution(await records().begin({ ...request, content }));
      expect(later.scope).not.toBe(first.scope);
    }
  });

  it('do not let an execution that lost its lease overwrite, release or renew the other execution', async () => {
    const redis = server.client();
    await redis.flushall();
    const first = execution(await records({ lease: 60_000 }).begin(request));
    // The lease has expired, as after a long suspension of the process.
    const [record = ''] = await redis.keys('*');
    await redis.hset(record, 'until', '1');
    const second = execution(await records().begin(request));
    expect(await first.keep(reply('first'), 'person')).toBe('overtaken');
    await first.release(false);
    expect((await records(nothing).begin(request)).kind).toBe('busy');
    expect(await second.keep(reply('second'), 'person')).toBe('kept');
    expect(await first.keep(reply('first'), 'person')).toBe('overtaken');
    expect(replayed(await records().begin(request))).toBe('second');
  });

  it('leave no readable key, content or reply in Redis', async () => {
    const secretReply = '{"kbaQuestions":"Elm Street"}';
    request = { ...request, key: 'mary@example.test' };
    await execution(await records().begin(request)).keep(reply(secretReply), 'person');
    const redis = server.client();
    const dump = await Promise.all(
      (await redis.keys('*')).map(async (name) =>
        [
          name,
          ...Object.entries(await redis.hgetallBuffer(name)).flatMap(([field, value]) => [
            field,
            value.toString('latin1'),
          ]),
        ].join('\n'),
      ),
    );
    for (const secret of ['mary@example.test', '900551234', 'Elm Street', request.accountId]) {
      expect(dump.join('\n')).not.toContain(secret);
      expect(dump.join('\n')).not.toContain(Buffer.from(secret).toString('base64').replace(/=+$/, '').slice(0, -1));
    }
    // Even equal content under two keys cannot be recognised.
    await execution(await records().begin({ ...request, key: 'other' })).keep(reply('{}'), 'person');
    const contents = await Promise.all((await redis.keys('*')).map((name) => redis.hget(name, 'content')));
    expect(new Set(contents).size).toBe(contents.length);
  });

  it('repeat replies and recognise requests across a rotation of the master key', async () => {
    await execution(await records().begin(request)).keep(reply('before'), 'person');
    const rotated = records({}, `${masterKey('k2')},${masterText}`);
    expect(replayed(await rotated.begin(request))).toBe('before');
    expect((await rotated.begin({ ...request, content: 'other' })).kind).toBe('reused');
  });

  it('repeat no reply about a person who was erased, and let nothing be executed again', async () => {
    const vault = vaults.open(masterText);
    await execution(await records().begin(request)).keep(reply('before'), 'erased-later');
    await vault.erase('erased-later');
    expect(await records().begin(request)).toEqual({ kind: 'gone' });
    // The person was erased during the execution.
    const late = { ...request, key: randomUUID() };
    expect(await execution(await records().begin(late)).keep(reply('late'), 'erased-later')).toBe('kept');
    expect(await records().begin(late)).toEqual({ kind: 'gone' });
    expect((await records().begin({ ...late, content: 'other' })).kind).toBe('reused');
  });

  it('do not let a request be executed again when an earlier version kept its reply, and do not report an erasure', async () => {
    await execution(await records().begin(request)).keep(reply('before'), null);
    const redis = server.client();
    for (const name of await redis.keys('idempotency:*'))
      if (await redis.hexists(name, 'reply'))
        await redis.hset(name, 'reply', Buffer.concat([Buffer.of(2), Buffer.from('k1'), randomBytes(60)]));
    expect(await records().begin(request)).toEqual({ kind: 'reused' });
  });

  it('repeat no reply that was changed or moved from another record', async () => {
    const redis = server.client();
    const other = { ...request, key: randomUUID() };
    await execution(await records().begin(request)).keep(reply('mine'), 'person');
    const before = new Set(await redis.keys('idempotency:*'));
    await execution(await records().begin(other)).keep(reply('theirs'), 'person');
    const [name = ''] = (await redis.keys('idempotency:*')).filter((one) => !before.has(one));
    const bytes = (await redis.hgetBuffer(name, 'reply'))!;
    bytes[bytes.length - 1]! ^= 1;
    await redis.hset(name, 'reply', bytes);
    await expect(records().begin(other)).rejects.toThrow('not authentic');
  });

  it('report Redis as unavailable within their time limit while it is down or silent, and then work again', async () => {
    await execution(await records().begin(request)).keep(reply('kept'), 'person');
    const waiting = records({ redisLimit: 200 });
    server.freeze();
    try {
      await expect(waiting.begin(request)).rejects.toBeInstanceOf(Unavailable);
    } finally {
      server.resume();
    }
    await server.kill9();
    await expect(waiting.begin(request)).rejects.toBeInstanceOf(Unavailable);
    await server.startAgain();
    const again = records();
    expect(['replay', 'execute']).toContain((await again.begin({ ...request, key: randomUUID() })).kind);
  });

  it('keep a reply as soon as Redis is back, even if Redis has forgotten the execution', async () => {
    // The records of the executions in other tests may also be restored.
    const before = server.client();
    const others = new Set(await before.keys('idempotency:*'));
    const first = execution(await records({ lease: 400, redisLimit: 400 }).begin(request));
    const own = (await before.keys('idempotency:*')).filter((key) => !others.has(key));
    await server.kill9();
    await expect(first.keep(reply('late'), 'person')).rejects.toBeInstanceOf(Unavailable);
    await server.startAgainEmpty();
    const redis = server.client();
    await until('the record is back', async () => (await redis.exists(...own)) > 0);
    expect(replayed(await records().begin(request))).toBe('late');
  });

  it('keep a reply that a stopped Redis accepts when it continues', async () => {
    const first = execution(await records({ lease: 10_000, redisLimit: 400 }).begin(request));
    server.freeze();
    try {
      await expect(first.keep(reply('late'), 'person')).rejects.toBeInstanceOf(Unavailable);
    } finally {
      server.resume();
    }
    expect(replayed(await records().begin(request))).toBe('late');
  });

  it('keep the reply of an execution whose record Redis lost in the meantime', async () => {
    const first = execution(await records().begin(request));
    await server.flush();
    expect(await first.keep(reply('kept'), 'person')).toBe('kept');
    expect(replayed(await records().begin(request))).toBe('kept');
    expect((await records().begin({ ...request, content: 'other' })).kind).toBe('reused');
  });

  it('cannot begin without their hash key, and ask the vault for the key again at the next request', async () => {
    let asked = 0;
    const vault = vaults.open(masterText);
    const installationKey = async (name: string): Promise<Uint8Array> => {
      asked += 1;
      if (asked === 1) throw new Unavailable('The vault is away');
      return vault.installationKey(name);
    };
    const waiting = new RedisIdempotencyRecords(
      server.client(),
      Object.assign(Object.create(vault), { installationKey }),
    );
    await expect(waiting.begin(request)).rejects.toBeInstanceOf(Unavailable);
    await execution(await waiting.begin(request)).keep(reply('{}'), 'person');
    expect((await waiting.begin(request)).kind).toBe('replay');
    expect(asked).toBe(2);
  });
});
