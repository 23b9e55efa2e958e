// The view of an investigator: the history of a session, its state at any time, and whether the log was changed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { open } from 'lmdb';
import { type PlatformCaller, type Reply, Service } from '../../support/service.js';
import { until } from '../../support/eventually.js';

let service: Service;
let demo: PlatformCaller;
let sessionId: string;
let wrongAnswer: Reply;

beforeAll(async () => {
  service = await Service.start();
  demo = await service.signIn('demo');
  sessionId = (await demo.submit({ lastName: 'Otptest' })).body.id;
  wrongAnswer = await demo.post(`/screening/${sessionId}/otp`, { code: '000000' }, { 'x-request-id': 'the-wrong-one' });
  await demo.post(`/screening/${sessionId}/otp`, { code: '123456' });
});
afterAll(() => service.stop());

const lines = (stdout: string): any[] =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('ops timeline', () => {
  it('lists every event with its actor, its request and the state after the event', async () => {
    const { exitCode, stdout } = await service.ops('timeline', sessionId);
    expect(exitCode).toBe(0);
    const told = lines(stdout);
    expect(told.slice(0, -1).map(({ event, status }) => [event, status])).toEqual([
      ['ConsentGiven', undefined],
      ['ScreeningOpened', undefined],
      ['ScreeningSubmitted', 'SUBMITTED'],
      ['VerificationRequested', 'SUBMITTED'],
      ['StepUpRequired', 'STEP_UP_REQUIRED'],
      ['OtpAnswerReceived', 'OTP_PENDING'],
      ['AnswerAdmitted', undefined],
      ['WrongAnswerCounted', undefined],
      ['OtpRejected', 'OTP_PENDING'],
      ['OtpAnswerReceived', 'OTP_PENDING'],
      ['AnswerAdmitted', undefined],
      ['AnswerCleared', undefined],
      ['IdentityVerified', 'VERIFIED'],
    ]);
    for (const { actor } of told.slice(0, -1))
      expect(actor).toEqual({ kind: 'platform-token', id: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    expect(told.find(({ event }) => event === 'OtpRejected').requestId).toBe(
      wrongAnswer.headers.get('service-request-id'),
    );
    // The service returns the caller's own request id. The id may hold any text, so the service does not store it.
    expect(wrongAnswer.headers.get('x-request-id')).toBe('the-wrong-one');
    expect(stdout + service.program.output).not.toContain('the-wrong-one');
    expect(told.at(-1)).toMatchObject({ state: { status: 'VERIFIED' }, overallStatus: 'PAYMENT_PENDING' });
  });

  it('shows the state at an earlier time', async () => {
    const rejectedAt = lines((await service.ops('timeline', sessionId)).stdout).find(
      ({ event }) => event === 'OtpRejected',
    ).at;
    const then = lines((await service.ops('timeline', sessionId, '--as-of', rejectedAt)).stdout);
    expect(then.at(-1)).toMatchObject({
      asOf: rejectedAt,
      state: { status: 'OTP_PENDING', stepUp: { attemptsRemaining: 2 } },
    });
    const before = lines((await service.ops('timeline', sessionId, '--as-of', '2020-01-01T00:00:00Z')).stdout);
    expect(before).toEqual([{ asOf: '2020-01-01T00:00:00.000Z', state: { status: 'NONE' } }]);
  });

  it.each([
    [['timeline', 'nope'], 'There is no screening session nope.'],
    [['timeline', '018f0000-0000-7000-8000-000000000000'], 'There is no screening session'],
    [
      ['timeline', '018f0000-0000-7000-8000-000000000000', '--as-of', '2999-01-01T00:00:00Z'],
      '--as-of must not be in the future',
    ],
    [['audit', 'verify', '--since', 'yesterday'], '--since must be a position'],
    [['stream', 'show', 'screening-nope'], 'There is no stream screening-nope.'],
    [['person', 'erase', '018f0000-0000-7000-8000-000000000000'], 'There is no such session.'],
    [['projections', 'rebuild', 'nope'], 'The projection must be one of'],
  ])('reports the mistake in %j in one sentence, with exit code 1', async (args, sentence) => {
    const { exitCode, stdout } = await service.ops(...args);
    expect([exitCode, stdout.trim().split('\n')]).toEqual([1, [expect.stringContaining(sentence)]]);
  });
});

describe('with empty read models, as after a restore', () => {
  it('the timeline shows every look, share and erasure, and the lists show every account and key', async () => {
    const nopay = await service.signIn('nopay');
    const { id } = (await nopay.submit()).body;
    for (let view = 0; view < 3; view++) expect((await nopay.get(`/reports/${id}`)).status).toBe(200);
    expect((await nopay.post(`/reports/${id}/consent-to-share`)).status).toBe(200);
    const { accountId } = (await service.credentials()).accounts.demo;
    const commands = [
      ['accounts', 'list'],
      ['accounts', 'show', accountId],
      ['keys', 'list', accountId],
    ];
    const before = await Promise.all(commands.map((args) => service.ops(...args)));
    await service.ops('person', 'erase', id);

    await service.program.end('SIGTERM');
    await service.redis.flush();
    const [timeline, ...listed] = await Promise.all(
      [['timeline', id], ...commands].map((args) => service.ops(...args)),
    );
    expect(listed).toEqual(before);
    const events = lines(timeline!.stdout).map(({ event }) => event);
    expect(events.filter((event) => event === 'ReportViewed')).toHaveLength(3);
    expect(events).toEqual(expect.arrayContaining(['ReportShared', 'SubjectKeyDestroyed']));
    expect(events.indexOf('ReportReleased')).toBeLessThan(events.indexOf('ReportViewed'));
    expect(events.indexOf('ReportShared')).toBeLessThan(events.indexOf('SubjectKeyDestroyed'));
    await service.startAgain();
  });
});

describe('the command line', () => {
  it('calls itself ops in its messages', async () => {
    expect((await service.ops('timeline', '--help')).stdout).toContain('Usage: ops timeline');
  });

  it('ends silently when the reader of its output has closed the pipe', async () => {
    const ops = spawn(process.execPath, ['dist/src/ops/main.js', 'stream', 'show', sessionId], {
      env: { PATH: process.env.PATH, ...service.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    ops.stdout.destroy();
    let said = '';
    ops.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const [code] = await once(ops, 'close');
    expect([code, said]).toEqual([0, '']);
  });
});

describe('ops stream show', () => {
  it('shows the events as they are stored, with their hash chain', async () => {
    const events = lines((await service.ops('stream', 'show', sessionId)).stdout);
    expect(events.map(({ revision }) => revision)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    for (const [index, event] of events.entries()) {
      if (index > 0) expect(event.metadata.chain.prev).toBe(events[index - 1].metadata.chain.hash);
      expect(event.metadata).toMatchObject({
        environment: 'test',
        $correlationId: expect.any(String),
        $causationId: expect.any(String),
      });
    }
  });
});

describe('ops audit verify', () => {
  it('accepts an unchanged log, and finds one changed byte with exit code 1', async () => {
    const honest = await service.ops('audit', 'verify');
    expect([honest.exitCode, lines(honest.stdout).at(-1)]).toEqual([
      0,
      expect.objectContaining({ brokenLinks: 0, events: expect.any(Number) }),
    ]);

    await service.program.end('SIGTERM');
    await alter(join(service.dataDir, 'events'), '"attemptsRemaining":2', '"attemptsRemaining":9');
    const altered = await service.ops('audit', 'verify');
    expect(altered.exitCode).toBe(1);
    expect(lines(altered.stdout)[0]).toMatchObject({
      stream: `screening-${sessionId}`,
      revision: 4,
      fault: 'content does not match its hash',
    });

    await alter(join(service.dataDir, 'events'), '"attemptsRemaining":9', '"attemptsRemaining"?9');
    const unreadable = lines((await service.ops('audit', 'verify')).stdout);
    expect(unreadable[0]).toEqual({
      position: expect.stringMatching(/^\d{20}$/),
      stream: `screening-${sessionId}`,
      revision: 4,
      fault: 'unreadable',
    });
    expect(unreadable.at(-1)).toMatchObject({
      faults: 1,
      brokenLinks: 0,
      events: lines(altered.stdout).at(-1).events - 1,
    });
    const shown = await service.ops('stream', 'show', sessionId);
    expect([shown.exitCode, shown.stdout]).toEqual([
      1,
      expect.stringContaining(`revision 4 of screening-${sessionId}, is unreadable`),
    ]);

    await alter(join(service.dataDir, 'events'), '"attemptsRemaining"?9', '"attemptsRemaining":2');
    const mended = await service.ops('audit', 'verify', '--since', unreadable[0].position);
    expect([mended.exitCode, lines(mended.stdout).at(-1)]).toEqual([0, expect.objectContaining({ faults: 0 })]);
    await service.startAgain();
  });
});

describe('a log that was replaced', () => {
  it('is reported by the service, which stays unready and starts no background work until an operator accepts the log', async () => {
    const redis = service.redis.client();
    // The check of deliveries runs every hour. The check compares its own checkpoint only at its next run. The mark of an earlier release does not follow the log.
    const others = ['webhook_delivery_check', 'webhook_deliveries_before_feeds'];
    const followed = async (): Promise<string[]> =>
      (await redis.keys('{reaction:*}:through')).filter((key) => !others.some((name) => key.includes(name)));
    await until('event handlers have followed the log', async () => (await followed()).length > 0);
    await until('the end of the log is written down', () => existsSync(join(service.dataDir, 'log-watch.json')));
    await service.program.end('SIGTERM');
    await rm(join(service.dataDir, 'events'), { recursive: true });
    service.program.spawn();
    const ready = async (): Promise<Reply | null> => service.request('GET', '/health/ready').catch(() => null);
    await until('it answers', async () => (await ready())?.status === 503);
    expect((await ready())?.body).toMatchObject({
      status: 'unavailable',
      checks: { 'event-log': 'failing' },
      reasons: { 'event-log': expect.stringContaining('when it was last seen') },
    });
    const alarms = (): any[] =>
      service.program.output
        .split('\n')
        .filter((line) => line.includes('"level":"error"'))
        .map((line) => JSON.parse(line));
    await until('a follower of the log reports it too', () =>
      alarms().some(({ follower }) => follower === 'projection account'),
    );
    expect(alarms()).toContainEqual(
      expect.objectContaining({
        msg: 'the log is not what it was',
        complaint: expect.stringContaining('The log is empty'),
      }),
    );

    // The event handlers lose their checkpoints, and none has started at the beginning of this log.
    await until('no event handler has a checkpoint any more', async () => (await followed()).length === 0);
    expect((await service.ops('audit', 'accept')).exitCode).toBe(1);
    const accepted = await service.ops('audit', 'accept', '--reason', 'moved to a new log');
    expect([accepted.exitCode, lines(accepted.stdout)[0]]).toEqual([
      0,
      expect.objectContaining({
        reason: 'moved to a new log',
        by: expect.any(String),
        complaint: expect.stringContaining('The log is empty'),
      }),
    ]);
    await service.untilReady();
    await until('the event handlers follow this log', async () => (await followed()).length > 0);
    expect((await service.request('GET', '/health/ready')).status).toBe(200);
    redis.disconnect();
  });
});

/**
 * Changes the log in the same way as a person with access to the disk: through the database library, without a trace in
 * the log.
 */
async function alter(directory: string, from: string, to: string): Promise<void> {
  const { readdirSync } = await import('node:fs');
  const file = readdirSync(directory).find((name) => name.endsWith('.mdb') && !name.includes('lock')) as string;
  const root: any = open({
    path: join(directory, file),
    noSubdir: true,
    maxDbs: 16,
    encoding: 'binary',
    keyEncoding: 'binary',
  });
  let altered = 0;
  for (const name of [
    undefined,
    ...[...root.getKeys()].map((key) =>
      Buffer.from(key as unknown as Uint8Array)
        .toString('utf8')
        .replace(/\0+$/, ''),
    ),
  ]) {
    const database =
      name === undefined
        ? root
        : root.openDB({ name, encoding: 'binary', keyEncoding: 'binary', create: false } as never);
    if (!database) continue;
    for (const { key, value } of database.getRange({})) {
      if (!Buffer.isBuffer(value) || !value.includes(from)) continue;
      database.putSync(key, Buffer.from(value.toString('latin1').replace(from, to), 'latin1'));
      altered += 1;
    }
  }
  await root.close();
  expect(altered).toBeGreaterThan(0);
}
