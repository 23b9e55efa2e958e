// The details of a grant under which no session began, on a real event store, vault and Redis.
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EmbeddedEventStore } from '../../src/adapters/event-store/embedded.js';
import { RedisProjectionStore } from '../../src/adapters/read-models/redis-projection-store.js';
import { DiskVault } from '../../src/adapters/vault/disk.js';
import { MasterKeys } from '../../src/adapters/vault/master-keys.js';
import { derivedId, newId } from '../../src/kernel/ids.js';
import { AccountGrants } from '../../src/modules/accounts/application/account-grants.js';
import {
  EraseUnusedDetails,
  EraseUnusedDetailsHandler,
} from '../../src/modules/accounts/application/erase-unused-details.js';
import { GrantDetails } from '../../src/modules/accounts/application/grant-details.js';
import { GrantExpiry } from '../../src/modules/accounts/application/grant-expiry.js';
import { IssueGrant, IssueGrantHandler } from '../../src/modules/accounts/application/issue-grant.js';
import { sessionGrant } from '../../src/modules/accounts/domain/session-grant.js';
import { UnusedDetails, unusedDetails } from '../../src/modules/accounts/read/unused-details.js';
import { AggregateStore } from '../../src/platform/aggregates/aggregate-store.js';
import { TestTraffic } from '../../src/platform/aggregates/test-traffic.js';
import { Projector } from '../../src/platform/subscriptions/projector.js';
import { SubjectErased, type Vault } from '../../src/ports/vault.js';
import type { Accounts } from '../../src/published/accounts.js';
import { holdsIn } from '../support/holds.js';
import { readModelsIn } from '../support/read-models.js';
import { RedisServer } from '../support/redis.js';
import { QUICK, Recorder } from './fixtures.js';
import { SetClock } from '../support/clock.js';
import { until } from '../support/eventually.js';

const GRANT_SECONDS = 900;
const TOKEN_SECONDS = 3_600;
const EXPIRY_MS = (GRANT_SECONDS + 2 * TOKEN_SECONDS) * 1_000;
const WORDS = { external_id: 'Ada Canary' };
const accountId = newId();
const CONTEXT = {
  accountId,
  environment: 'test',
  actor: { kind: 'secret-key', id: 'key' },
  correlationId: 'request',
  causationId: 'request',
} as const;

