// Prepaid credit as other modules use it, on a real store, with the aggregates of two processes.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { EmbeddedEventStore } from '../../../src/adapters/event-store/embedded.js';
import { SystemClock } from '../../../src/kernel/clock.js';
import { systemContext } from '../../../src/kernel/context.js';
import { newId } from '../../../src/kernel/ids.js';
import { AccountCredit } from '../../../src/modules/accounts/application/account-credit.js';
import { credit } from '../../../src/modules/accounts/domain/credit.js';
import { GroupedStream } from '../../../src/platform/aggregates/grouped-stream.js';
import type { AccountFacts, Accounts } from '../../../src/published/accounts.js';

const CONTEXT = systemContext('test', { accountId: 'reader', environment: 'test' });

describe('prepaid credit', () => {
  let directory: string;
  let store: EmbeddedEventStore;
  let accountId: string;
  let settings: Pick<AccountFacts, 'connectedPaymentAccount' | 'prepaidBilling'> | null;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'credit-'));
    store = EmbeddedEventStore.open({ directory, mapSizeBytes: 64 * 2 ** 20 });
  });
  afterAll(async () => {
    await store.close();
    await rm(directory, { recursive: true, force: true });
  });
  beforeEach(() => {
    accountId = newId();
    settings = { connectedPaymentAccount: null, prepaidBilling: true };
  });

  const accounts = { find: async () => settings } as unknown as Accounts;
  const streams = (): GroupedStream => new GroupedStream(store, new SystemClock(), { appendConflict: () => undefined });
  const process = (): AccountCredit => new AccountCredit(streams(), accounts);
  const add = (credits: number) =>
    streams().execute(credit, accountId, { kind: 'add', credits, reference: newId() }, CONTEXT);
  const balance = async () => (await streams().load(credit, accountId)).state;

  it('is set aside, debited and released, and a repeated command changes nothing', async () => {
    await add(2);
    const ours = process();
    expect(await ours.available(accountId, 'a')).toBe(true);
    for (const _ of [1, 2]) expect(await ours.reserve(accountId, 'a', CONTEXT, 'session')).toBe(true);
    expect(await ours.reserve(accountId, 'b', CONTEXT, 'session')).toBe(true);
    expect(await ours.reserve(accountId, 'c', CONTEXT, 'session')).toBe(false);
    expect([await ours.available(accountId, 'b'), await ours.available(accountId, 'c')]).toEqual([true, false]);
    for (const _ of [1, 2]) await ours.debit(accountId, 'a', CONTEXT, 'session');
    for (const _ of [1, 2]) await ours.release(accountId, 'b', CONTEXT, 'session');
    expect(await balance()).toMatchObject({ balance: 1, reserved: [] });
    // A reservation gets the same answer each time, even after it is settled.
    for (const [id, answer] of [
      ['a', true],
      ['b', true],
      ['c', false],
    ] as const)
      expect(await process().reserve(accountId, id, CONTEXT, 'session')).toBe(answer);
    expect((await store.readStream(`credit-${accountId}`)).map(({ type }) => type)).toEqual([
      'CreditAdded',
      'CreditReserved',
      'CreditReserved',
      'CreditRefused',
      'CreditDebited',
      'CreditReleased',
    ]);
  });

  it('records the account that has the credit and the actor who used it', async () => {
    await add(1);
    await process().reserve(accountId, 'a', CONTEXT, 'session');
    expect((await store.readStream(`credit-${accountId}`)).at(-1)?.metadata).toMatchObject({
      accountId,
      environment: 'test',
      actor: CONTEXT.actor,
      $correlationId: CONTEXT.correlationId,
    });
  });

  it('is not needed when the account pays only through its payment account; no event is recorded', async () => {
    settings = { connectedPaymentAccount: 'acct_1', prepaidBilling: false };
    const ours = process();
    expect(await ours.available(accountId, 'a')).toBe(true);
    expect(await ours.reserve(accountId, 'a', CONTEXT, 'session')).toBe(true);
    await ours.debit(accountId, 'a', CONTEXT, 'session');
    await ours.release(accountId, 'a', CONTEXT, 'session');
    expect(await store.readStream(`credit-${accountId}`)).toEqual([]);
  });

  it('is debited when it was set aside, even if the account no longer needs credit', async () => {
    await add(1);
    expect(await process().reserve(accountId, 'a', CONTEXT, 'session')).toBe(true);
    settings = { connectedPaymentAccount: 'acct_1', prepaidBilling: false };
    await process().debit(accountId, 'a', CONTEXT, 'session');
    expect(await balance()).toMatchObject({ balance: 0, reserved: [], settled: ['a'] });
  });

  it('is refused to an account that does not exist', async () => {
    settings = null;
    expect(await process().available(accountId, 'a')).toBe(false);
    expect(await process().reserve(accountId, 'a', CONTEXT, 'session')).toBe(false);
  });

  it('is not overdrawn when two processes reserve at the same time', async () => {
    await add(10);
    const both = [process(), process()];
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        both[index % 2]!.reserve(accountId, `r-${index % 30}`, CONTEXT, 'session'),
      ),
    );
    expect(await balance()).toMatchObject({ balance: 0 });
    const { reserved } = await balance();
    expect(reserved).toHaveLength(10);
    answers.forEach((answer, index) => expect([index, answer]).toEqual([index, reserved.includes(`r-${index % 30}`)]));
  });

  it('pays for a hundred simultaneous reports of one account in one process', async () => {
    await add(100);
    const ours = process();
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) => ours.reserve(accountId, `r-${index}`, CONTEXT, 'session')),
    );
    expect(answers.every(Boolean)).toBe(true);
    await Promise.all(
      Array.from({ length: 100 }, (_, index) => ours.debit(accountId, `r-${index}`, CONTEXT, 'session')),
    );
    expect(await balance()).toMatchObject({ balance: 0, reserved: [] });
  });
});
