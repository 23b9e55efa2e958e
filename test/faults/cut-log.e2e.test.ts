// Guarantees: when the log has lost events, every API surface refuses changes until an operator accepts the loss.
// `audit verify` finds events that were cut off or removed, even if the log itself has no trace of them.
import { appendFileSync, cpSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DirectCaller } from '../support/direct.js';
import { until } from '../support/eventually.js';
import { aPerson, type PlatformCaller, type Reply, Service } from '../support/service.js';
import { rewriteLog, type StoredEvent } from '../support/tampered-log.js';

const CUT = 30;

let service: Service;
let nopay: PlatformCaller;
let direct: DirectCaller;
beforeAll(async () => {
  service = await Service.start({ LOG_LEVEL: 'error', SUBMITS_PER_MINUTE_PER_ADDRESS: '0' }, { alone: ['service'] });
  nopay = await service.signIn('nopay');
  direct = await DirectCaller.of(service);
});
afterAll(() => service.stop());

const events = (): string => join(service.dataDir, 'events');
const watchFile = (): string => join(service.dataDir, 'log-watch.json');
const ready = async (): Promise<Reply | null> => service.request('GET', '/health/ready').catch(() => null);
const lines = (stdout: string): any[] =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

async function verify(): Promise<{ readonly exitCode: number; readonly faults: string[]; readonly report: any }> {
  const { exitCode, stdout } = await service.ops('audit', 'verify');
  const told = lines(stdout);
  return { exitCode, faults: told.slice(0, -1).map(({ fault }) => fault), report: told.at(-1) };
}

/** Waits until the service has recorded the present end of the log. */
async function seen(): Promise<void> {
  const { through } = (await verify()).report;
  await until(
    'it is written down',
    () => existsSync(watchFile()) && JSON.parse(readFileSync(watchFile(), 'utf8')).seen?.position >= through,
  );
}

/** Changes the file like an attacker who knows the file. The acceptances stay in the file. */
function setBack(position: string | null): void {
  const { seen, ...memory } = JSON.parse(readFileSync(watchFile(), 'utf8'));
  writeFileSync(watchFile(), JSON.stringify({ ...memory, seen: position === null ? null : { ...seen, position } }));
}

async function startUnready(): Promise<void> {
  service.program.spawn();
  await until('it answers, and is not ready', async () => (await ready())?.status === 503);
}

/** Changes the log while no process has it open, runs the check, and restores the original. */
async function withLog(change: () => unknown, look: () => Promise<void>): Promise<void> {
  const kept = `${service.dataDir}-kept`;
  cpSync(service.dataDir, kept, { recursive: true });
  try {
    await change();
    await look();
  } finally {
    for (const name of ['events', 'vault', 'log-watch.json', 'erasures.jsonl']) {
      rmSync(join(service.dataDir, name), { recursive: true, force: true });
      renameSync(join(kept, name), join(service.dataDir, name));
    }
    rmSync(kept, { recursive: true });
  }
}

describe('a log whose newest events were cut off after a kill', () => {
  let before: string;

  it('makes the service unready, even with an empty Redis, and `audit verify` reports the loss', async () => {
    before = (await nopay.submit()).body.id;
    for (let count = 0; count < 8; count++) await nopay.submit();
    await seen();
    await service.kill9();
    await service.redis.flush();
    expect(await rewriteLog(events(), (_event, newest) => newest > CUT)).toHaveLength(CUT);
    await startUnready();
    expect((await ready())?.body).toMatchObject({ reasons: { 'event-log': expect.stringContaining('but went to') } });
    const { exitCode, faults } = await verify();
    expect([exitCode, faults]).toEqual([
      1,
      expect.arrayContaining([expect.stringContaining('but went to'), expect.stringContaining('no event names')]),
    ]);
  });

  it('makes every API surface answer changes with 503 and commands answer with a sentence, while data is still readable', async () => {
    const { accounts } = await service.credentials();
    const { secretKey, dashboardTokens } = accounts.nopay;
    const length = async (): Promise<number> => (await verify()).report.events;
    const events = await length();
    const bearer = { authorization: `Bearer ${dashboardTokens.owner}` };
    const replies = await Promise.all([
      nopay.submit(),
      nopay.get(`/reports/${before}`),
      direct.register('renters', 'someone'),
      service.request('POST', '/v1/sessions', { headers: { 'x-secret-key': secretKey }, body: {} }),
      service.request('POST', '/tsp/webhooks', { headers: bearer, body: { url: 'https://example.com/' } }),
      service.request('POST', '/internal/processor/events', { body: {} }),
    ]);
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 503));
    expect(replies[0]?.body.error.code).toBe('SERVICE_UNAVAILABLE');
    const added = await service.ops('accounts', 'credit', accounts.nopay.accountId, '--add', '1', '--reference', 'a');
    expect([added.exitCode, added.stdout]).toEqual([1, expect.stringContaining('The log takes no changes')]);
    expect(await length()).toBe(events);
    expect((await nopay.status(before)).status).toBe(200);
    expect((await service.request('GET', '/tsp/webhooks', { headers: bearer })).status).toBe(200);
  });

  it('still allows the erasure of a person, and the command says that the log does not record the erasure yet', async () => {
    const erased = await service.ops('person', 'erase', before);
    expect([erased.exitCode, erased.stdout]).toEqual([1, expect.stringContaining('The data key is destroyed')]);
  });

  it('accepts changes again, without a restart, within seconds after an operator accepted the loss, and the audit passes', async () => {
    expect((await service.ops('audit', 'accept', '--reason', 'the disk was lost')).exitCode).toBe(0);
    await until('changes are taken', async () => (await nopay.submit()).status === 200);
    expect((await ready())?.status).toBe(200);
    expect((await service.ops('person', 'erase', before)).exitCode).toBe(0);
    const { exitCode, faults, report } = await verify();
    expect([exitCode, faults]).toEqual([0, []]);
    // The vault still has the persons that the log lost.
    expect(report.unnamed).toBeGreaterThan(0);
  });

  it('refuses changes even if another process finds the loss while this process runs', async () => {
    const { complaint: _, ...memory } = JSON.parse(readFileSync(watchFile(), 'utf8'));
    writeFileSync(
      watchFile(),
      JSON.stringify({ ...memory, complaint: 'The log does not go as far as an event handler.' }),
    );
    await until('changes are refused', async () => (await nopay.submit()).status === 503);
    expect((await service.ops('audit', 'accept', '--reason', 'it does')).exitCode).toBe(0);
    await until('changes are taken', async () => (await nopay.submit()).status === 200);
  });
});

