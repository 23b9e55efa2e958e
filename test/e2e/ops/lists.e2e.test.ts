// The lists of the operator command line: filters, pages, and what a wrong filter is told.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EndpointOwner } from '../../support/endpoint-owner.js';
import { until } from '../../support/eventually.js';
import { runOperatorCommand } from '../../support/operator.js';
import { type Credentials, Service } from '../../support/service.js';

type Listed = Readonly<Record<string, any>>;

let service: Service;
let accounts: Credentials['accounts'];

beforeAll(async () => {
  service = await Service.shared('plain');
  ({ accounts } = await service.credentials());
});
afterAll(() => service.stop());

async function ops(
  ...args: string[]
): Promise<{ readonly items: Listed[]; readonly cursor: string | null; readonly told: string }> {
  const { exitCode, stdout, stderr } = await runOperatorCommand(args, service.env);
  if (exitCode !== 0) throw new Error(`ops ${args.join(' ')} ended with ${exitCode}: ${stderr}`);
  const items =
    stdout === ''
      ? []
      : stdout
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line) as Listed);
  return { items, cursor: /--cursor (\S+)/.exec(stderr)?.[1] ?? null, told: stderr };
}

/** The fields of all entries, page by page. */
async function walk(field: string, ...args: string[]): Promise<unknown[][]> {
  const pages: unknown[][] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const page: Awaited<ReturnType<typeof ops>> = await ops(...args, ...(cursor === '' ? [] : ['--cursor', cursor]));
    pages.push(page.items.map((item) => item[field]));
    cursor = page.cursor;
  }
  return pages;
}

async function refusal(...args: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await runOperatorCommand(args, service.env);
  expect([exitCode, stdout]).toEqual([1, '']);
  return stderr.trim();
}

