// The directories of accounts and keys on a real event store, with a real Redis.
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EmbeddedEventStore } from '../../src/adapters/event-store/embedded.js';
import type { RecordedEvent } from '../../src/kernel/domain-event.js';
import { newId } from '../../src/kernel/ids.js';
import { DeactivateKey, DeactivateKeyHandler } from '../../src/modules/accounts/application/deactivate-key.js';
import { IssueKey, IssueKeyHandler } from '../../src/modules/accounts/application/issue-key.js';
import { LimitExchanges, LimitExchangesHandler } from '../../src/modules/accounts/application/limit-exchanges.js';
import { OpenAccount, OpenAccountHandler } from '../../src/modules/accounts/application/open-account.js';
import { SetSettings, SetSettingsHandler } from '../../src/modules/accounts/application/set-settings.js';
import { VendorRules } from '../../src/modules/accounts/application/vendor-rules.js';
import type { KeyUse } from '../../src/modules/accounts/domain/access-key.js';
import type { SettingsToSet } from '../../src/modules/accounts/domain/account.js';
import { writeKey } from '../../src/modules/accounts/domain/key-text.js';
import { AccessKeyDirectory, accessKeyProjection } from '../../src/modules/accounts/read/access-keys.js';
import { AccountDirectory, accountProjection } from '../../src/modules/accounts/read/accounts.js';
import { AggregateStore } from '../../src/platform/aggregates/aggregate-store.js';
import { Vendors, type ChargedCurrency, type VendorLimits } from '../../src/ports/vendors.js';
import { CURRENCIES } from '../../src/vendors/stripe/currencies.js';
import { readModelsIn } from '../support/read-models.js';
import { RedisServer } from '../support/redis.js';
import { SetClock } from '../support/clock.js';

const OPERATOR = {
  accountId: null,
  environment: null,
  actor: { kind: 'operator', id: 'tester' },
  correlationId: newId(),
  causationId: newId(),
} as const;
const PUBLISHABLE: KeyUse = { kind: 'publishable', allowedOrigins: ['https://app.example.test'], perMinute: null };

/**
 * acme verifies identities, and gives reports only on people that it has verified. idv and voie are installed as usual.
 */
class PlayedVendors extends Vendors {
  override speaksDirect(): boolean {
    return false;
  }

  override choices(capability: string): readonly string[] {
    return this.offering(capability);
  }
  override offering(capability: string): readonly string[] {
    return { income: ['voie'], payment: ['stripe', 'only-yen'] }[capability] ?? ['acme', 'idv'];
  }
  override knowsPersonBy(_capability: string, vendor: string, identityVendor: string): 'session' | null {
    return vendor === identityVendor ? 'session' : null;
  }
  override having(): readonly string[] {
    return ['acme', 'idv', 'voie'];
  }
  override limitsOf(): VendorLimits {
    return {};
  }
  override certifiedAs(): string | null {
    return null;
  }
  override currency(code: string, processor?: string): ChargedCurrency | null {
    return processor === 'only-yen' && code !== 'jpy' ? null : (CURRENCIES[code] ?? null);
  }
}

