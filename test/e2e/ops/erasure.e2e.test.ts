// An operator erases a person, either through an income session without a screening or together with the details of grants.
import { appendFileSync, existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { developmentMasterKey } from '../../../src/adapters/vault/development-key.js';
import { DiskVault } from '../../../src/adapters/vault/disk.js';
import { MasterKeys } from '../../../src/adapters/vault/master-keys.js';
import { SystemClock } from '../../../src/kernel/clock.js';
import { reportEntry } from '../../../src/modules/income/domain/income.js';
import { aPerson, PlatformCaller, type Reply, Service } from '../../support/service.js';
import { until } from '../../support/eventually.js';
import type { CommandResult } from '../../support/operator.js';
import { TwoOperators } from '../../support/two-operators.js';

let service: Service;
let child: PlatformCaller;
let vault: DiskVault;

beforeAll(async () => {
  service = await Service.start({ VENDOR_TIMEOUT: '3' });
  child = await service.signIn('child');
  const keys = MasterKeys.parse(await developmentMasterKey(join(service.dataDir, 'keys')));
  vault = DiskVault.open({ directory: join(service.dataDir, 'vault'), keys, clock: new SystemClock() });
});
afterAll(async () => {
  await vault.close();
  await service.stop();
});

const refused = (reply: Reply): [number, string] => [reply.status, reply.body?.error?.code];
const lines = (stdout: string): any[] =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
const status = async (id: string): Promise<any> => (await child.get(`/voie/sessions/${id}/status`)).body;

/** The report, read by the account itself and by the server of its parent. */
async function reports(id: string): Promise<Reply[]> {
  const { secretKey } = (await service.credentials()).accounts.demo;
  return Promise.all([
    child.get(`/voie/sessions/${id}/report`),
    service.request('GET', `/v1/income-sessions/${id}/report`, { headers: { 'x-secret-key': secretKey } }),
  ]);
}

async function completed(body?: object): Promise<string> {
  const { income_session_id: id } = (await child.post('/voie/sessions', body)).body;
  await until('the income session is completed', async () => (await status(id)).status === 'COMPLETED');
  return id;
}

describe('the details of a grant that has opened a session', () => {
  /** A caller under a grant of the child account, and the grant itself. */
  async function granted(): Promise<{
    readonly caller: PlatformCaller;
    readonly grantId: string;
    readonly subject: string;
  }> {
    const { child: account } = (await service.credentials()).accounts;
    const grant = await service.request('POST', '/v1/sessions', {
      headers: { 'x-secret-key': account.secretKey },
      body: { external_id: 'tenant Canary', metadata: { unit: '4B' } },
    });
    const [origin = ''] = account.allowedOrigins;
    const exchange = await service.request('POST', '/auth/token/exchange', {
      headers: { 'x-publishable-key': account.publishableKey, 'x-session-token': grant.body.token, origin },
    });
    expect(exchange.body.grant).toMatchObject({ consumed: true });
    const [minted] = lines((await service.ops('stream', 'show', `session_grant-${grant.body.id}`)).stdout);
    return {
      caller: new PlatformCaller(service, { authorization: `Bearer ${exchange.body.token}`, origin }),
      grantId: grant.body.id,
      subject: minted.data.detailsSubject,
    };
  }

  it.each([
    ['erase', 'screening', async (caller: PlatformCaller): Promise<string> => (await caller.submit()).body.id],
    [
      'erase-income',
      'income',
      async (caller: PlatformCaller): Promise<string> => (await caller.post('/voie/sessions')).body.income_session_id,
    ],
  ])(
    'are erased by person %s together with the person, and the log names the grant',
    async (command, category, open) => {
      const { caller, grantId, subject } = await granted();
      const kept = async (under: string): Promise<string> => Buffer.from((await vault.get(under, grantId))!).toString();
      expect(await kept(subject)).toContain('tenant Canary');
      const id = await open(caller);
      const [{ data }] = lines((await service.ops('stream', 'show', `${category}-${id}`)).stdout);
      expect(data).toMatchObject({ grantId });
      expect(await kept(data.subjectId)).toContain('tenant Canary');
      expect((await service.ops('person', command, id)).exitCode).toBe(0);
      for (const under of [subject, data.subjectId])
        await expect(kept(under)).rejects.toThrow(`Subject ${under} was erased.`);
      const events = lines((await service.ops('stream', 'show', `session_grant-${grantId}`)).stdout);
      expect(events.map(({ type }) => type)).toEqual([
        'GrantMinted',
        'GrantConsumed',
        ...(category === 'screening' ? ['GrantSessionBegun'] : []),
        'GrantDetailsEntrusted',
      ]);
    },
  );
});

describe('the details of a grant without a session', () => {
  it('are erased when the grant has expired, and the log records the erasure', async () => {
    const brief = await Service.start({ GRANT_TTL: '1', TOKEN_TTL: '1' });
    try {
      const { secretKey } = (await brief.credentials()).accounts.child;
      const { id } = (
        await brief.request('POST', '/v1/sessions', {
          headers: { 'x-secret-key': secretKey },
          body: { external_id: 'tenant Canary' },
        })
      ).body;
      const events = async (): Promise<any[]> =>
        lines((await brief.ops('stream', 'show', `session_grant-${id}`)).stdout);
      await until('the details are destroyed', async () => (await events()).length > 1);
      const [{ data }, erased] = await events();
      expect(erased).toMatchObject({
        type: 'GrantDetailsErased',
        data: {},
        metadata: { actor: { kind: 'system', id: 'grant-sweep' } },
      });
      const keys = MasterKeys.parse(await developmentMasterKey(join(brief.dataDir, 'keys')));
      const kept = DiskVault.open({ directory: join(brief.dataDir, 'vault'), keys, clock: new SystemClock() });
      try {
        await expect(kept.get(data.detailsSubject, id)).rejects.toThrow(`Subject ${data.detailsSubject} was erased.`);
      } finally {
        await kept.close();
      }
    } finally {
      await brief.stop();
    }
  });
});

describe('ops person erase', () => {
  it('leaves later sessions of the person unchanged when the command is repeated', async () => {
    const person = { ...aPerson(), lastName: 'Otptest' };
    const submit = async (): Promise<string> => (await child.submit(person)).body.id;
    const first = await submit();
    expect((await service.ops('person', 'erase', first)).exitCode).toBe(0);
    await until('the session is over', async () => (await child.status(first)).body.status === 'EXPIRED');
    const second = await submit();
    expect((await service.ops('person', 'erase', first)).exitCode).toBe(0);
    expect((await child.status(second)).body.status).toBe('STEP_UP_REQUIRED');
    expect((await child.post(`/screening/${second}/otp`, { code: '123456' })).body.status).toBe('VERIFIED');
  });
});

describe('a legal hold', () => {
  const hold = async (...words: string[]): Promise<any> => lines((await service.ops('hold', ...words)).stdout)[0];
  const ORDER = ['--matter', '2026-114', '--by', 'counsel'];
  const erasedAs = async (session: string): Promise<any> => (await child.status(session)).body.status;
  const release = async (accountId: string, holdId: string): Promise<CommandResult> => {
    const options = await operators.approvalOf('hold release', holdId);
    return operators.as('ann')('hold', 'release', accountId, holdId, ...options);
  };
  let operators: TwoOperators;

  beforeAll(async () => {
    operators = await TwoOperators.of(service.env);
  });
  afterAll(() => operators.remove());

  it('keeps a session from the erasure of its person, which is remembered and done when the hold is released', async () => {
    const person = { ...aPerson(), lastName: 'Otptest' };
    const session = (await child.submit(person)).body.id;
    const { accountId, holdId, covers } = await hold('place', '--session', session, ...ORDER);
    expect(covers).toMatchObject({ kind: 'session', id: session });
    for (let time = 0; time < 2; time++) {
      const refusal = await service.ops('person', 'erase', session, '--reason', 'a request of the person');
      expect(refusal.exitCode).toBe(1);
      expect(refusal.stdout).toMatch(/^The legal hold \S+ \(2026-114\) covers this data, so nothing was erased\./);
    }
    expect(await vault.get(covers.subjectId, `screening:${session}`)).not.toBeNull();
    expect(await hold('list', accountId)).toMatchObject({
      holdId,
      state: 'stands',
      deferredErasures: [{ kind: 'screening', id: session }],
    });
    const second = await hold('place', '--person', session, ...ORDER);
    expect(await service.ops('hold', 'release', accountId, holdId)).toMatchObject({
      exitCode: 1,
      stdout: expect.stringMatching(/^This needs a second operator\./),
    });
    expect(lines((await release(accountId, holdId)).stdout)).toEqual([
      { released: holdId, erasuresDone: 0, erasuresDeferred: 1 },
    ]);
    expect(await erasedAs(session)).toBe('STEP_UP_REQUIRED');
    const released = { released: second.holdId, erasuresDone: 1, erasuresDeferred: 0 };
    expect(lines((await release(accountId, second.holdId)).stdout)).toEqual([released]);
    // A repeated release has nothing left to do, and needs no approval.
    expect(await hold('release', accountId, second.holdId)).toEqual({ ...released, erasuresDone: 0 });
    await until('the session is over', async () => (await erasedAs(session)) === 'EXPIRED');
    await expect(vault.get(covers.subjectId, 'none')).rejects.toThrow('was erased');
    expect((await hold('place', '--session', session, ...ORDER)).erasedBefore).toBe(true);
    expect((await service.ops('audit', 'verify')).exitCode).toBe(0);
  });

  it('that ends at its time lets the service do the remembered erasure of an income session by itself', async () => {
    const id = await completed();
    const end = new Date(Date.now() + 4_000).toISOString();
    await hold('place', '--session', id, ...ORDER, '--until', end);
    expect((await service.ops('person', 'erase-income', id)).exitCode).toBe(1);
    expect((await reports(id)).map(({ status: code }) => code)).toEqual([200, 200]);
    await until('the report is destroyed', async () => (await reports(id)).every(({ status: code }) => code === 404));
  });

  it.each([
    [['place', ...ORDER], 'Give one of --session <id>, --person <session> and --account <id>.\n'],
    [['place', '--account', '01900000-0000-7000-8000-000000000000', ...ORDER], 'There is no such account.\n'],
    [['place', '--session', '01900000-0000-7000-8000-000000000000', ...ORDER], 'There is no such session.\n'],
    [
      ['release', '01900000-0000-7000-8000-000000000000', '01900000-0000-7000-8000-000000000000'],
      'There is no such hold.\n',
    ],
  ])('is not changed by ops hold %j', async (words, sentence) => {
    const { exitCode, stdout } = await service.ops('hold', ...words);
    expect([exitCode, stdout]).toEqual([1, sentence]);
  });
});

describe('an erasure whose process died when only the ledger had recorded it', () => {
  it('is completed by the next start, and the person can be screened again', async () => {
    const person = { ...aPerson(), lastName: 'Otptest' };
    const first = (await child.submit(person)).body.id;
    const [{ data }] = lines((await service.ops('stream', 'show', `screening-${first}`)).stdout);
    appendFileSync(
      join(service.dataDir, 'erasures.jsonl'),
      `\n{"subject":"${data.subjectId}","erasedAt":"2026-01-01T00:00:00.000Z"}\n`,
    );
    expect((await service.ops('webhooks', 'backlog')).exitCode).toBe(0);
    await until('the session is over', async () => (await child.status(first)).body.status === 'EXPIRED');
    expect((await child.submit(person)).body.status).toBe('STEP_UP_REQUIRED');
  });
});

describe('ops person erase-income', () => {
  it('makes the report unreadable for every account, while the events stay in the log and pass verification', async () => {
    const id = await completed();
    const [own] = await reports(id);
    const canary: string = own!.body.employers[0].name;
    expect((await reports(id)).map(({ status: code, text }) => [code, text.includes(canary)])).toEqual([
      [200, true],
      [200, true],
    ]);
    const told = await status(id);
    const before = lines((await service.ops('stream', 'show', `income-${id}`)).stdout);
    const { subjectId } = before[0].data;
    expect(Buffer.from((await vault.get(subjectId, reportEntry(id)))!).toString()).toContain(canary);

    const { exitCode, stdout } = await service.ops('person', 'erase-income', id);
    expect([exitCode, lines(stdout)]).toEqual([0, [{ erasedSubject: subjectId }]]);
    await expect(vault.get(subjectId, reportEntry(id))).rejects.toThrow(`Subject ${subjectId} was erased.`);
    expect((await reports(id)).map(refused)).toEqual([
      [404, 'NOT_FOUND'],
      [404, 'NOT_FOUND'],
    ]);
    expect(await status(id)).toEqual(told);

    const after = lines((await service.ops('stream', 'show', `income-${id}`)).stdout);
    expect(after.slice(0, -1)).toEqual(before);
    expect(after.at(-1)).toMatchObject({
      type: 'IncomePersonErased',
      data: { subjectId },
      metadata: { actor: { kind: 'operator' } },
    });
    const again = await service.ops('person', 'erase-income', id);
    expect([again.exitCode, lines(again.stdout)]).toEqual([0, [{ erasedSubject: subjectId }]]);
    expect(lines((await service.ops('stream', 'show', `income-${id}`)).stdout)).toEqual(after);
    const verified = await service.ops('audit', 'verify');
    expect([verified.exitCode, lines(verified.stdout).at(-1)]).toEqual([
      0,
      expect.objectContaining({ brokenLinks: 0 }),
    ]);
  });

  it('1: refuses a session of a screening, names the screening to erase instead, and keeps the report', async () => {
    const screening: string = (await child.submit()).body.id;
    const id = await completed({ screening_session_id: screening });
    const { exitCode, stdout } = await service.ops('person', 'erase-income', id);
    expect([exitCode, stdout]).toEqual([
      1,
      `This income session belongs to the screening session ${screening}; erase the person behind that one instead.\n`,
    ]);
    expect((await reports(id)).map(({ status: code }) => code)).toEqual([200, 200]);
  });

  it.each([
    ['unknown', '018f0000-0000-7000-8000-000000000000'],
    ['malformed', 'nonsense'],
  ])('1: refuses an id that is %s, like person erase', async (_what, id) => {
    const [erase, eraseIncome] = [
      await service.ops('person', 'erase', id),
      await service.ops('person', 'erase-income', id),
    ];
    expect(eraseIncome).toEqual({ exitCode: 1, stdout: 'There is no such session.\n' });
    expect(eraseIncome).toEqual(erase);
  });
});

describe('a missing erasure ledger', () => {
  it('prevents the start of the service and of commands, and no new ledger is created', async () => {
    const ledger = join(service.dataDir, 'erasures.jsonl');
    const sentence = `The erasure ledger ${ledger} is missing, empty, older or another one`;
    await service.program.end('SIGTERM');
    renameSync(ledger, `${ledger}.gone`);
    await expect(service.startAgain()).rejects.toThrow(sentence);
    for (const command of [
      ['webhooks', 'backlog'],
      ['backup', 'create', join(service.dataDir, 'backups')],
    ]) {
      expect(await service.ops(...command)).toEqual({ exitCode: 1, stdout: expect.stringContaining(sentence) });
    }
    expect(existsSync(ledger)).toBe(false);
    expect((await service.ops('backup', 'accept-ledger', '--reason', 'the disk broke')).exitCode).toBe(0);
    await service.startAgain();
  });
});