describe('when the service ends in order', () => {
  it('the end of the log is recorded, so that a single missing event is noticed', async () => {
    await nopay.submit();
    await service.program.end('SIGTERM');
    await withLog(
      () => rewriteLog(events(), (_event, newest) => newest > 1),
      async () => expect((await verify()).faults).toContainEqual(expect.stringContaining('but went to')),
    );
  });
});

describe('`audit verify` on a log without a trace of the loss', () => {
  /** A session that wrong codes have blocked. The vault has its subject, but no values for the subject. */
  let blocked: string;
  let subject: string;
  let person: string;
  beforeAll(async () => {
    await service.startAgain();
    blocked = (await nopay.submit(aPerson({ lastName: 'Otptest' }))).body.id;
    for (let wrong = 0; wrong < 3; wrong++) await nopay.post(`/screening/${blocked}/otp`, { code: '000000' });
    expect((await nopay.status(blocked)).body.status).toBe('BLOCKED');
    await until('it has settled', async () => (await verify()).exitCode === 0);
    await service.program.end('SIGTERM');
    const submitted = lines((await service.ops('stream', 'show', blocked)).stdout)[0];
    [subject, person] = [submitted.data.subjectId, submitted.data.personId];
  });

  it.each<[string, (event: StoredEvent) => boolean]>([
    ['the stream of a blocked session', ({ stream }) => stream !== `screening-${blocked}`],
    [
      'this stream and that of its person',
      ({ stream }) => ![`screening-${blocked}`, `person-${person}`].includes(stream),
    ],
  ])('finds that %s was removed, because the vault has the subject', async (_what, keeps) => {
    await withLog(
      async () => {
        setBack(null);
        expect((await rewriteLog(events(), keeps)).length).toBeGreaterThan(1);
      },
      async () =>
        expect(await verify()).toMatchObject({
          exitCode: 1,
          faults: [`no event names subject ${subject} of the vault`],
        }),
    );
  });

  it('finds that the whole log was emptied, even if log-watch.json does not say where the log ended', async () => {
    await withLog(
      async () => {
        setBack(null);
        await rewriteLog(events(), () => false);
      },
      async () => {
        const { exitCode, faults } = await verify();
        expect([exitCode, faults]).toEqual([
          1,
          [expect.stringMatching(/^the log has no events, but .* has \d+ subjects$/)],
        ]);
      },
    );
  });

  it('finds a line of the erasure ledger for which the log has no event', async () => {
    const erasedAt = new Date().toISOString();
    await withLog(
      () => appendFileSync(join(service.dataDir, 'erasures.jsonl'), `{"subject":"someone","erasedAt":"${erasedAt}"}\n`),
      async () => {
        const { exitCode, faults } = await verify();
        expect([exitCode, faults]).toEqual([
          1,
          expect.arrayContaining([expect.stringContaining('which the erasure ledger')]),
        ]);
      },
    );
  });

  it('finds through the vault that events were cut off when log-watch.json was set back, and reports an unreadable log-watch.json', async () => {
    await withLog(
      async () => {
        await rewriteLog(events(), (_event, newest) => newest > CUT);
        setBack('1'.padStart(20, '0'));
      },
      async () => expect((await verify()).faults).toContainEqual(expect.stringContaining('no event names')),
    );
    await withLog(
      () => writeFileSync(watchFile(), '{'),
      async () => expect((await verify()).faults[0]).toContain('cannot be read'),
    );
  });
});