describe('the details of a grant without a session', () => {
  const clock = new SetClock();
  let folder: string;
  let redis: RedisServer;
  let store: EmbeddedEventStore;
  let vault: DiskVault;
  let projector: Projector;
  let aggregates: AggregateStore;
  let unused: UnusedDetails;
  let expiry: GrantExpiry;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'unused-details-'));
    redis = await RedisServer.start();
    store = EmbeddedEventStore.open({ directory: join(folder, 'events') });
    vault = DiskVault.open({
      directory: join(folder, 'vault'),
      keys: MasterKeys.parse(`k:${randomBytes(32).toString('base64')}`),
      clock,
    });
    const readModels = readModelsIn(redis, store, [unusedDetails]);
    const projections = new RedisProjectionStore(redis.client());
    projector = new Projector(store, projections, [unusedDetails], new Recorder(), QUICK);
    projector.start();
    await until(
      'there is something to write to',
      async () => (await projections.generations(unusedDetails)).live !== null,
    );
    aggregates = new AggregateStore(store, readModels, clock, { appendConflict: () => undefined });
    unused = new UnusedDetails(readModels);
    expiry = new GrantExpiry(clock, {
      ttlSeconds: TOKEN_SECONDS,
      exchangesPerMinute: 60,
      exchangesPerMinutePerKey: 600,
    });
  });
  afterAll(async () => {
    await projector.stop();
    await vault.close();
    await store.close();
    await redis.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function mint(details: typeof WORDS | null = WORDS): Promise<string> {
    const minting = new IssueGrantHandler(
      aggregates,
      new TestTraffic(),
      { find: async () => null } as unknown as Accounts,
      new GrantDetails(vault),
      clock,
      { ttlSeconds: GRANT_SECONDS },
    );
    return (
      await minting.execute(
        new IssueGrant(
          {
            onBehalfOf: null,
            userType: null,
            endUserType: null,
            purpose: null,
            recipientAccountId: null,
            applicationFeeCents: null,
            details,
          },
          CONTEXT,
        ),
      )
    ).grantId;
  }
  const erase = (grantId: string, on: Vault = vault, by = aggregates): Promise<void> =>
    new EraseUnusedDetailsHandler(by, new GrantDetails(on), expiry, holdsIn(store, clock)).execute(
      new EraseUnusedDetails(grantId),
    );
  const consume = (grantId: string) =>
    aggregates.execute(
      sessionGrant,
      grantId,
      { kind: 'consume', presentation: { now: clock.now(), accountId, environment: 'test' }, tokenId: 'token' },
      CONTEXT,
    );
  const move = (grantId: string, subjectId: string): Promise<void> =>
    new AccountGrants(aggregates, new GrantDetails(vault), clock).moveDetails(grantId, subjectId, CONTEXT);
  const subjectOf = (grantId: string): string => derivedId('session-grant', grantId);
  const eventsOf = (grantId: string) => store.readStream(`session_grant-${grantId}`);
  const due = async (...grantIds: string[]): Promise<string[]> =>
    (await unused.of(expiry.latestExpiry(), 500)).filter((id) => grantIds.includes(id)).sort();
  const typesOf = async (grantId: string): Promise<string[]> => (await eventsOf(grantId)).map(({ type }) => type);

  it('are due when the grant and every token under it have expired, whether or not the grant was redeemed', async () => {
    const [open, consumed, silent, begun] = [await mint(), await mint(), await mint(null), await mint()];
    await consume(consumed);
    await move(begun, newId());
    clock.time += EXPIRY_MS - 1;
    const all = [open, consumed, silent, begun];
    expect(await due(...all)).toEqual([]);
    clock.time += 1;
    expect(await due(...all)).toEqual([open, consumed].sort());
    for (const grantId of all) await erase(grantId);
    expect(await due(...all)).toEqual([]);
    expect(await Promise.all(all.map(typesOf))).toEqual([
      ['GrantMinted', 'GrantDetailsErased'],
      ['GrantMinted', 'GrantConsumed', 'GrantDetailsErased'],
      ['GrantMinted'],
      ['GrantMinted', 'GrantDetailsEntrusted'],
    ]);
  });

  it('are destroyed, and the destruction is recorded once', async () => {
    const grantId = await mint();
    clock.time += EXPIRY_MS;
    for (const _again of [1, 2]) await erase(grantId);
    await expect(vault.get(subjectOf(grantId), grantId)).rejects.toThrow(SubjectErased);
    const [, erased, ...more] = await eventsOf(grantId);
    expect(more).toEqual([]);
    expect(erased).toMatchObject({
      type: 'GrantDetailsErased',
      data: {},
      metadata: { accountId, environment: 'test', actor: { kind: 'system', id: 'grant-sweep' } },
    });
  });

  it('stay while a session may begin, and an unknown grant changes nothing', async () => {
    const grantId = await mint();
    clock.time += EXPIRY_MS - 1;
    for (const id of [grantId, newId()]) await erase(id);
    expect(Buffer.from((await vault.get(subjectOf(grantId), grantId))!).toString()).toBe(JSON.stringify(WORDS));
    expect(await typesOf(grantId)).toEqual(['GrantMinted']);
  });

  it('stay with the person who has received them', async () => {
    const [grantId, person] = [await mint(), newId()];
    await move(grantId, person);
    clock.time += EXPIRY_MS;
    await erase(grantId);
    expect(Buffer.from((await vault.get(person, grantId))!).toString()).toBe(JSON.stringify(WORDS));
  });

  it('are due until their destruction is recorded, even if a process dies before the record', async () => {
    const dies = () => Promise.reject(new Error('killed'));
    for (const [on, by] of [
      [{ erase: dies } as unknown as Vault, aggregates],
      [
        vault,
        new AggregateStore(
          { readStream: (stream: string) => store.readStream(stream), append: dies } as unknown as EmbeddedEventStore,
          {} as never,
          clock,
          { appendConflict: () => undefined },
        ),
      ],
    ] as const) {
      const grantId = await mint();
      clock.time += EXPIRY_MS;
      await expect(erase(grantId, on, by)).rejects.toThrow('killed');
      expect(await due(grantId)).toEqual([grantId]);
      await erase(grantId);
      expect([await due(grantId), await typesOf(grantId)]).toEqual([[], ['GrantMinted', 'GrantDetailsErased']]);
      await expect(vault.get(subjectOf(grantId), grantId)).rejects.toThrow(SubjectErased);
    }
  });

  it('are removed from the vault subject that an earlier version used for several grants, and the details of the other grants stay', async () => {
    const [grantId, other, shared] = [newId(), newId(), derivedId('session-grants', accountId)];
    for (const id of [grantId, other]) {
      await vault.put(shared, id, Buffer.from(JSON.stringify(WORDS)));
      const terms = {
        mintedBy: accountId,
        onBehalfOf: null,
        environment: 'test',
        userType: null,
        recipientAccountId: null,
        detailsSubject: shared,
        tokenHash: 'hash',
        expiresAt: clock.now().toISOString(),
      } as const;
      await aggregates.execute(sessionGrant, id, { kind: 'mint', terms }, CONTEXT);
    }
    clock.time += EXPIRY_MS;
    await erase(grantId);
    expect([await vault.get(shared, grantId), Buffer.from((await vault.get(shared, other))!).toString()]).toEqual([
      null,
      JSON.stringify(WORDS),
    ]);
  });

  it('are only at the place that the log names when another process moves or erases them first', async () => {
    const wordsOf = async (subject: string, grantId: string) => (await vault.get(subject, grantId))?.toString() ?? null;
    const first = newId();
    for (const faster of [erase, (grantId: string) => move(grantId, first)]) {
      const [grantId, person] = [await mint(), newId()];
      clock.time += EXPIRY_MS;
      // The other process acts after the details were read and before they are stored under the person's subject.
      const overtaken = new Proxy(vault, {
        get: (target, name) => {
          if (name === 'put')
            return async (...args: Parameters<Vault['put']>) => (await faster(grantId), target.put(...args));
          const member: unknown = Reflect.get(target, name);
          return typeof member === 'function' ? (member.bind(target) as unknown) : member;
        },
      });
      await new AccountGrants(aggregates, new GrantDetails(overtaken), clock).moveDetails(grantId, person, CONTEXT);
      expect(await typesOf(grantId)).toEqual([
        'GrantMinted',
        faster === erase ? 'GrantDetailsErased' : 'GrantDetailsEntrusted',
      ]);
      expect(await wordsOf(person, grantId)).toBeNull();
      expect(await wordsOf(first, grantId)).toEqual(faster === erase ? null : expect.anything());
    }
  });

  it('are in at most one place and recorded once when a session begins at the same time', async () => {
    for (let round = 0; round < 20; round++) {
      const [grantId, person] = [await mint(), newId()];
      clock.time += EXPIRY_MS;
      await Promise.all([erase(grantId), move(grantId, person)]);
      await expect(vault.get(subjectOf(grantId), grantId)).rejects.toThrow(SubjectErased);
      const types = await typesOf(grantId);
      expect([
        ['GrantMinted', 'GrantDetailsErased'],
        ['GrantMinted', 'GrantDetailsEntrusted'],
      ]).toContainEqual(types);
      // When the details were destroyed before they were read, the log may say "moved" although the person has no
      // details.
      if (types[1] === 'GrantDetailsErased') expect(await vault.get(person, grantId)).toBeNull();
    }
  });
});