describe('the directories of accounts and keys', () => {
  const vendors = new VendorRules(new PlayedVendors());
  const clock = new SetClock(Date.now());
  let folder: string;
  let redis: RedisServer;
  let store: EmbeddedEventStore;
  let aggregates: AggregateStore;
  let accounts: AccountDirectory;
  let keys: AccessKeyDirectory;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'accounts-'));
    redis = await RedisServer.start();
    store = EmbeddedEventStore.open({ directory: folder });
    const readModels = readModelsIn(redis, store, [accountProjection, accessKeyProjection]);
    aggregates = new AggregateStore(store, readModels, clock, { appendConflict: () => undefined });
    accounts = new AccountDirectory(store, { production: true, testVendors: true }, clock, readModels);
    keys = new AccessKeyDirectory(store, accounts, clock);
  });

  afterAll(async () => {
    await store.close();
    await redis.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function open(settings: SettingsToSet = {}, parentId: string | null = null): Promise<string> {
    const accountId = newId();
    await new OpenAccountHandler(aggregates, vendors).execute(
      new OpenAccount({ accountId, name: 'Acme', parentId, settings }, OPERATOR),
    );
    return accountId;
  }
  const set = (accountId: string, settings: SettingsToSet) =>
    new SetSettingsHandler(aggregates, vendors).execute(new SetSettings(accountId, settings, OPERATOR));

  const issue = (accountId: string, use: KeyUse, environment: 'live' | 'test' = 'test') =>
    new IssueKeyHandler(aggregates).execute(new IssueKey({ accountId, environment, use }, OPERATOR));
  const deactivate = (keyId: string) =>
    new DeactivateKeyHandler(aggregates).execute(new DeactivateKey(keyId, OPERATOR));

  it('find an account with settings that are at most a second old', async () => {
    const parentId = await open();
    const accountId = await open({ feeCents: 3_500, payer: 'consumer', prepaidBilling: true }, parentId);
    const facts = {
      accountId,
      parentId,
      feeCents: 3_500,
      consumerPays: true,
      prepaidBilling: true,
      provisionedForLive: false,
      currency: 'usd',
    };
    expect(await accounts.find(accountId)).toMatchObject(facts);
    await set(accountId, { feeCents: 100, payer: 'account' });
    expect(await accounts.find(accountId)).toMatchObject(facts);
    expect(await accounts.read(accountId)).toMatchObject({ feeCents: 100, consumerPays: false });
    clock.time += 1_000;
    expect(await accounts.find(accountId)).toMatchObject({ feeCents: 100, consumerPays: false });
  });

  it('read the parent of an account and the facts of a key from the log, even if Redis has other values', async () => {
    const [owner, stranger] = [await open(), await open()];
    const { keyId, key } = await issue(stranger, PUBLISHABLE);
    const client = redis.client();
    for (const name of await client.keys('*')) await client.del(name);
    await client.quit();
    clock.time += 30_000;
    expect(await accounts.mayRead(owner, stranger)).toBe(false);
    expect(await accounts.find(owner)).toMatchObject({ accountId: owner, parentId: null });
    expect(await keys.publishable(key)).toMatchObject({ keyId, accountId: stranger });
  });

  it('do not find an account that was never opened, and find it as soon as it is opened', async () => {
    expect(await accounts.find(newId())).toBeNull();
    const id = newId();
    expect(await accounts.find(id)).toBeNull();
    await new OpenAccountHandler(aggregates, vendors).execute(
      new OpenAccount({ accountId: id, name: 'Acme', parentId: null, settings: {} }, OPERATOR),
    );
    expect(await accounts.find(id)).not.toBeNull();
  });

  it('have the vendors that an account has chosen, and refuse vendors that are not installed', async () => {
    const accountId = await open();
    const vendorsOf = async (id: string): Promise<unknown> => (await accounts.read(id))?.vendors;
    expect(await vendorsOf(accountId)).toEqual({});
    await set(accountId, { vendors: { identity: 'acme', credit: 'acme' } });
    expect(await vendorsOf(accountId)).toEqual({ identity: 'acme', credit: 'acme' });
    expect(await vendorsOf(await open({ vendors: { identity: 'acme', credit: 'acme' } }))).toEqual({
      identity: 'acme',
      credit: 'acme',
    });
    await set(accountId, { vendors: { credit: null, identity: null } });
    expect(await vendorsOf(accountId)).toEqual({});
    for (const [income, said] of [
      ['acme', 'The income vendor must be one of voie.'],
      ['', 'The income vendor must be one of voie.'],
    ] as const)
      await expect(set(accountId, { vendors: { income } })).rejects.toMatchObject({
        code: 'request.invalid',
        detail: { details: [{ field: 'income-vendor', message: said }] },
      });
    await expect(open({ vendors: { identity: 'nobody' } })).rejects.toMatchObject({
      detail: { details: [{ field: 'identity-vendor', message: 'The identity vendor must be one of acme, idv.' }] },
    });
  });

  it('refuse a credit vendor that cannot report on people verified by the identity vendor', async () => {
    const refused = { code: 'request.invalid', detail: { field: 'credit-vendor' } };
    await expect(open({ vendors: { identity: 'acme' } })).rejects.toMatchObject(refused);
    const accountId = await open();
    await expect(set(accountId, { vendors: { credit: 'acme' } })).rejects.toMatchObject(refused);
    const acme = await open({ vendors: { identity: 'acme', credit: 'acme' } });
    for (const capability of ['identity', 'credit'])
      await expect(set(acme, { vendors: { [capability]: null } })).rejects.toMatchObject(refused);
  });

  it('refuse a payment processor that does not charge the currency of the account', async () => {
    const accountId = await open();
    const refused = { code: 'request.invalid', detail: { field: 'currency' } };
    await expect(set(accountId, { vendors: { payment: 'only-yen' } })).rejects.toMatchObject(refused);
    await set(accountId, { currency: 'jpy', feeCents: 0, vendors: { payment: 'only-yen' } });
    await expect(set(accountId, { currency: 'usd' })).rejects.toMatchObject(refused);
    expect((await accounts.read(accountId))?.vendors).toEqual({ payment: 'only-yen' });
  });

  it('refuse an account under an unknown parent, and a key for an unknown account', async () => {
    await expect(open({}, newId())).rejects.toMatchObject({
      code: 'request.invalid',
      detail: { field: 'parent' },
    });
    await expect(issue(newId(), { kind: 'secret' })).rejects.toMatchObject({ code: 'request.not_found' });
  });

  it('let test traffic reach vendors when the test environment has vendors', async () => {
    const plain = (await accounts.find(await open()))!;
    const without = new AccountDirectory(null as never, { production: true, testVendors: false }, clock, null as never);
    expect([accounts.mayReachVendors(plain, 'test'), without.mayReachVendors(plain, 'test')]).toEqual([true, false]);
  });

  it('let live traffic reach vendors only in production and from provisioned accounts', async () => {
    const plain = (await accounts.find(await open()))!;
    const provisioned = (await accounts.find(await open({ provisionedForLive: true })))!;
    const elsewhere = new AccountDirectory(
      null as never,
      { production: false, testVendors: true },
      clock,
      null as never,
    );
    expect([plain, provisioned].map((account) => accounts.mayReachVendors(account, 'live'))).toEqual([false, true]);
    expect([plain, provisioned].map((account) => accounts.mayReachVendors(account, 'test'))).toEqual([true, true]);
    expect([plain, provisioned].map((account) => elsewhere.mayReachVendors(account, 'live'))).toEqual([false, false]);
  });

  it('accept a secret key or API key until it is deactivated', async () => {
    const accountId = await open();
    const secret = await issue(accountId, { kind: 'secret' }, 'live');
    const api = await issue(accountId, { kind: 'api', clientClass: 'first_party' });
    expect(await keys.authenticate('secret', secret.key)).toEqual({
      keyId: secret.keyId,
      accountId,
      environment: 'live',
    });
    expect(await keys.authenticate('api', api.key)).toEqual({
      keyId: api.keyId,
      accountId,
      environment: 'test',
      clientClass: 'first_party',
    });
    await deactivate(secret.keyId);
    await deactivate(api.keyId);
    expect(await keys.authenticate('secret', secret.key)).toBeNull();
    expect(await keys.authenticate('api', api.key)).toBeNull();
  });

  it('refuse every other text as a key', async () => {
    const accountId = await open();
    const { keyId, key } = await issue(accountId, { kind: 'secret' });
    const { key: publishable } = await issue(accountId, PUBLISHABLE);
    const forged = [
      '',
      'sk_test_',
      `${key} `,
      key.slice(0, -1),
      `${key}A`,
      key.replace('sk_test', 'sk_live'),
      key.replace('sk_', 'ak_'),
      writeKey('secret', 'test', keyId, randomBytes(32)),
      writeKey('secret', 'test', newId(), randomBytes(32)),
      publishable,
      'sk_test_../../x',
      'sk_test_\u0000',
    ];
    for (const text of forged) expect([text, await keys.authenticate('secret', text)]).toEqual([text, null]);
    expect(await keys.authenticate('api', key)).toBeNull();
    expect(await keys.publishable(key)).toBeNull();
  });

  it('return facts of a publishable key that are at most 30 seconds old', async () => {
    const accountId = await open();
    const { keyId, key } = await issue(accountId, PUBLISHABLE);
    expect(await keys.publishable(key)).toEqual({
      keyId,
      accountId,
      environment: 'test',
      active: true,
      allowedOrigins: ['https://app.example.test'],
      exchangesPerMinute: null,
    });
    await deactivate(keyId);
    clock.time += 29_999;
    expect(await keys.publishable(key)).toMatchObject({ active: true });
    clock.time += 1;
    expect(await keys.publishable(key)).toMatchObject({ active: false });
  });

  it('give a publishable key its own limit, or else the limit of its account', async () => {
    const accountId = await open({ exchangesPerMinute: 600 });
    const { keyId, key } = await issue(accountId, PUBLISHABLE);
    expect(await keys.publishable(key)).toMatchObject({ exchangesPerMinute: 600 });
    await new LimitExchangesHandler(aggregates).execute(new LimitExchanges(keyId, 5, OPERATOR));
    clock.time += 30_000;
    expect(await keys.publishable(key)).toMatchObject({ exchangesPerMinute: 5 });
  });

  it('store neither the text of a key nor its random part', async () => {
    const { key } = await issue(await open(), { kind: 'secret' });
    const log = JSON.stringify(await store.readAll(null, 10_000));
    expect(log).not.toContain(key);
    expect(log).not.toContain(key.slice(-43));
  });

  it('record the account, the environment and the actor with every event', async () => {
    const accountId = await open();
    const { keyId } = await issue(accountId, PUBLISHABLE, 'live');
    await deactivate(keyId);
    const [opened] = await store.readStream(`account-${accountId}`);
    expect(opened?.metadata).toMatchObject({ accountId, environment: null, actor: { kind: 'operator', id: 'tester' } });
    for (const event of await store.readStream(`access_key-${keyId}`))
      expect(event.metadata).toMatchObject({ accountId, environment: 'live' });
  });

  it.each([accountProjection, accessKeyProjection])('$name throws an error at an unknown event', ({ evolve }) => {
    expect(() => evolve(null, { type: 'SomethingElse', data: {}, stream: 'x-1' } as RecordedEvent)).toThrow(
      'SomethingElse',
    );
  });

  it('give the same answers after Redis has lost all data', async () => {
    const accountId = await open({ feeCents: 5 });
    const { keyId } = await issue(accountId, PUBLISHABLE);
    await deactivate(keyId);
    const before = [await accounts.read(accountId), await keys.read(keyId)];
    await redis.flush();
    expect([await accounts.read(accountId), await keys.read(keyId)]).toEqual(before);
  });
});