describe('screenings', () => {
  /** Named by what is special about each session, the oldest first. */
  const made: Record<string, string> = {};
  const named = (items: readonly Listed[]): string[] =>
    items.map(({ session }) => Object.keys(made).find((name) => made[name] === session) ?? session);
  const listed = async (...args: string[]): Promise<string[]> =>
    named((await ops('screenings', 'list', ...args)).items);
  let ofAccount: string[];

  beforeAll(async () => {
    ofAccount = ['--account', accounts.nopay.accountId];
    const page = await service.signIn('nopay');
    const opened = async (name: string, person: Listed, caller = page): Promise<void> => {
      const { body } = await caller.submit(person);
      made[name] = body.id ?? body.error.sessionId;
    };
    await opened('waiting', { lastName: 'Otptest' });
    await opened('completed', {});
    await opened('agent', { userType: 'AGENT' });
    await opened('refused', { lastName: 'Fraudtest' });
    const external_id = 'Lease 7, Ada';
    await opened('lease', {}, await service.signInUnderGrant('nopay', { external_id }));
    await opened('lease waiting', { lastName: 'Otptest' }, await service.signInUnderGrant('nopay', { external_id }));
    await opened('other account', {}, await service.signInUnderGrant('demo', { external_id }));
  });

  it('the list of an account has its sessions, the newest first, and no personal data', async () => {
    const { items } = await ops('screenings', 'list', ...ofAccount);
    expect(named(items)).toEqual(['lease waiting', 'lease', 'refused', 'agent', 'completed', 'waiting']);
    expect(items.at(-1)).toEqual({
      session: made['waiting'],
      accountId: accounts.nopay.accountId,
      environment: 'test',
      userType: 'CONSUMER',
      status: 'STEP_UP_REQUIRED',
      attemptsRemaining: expect.any(Number),
      overdueAt: expect.any(String),
      paymentStatus: 'NOT_REQUIRED',
      overallStatus: 'STEP_UP_REQUIRED',
      transactionId: null,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
      refundedAt: null,
      revision: expect.any(Number),
    });
    expect(JSON.stringify(items)).not.toMatch(/Lease|Otptest|Ada/);
  });

  it.each([
    [
      ['--status', 'STEP_UP_REQUIRED'],
      ['lease waiting', 'waiting'],
    ],
    [
      ['--status', 'VERIFIED'],
      ['lease', 'agent', 'completed'],
    ],
    [['--status', 'BLOCKED'], ['refused']],
    [['--status', 'ERROR'], []],
    [
      ['--overall-status', 'COMPLETED'],
      ['lease', 'agent', 'completed'],
    ],
    [['--overall-status', 'PAYMENT_PENDING'], []],
    [
      ['--status', 'VERIFIED', '--overall-status', 'COMPLETED'],
      ['lease', 'agent', 'completed'],
    ],
    [['--status', 'BLOCKED', '--overall-status', 'COMPLETED'], []],
    [['--user-type', 'AGENT'], ['agent']],
    [
      ['--user-type', 'CONSUMER', '--status', 'VERIFIED'],
      ['lease', 'completed'],
    ],
    [['--environment', 'test', '--status', 'BLOCKED'], ['refused']],
    [['--environment', 'live'], []],
    [
      ['--external-id', 'Lease 7, Ada'],
      ['lease waiting', 'lease'],
    ],
    [['--external-id', 'Lease 7, Ada', '--status', 'VERIFIED'], ['lease']],
    [['--external-id', 'lease 7, Ada'], []],
  ])('a filter leaves the sessions that it names: %j', async (filter, expected) => {
    expect(await listed(...ofAccount, ...filter)).toEqual(expected);
  });

  it('the same external id of another account finds the sessions of that account', async () => {
    const ofDemo = ['--account', accounts.demo.accountId, '--external-id', 'Lease 7, Ada'];
    expect(await listed(...ofDemo)).toEqual(['other account']);
    expect(await listed(...ofDemo, '--overall-status', 'PAYMENT_PENDING')).toEqual(['other account']);
  });

  it('a list that names no account has the sessions of all accounts', async () => {
    const all = await listed('--limit', '1000');
    expect(all).toEqual(expect.arrayContaining(Object.keys(made)));
    // Sessions of earlier suites can be verified later than these.
    expect(await listed('--status', 'VERIFIED', '--limit', '1')).toHaveLength(1);
    expect(await listed('--status', 'VERIFIED', '--limit', '1000')).toContain('other account');
  });

  it('each page names the cursor of the next one, and says how many sessions the list has', async () => {
    const first = await ops('screenings', 'list', ...ofAccount, '--limit', '4');
    expect(first.told).toMatch(/^There are more, 6 in all\. The next page: --cursor \S+\n$/);
    const pages = await walk('session', 'screenings', 'list', ...ofAccount, '--limit', '4');
    expect(pages.map(({ length }) => length)).toEqual([4, 2]);
    expect(named(pages.flat().map((session) => ({ session })))).toEqual(await listed(...ofAccount));
    const merged = await walk('session', 'screenings', 'list', ...ofAccount, '--status', 'VERIFIED', '--limit', '2');
    expect(merged.map((page) => named(page.map((session) => ({ session }))))).toEqual([
      ['lease', 'agent'],
      ['completed'],
    ]);
  });

  it('a session of the moment of --from is listed, and one of the moment of --to is not', async () => {
    const { items } = await ops('screenings', 'list', ...ofAccount);
    const [from, to] = ['completed', 'refused'].map(
      (name) => items.find(({ session }) => session === made[name])?.['createdAt'],
    );
    expect(await listed(...ofAccount, '--from', from, '--to', to)).toEqual(['agent', 'completed']);
    const pages = await walk('session', 'screenings', 'list', ...ofAccount, '--from', from, '--to', to, '--limit', '1');
    expect(pages.flat()).toEqual([made['agent'], made['completed']]);
    expect(await listed(...ofAccount, '--to', from)).toEqual(['waiting']);
  });

  it('`show` prints one session, and refuses an id that no session has', async () => {
    const shown = (await ops('screenings', 'show', made['agent'] as string)).items;
    expect(shown).toMatchObject([{ session: made['agent'], userType: 'AGENT', status: 'VERIFIED' }]);
    for (const id of ['nope', accounts.nopay.accountId])
      expect(await refusal('screenings', 'show', id)).toBe(`There is no screening session ${id}.`);
  });
});

describe('payments', () => {
  let ofAccount: string[];
  let sessions: string[];
  let transactions: string[];

  beforeAll(async () => {
    ofAccount = ['--account', accounts.child.accountId];
    const page = await service.signIn('child');
    [sessions, transactions] = [[], []];
    for (const amount of [3_500, 4_000]) {
      const { id } = (await page.submit()).body;
      const intent = await page.post('/payments/create-intent', { amount, screeningId: id });
      sessions.push(id);
      transactions.push(intent.body.transaction_id);
    }
  });

  it('the list of an account has its payments, the newest first, under the ids that the holder knows', async () => {
    const { items } = await ops('payments', 'list', ...ofAccount);
    expect(items.map(({ transaction }) => transaction)).toEqual([...transactions].reverse());
    expect(items[0]).toEqual({
      transaction: transactions[1],
      accountId: accounts.child.accountId,
      environment: 'test',
      sessionId: sessions[1],
      status: 'PENDING',
      amountCents: 4_000,
      currency: 'usd',
      refundedCents: 0,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
  });

  it.each([
    [
      ['--status', 'PENDING'],
      [1, 0],
    ],
    [['--status', 'SUCCEEDED'], []],
    [['--environment', 'live'], []],
    [['--session', 0], [0]],
    [['--session', 0, '--status', 'PENDING'], [0]],
    [['--session', 0, '--status', 'FAILED'], []],
  ])('a filter leaves the payments that it names: %j', async (filter, expected) => {
    const words = filter.map((word) => (typeof word === 'number' ? (sessions[word] ?? '') : word));
    const { items } = await ops('payments', 'list', ...ofAccount, ...words);
    expect(items.map(({ transaction }) => transactions.indexOf(transaction))).toEqual(expected);
  });

  it('each page names the cursor of the next one', async () => {
    expect(await walk('transaction', 'payments', 'list', ...ofAccount, '--limit', '1')).toEqual([
      [transactions[1]],
      [transactions[0]],
    ]);
  });

  it('a list that names no account has the payments of all accounts', async () => {
    const { items } = await ops('payments', 'list', '--status', 'PENDING', '--limit', '1000');
    expect(items.map(({ transaction }) => transaction)).toEqual(expect.arrayContaining(transactions));
  });
});

describe('endpoints and deliveries', () => {
  const NAMES = ['demo', 'unrelated'] as const;
  let owners: EndpointOwner[];
  let ids: string[];

  beforeAll(async () => {
    owners = NAMES.map((name) => new EndpointOwner(service, accounts[name]));
    ids = [];
    for (const owner of owners) ids.push(await owner.register('https://127.0.0.1:1/closed'));
    const [page, other] = [await service.signIn('demo'), await service.signIn('unrelated')];
    for (const caller of [page, other, page]) await caller.submit({ lastName: 'Otptest' });
    await until(
      'each event has a delivery that waits for its second attempt',
      async () =>
        (await Promise.all(owners.map((owner) => owner.deliveries({ status: 'retrying' })))).flat().length >= 3,
    );
  });
  afterAll(() => Promise.all(owners.map((owner) => owner.remove())));

  const of = (name: (typeof NAMES)[number]): string[] => ['--account', accounts[name].accountId];
  const deliveriesOf = async (owner: EndpointOwner | undefined): Promise<string[]> =>
    (await owner?.deliveries())?.map(({ delivery_id: id }) => id) ?? [];

  it('endpoints are listed with their account and state', async () => {
    const { items } = await ops('endpoints', 'list', '--limit', '1000');
    expect(items.filter(({ endpointId }) => ids.includes(endpointId))).toHaveLength(2);
    expect((await ops('endpoints', 'list', ...of('demo'))).items).toEqual([
      {
        endpointId: ids[0],
        accountId: accounts.demo.accountId,
        status: 'active',
        url: 'https://127.0.0.1:1/closed',
        enabledEvents: null,
        consecutiveFailures: 0,
        disabledReason: null,
        createdAt: expect.any(String),
        updatedAt: expect.any(String),
        statusAt: expect.any(String),
      },
    ]);
    expect((await ops('endpoints', 'list', ...of('demo'), '--status', 'disabled')).items).toEqual([]);
    expect((await ops('endpoints', 'list', '--account', accounts.broke.accountId)).items).toEqual([]);
    const active = await walk('endpointId', 'endpoints', 'list', '--status', 'active', '--limit', '1');
    expect(active.flat()).toEqual(expect.arrayContaining(ids));
    expect(new Set(active.flat()).size).toBe(active.flat().length);
  });

  it('the deliveries of an account are listed, the newest first, page by page', async () => {
    const expected = await deliveriesOf(owners[0]);
    expect(expected.length).toBeGreaterThanOrEqual(2);
    expect((await walk('deliveryId', 'deliveries', 'list', ...of('demo'), '--limit', '1')).flat()).toEqual(expected);
    const { items } = await ops('deliveries', 'list', ...of('demo'), '--status', 'retrying');
    expect(items[0]).toMatchObject({ endpointId: ids[0], environment: 'test', status: 'retrying', attempts: 1 });
    const type = items[0]?.['eventType'];
    expect((await ops('deliveries', 'list', ...of('demo'), '--event-type', type)).items.length).toBeGreaterThan(0);
    for (const filter of [
      ['--event-type', 'ping'],
      ['--status', 'exhausted'],
    ])
      expect((await ops('deliveries', 'list', ...of('demo'), ...filter)).items).toEqual([]);
  });

  it('a list that names no account has the deliveries of all accounts, the newest first', async () => {
    const expected = [...(await deliveriesOf(owners[0])), ...(await deliveriesOf(owners[1]))].sort().reverse();
    const ours = (all: readonly unknown[]): unknown[] => all.filter((id) => expected.includes(id as string));
    for (const filter of [[], ['--status', 'retrying']])
      expect(ours((await walk('deliveryId', 'deliveries', 'list', '--limit', '100', ...filter)).flat())).toEqual(
        expected,
      );
    expect(ours((await walk('deliveryId', 'deliveries', 'list', '--status', 'succeeded')).flat())).toEqual([]);
  });
});

it('accounts are listed page by page, in the order of their ids, or all at once if no limit is given', async () => {
  const children = (await ops('accounts', 'list', '--parent', accounts.demo.accountId)).items;
  const ids = children.map(({ accountId }) => accountId);
  expect(ids).toContain(accounts.child.accountId);
  expect(ids).toEqual([...ids].sort());
  const pages = await walk('accountId', 'accounts', 'list', '--parent', accounts.demo.accountId, '--limit', '1');
  expect(pages).toEqual(ids.map((id) => [id]));
  expect(children[0]).toMatchObject({ parentId: accounts.demo.accountId, brand: { displayName: expect.any(String) } });
});

describe('a wrong filter', () => {
  it.each([
    [
      'screenings',
      '--status',
      'DONE',
      '--status must be one of SUBMITTED, STEP_UP_REQUIRED, OTP_PENDING, KBA_PENDING, BLOCKED, EXPIRED, ERROR, VERIFIED.',
    ],
    [
      'screenings',
      '--overall-status',
      'VERIFIED',
      '--overall-status must be one of SUBMITTED, STEP_UP_REQUIRED, OTP_PENDING, KBA_PENDING, BLOCKED, EXPIRED, ERROR, COMPLETED, PAYMENT_PENDING, PAYMENT_FAILED.',
    ],
    ['screenings', '--user-type', 'agent', '--user-type must be one of CONSUMER, AGENT, PMC.'],
    ['screenings', '--environment', 'prod', '--environment must be one of live, test.'],
    ['screenings', '--account', 'acme', 'The account must be an id such as 01234567-89ab-7cde-8f01-23456789abcd.'],
    ['screenings', '--from', 'yesterday', '--from must be an ISO 8601 time with a zone, such as 2026-01-31T12:00:00Z.'],
    ['screenings', '--to', '2026-01-31', '--to must be an ISO 8601 time with a zone, such as 2026-01-31T12:00:00Z.'],
    ['screenings', '--limit', '0', '--limit must be at least 1.'],
    ['screenings', '--limit', 'all', '--limit must be a whole number.'],
    ['screenings', '--cursor', 'next', '--cursor must be one that a page of this list named.'],
    ['screenings', '--user-type', 'AGENT', 'Give --account with --user-type.'],
    ['screenings', '--external-id', 'lease', 'Give --account with --external-id.'],
    [
      'payments',
      '--status',
      'PAID',
      '--status must be one of PENDING, PROCESSING, REQUIRES_ACTION, SUCCEEDED, FAILED.',
    ],
    ['payments', '--session', 'first', 'The session must be an id such as 01234567-89ab-7cde-8f01-23456789abcd.'],
    ['payments', '--session', '01234567-89ab-7cde-8f01-23456789abcd', 'Give --account with --session.'],
    ['endpoints', '--status', 'broken', '--status must be one of active, failing, disabled.'],
    [
      'deliveries',
      '--status',
      'sent',
      '--status must be one of pending, retrying, succeeded, exhausted, canceled, failed.',
    ],
    ['deliveries', '--event-type', 'ping', 'Give --account with --event-type.'],
    ['accounts', '--cursor', 'next', '--cursor must be one that a page of this list named.'],
  ])('is named with the values that are allowed: %s list %s %s', async (group, option, value, sentence) => {
    expect(await refusal(group, 'list', option, value)).toBe(sentence);
  });

  it('an unknown event type is refused with all types', async () => {
    const account = ['--account', accounts.nopay.accountId];
    expect(await refusal('deliveries', 'list', ...account, '--event-type', 'screening.done')).toMatch(
      /^--event-type must be one of .*screening\.completed.*, ping\.$/,
    );
  });

  it('a `--to` that is earlier than the `--from` is refused', async () => {
    const times = ['--from', '2026-02-01T00:00:00Z', '--to', '2026-01-01T00:00:00Z'];
    expect(await refusal('payments', 'list', ...times)).toBe('--from must be before --to.');
  });

  it('the list of the deliveries of an account without an endpoint is refused, and the refusal names the account', async () => {
    const { accountId } = accounts.broke;
    expect(await refusal('deliveries', 'list', '--account', accountId)).toBe(
      `The account ${accountId} has no webhook endpoint.`,
    );
  });
});
