// The store of the vault is unavailable, hangs or refuses calls. In every arrangement of roles the service answers 503, asks no vendor, and opens
// or ends no session. When the store is available again, callers can repeat their requests without a restart.
// Guarantee: docs/operations/erasure-and-keys.md#while-the-vault-is-unavailable.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { aRegistration, DirectCaller } from '../support/direct.js';
import { until } from '../support/eventually.js';
import { BUCKET, S3Server } from '../support/s3.js';
import { aPerson, type PlatformCaller, type Reply, Program, type Role, Service } from '../support/service.js';
import { sessionEvents } from '../support/sessions-in-log.js';

const DEVICE = { jscPayload: 'fingerprint', ipAddress: '203.0.113.7' };
let s3: S3Server;

beforeAll(async () => {
  s3 = await S3Server.start();
});
afterAll(() => s3.stop());

const onS3 = (bucket = BUCKET): Record<string, string> => ({
  VAULT: 's3',
  VAULT_S3_BUCKET: bucket,
  VAULT_S3_REGION: 'us-east-1',
  VAULT_S3_ENDPOINT: s3.url,
  VAULT_S3_PREFIX: `vault-${randomUUID()}`,
  VAULT_MASTER_KEY: `k:${Buffer.alloc(32, 7).toString('base64').replace(/^./, 'A')}`,
  AWS_ACCESS_KEY_ID: 'S3RVER',
  AWS_SECRET_ACCESS_KEY: 'S3RVER',
});

describe.each<[string, readonly Role[]]>([
  ['in one process', []],
  ['with roles apart', ['projector', 'worker', 'api']],
])('the service while the vault is unavailable, %s', (_, roles) => {
  let service: Service;
  let nopay: PlatformCaller;
  let demo: PlatformCaller;
  let direct: DirectCaller;

  beforeAll(async () => {
    service = await Service.start({ ...onS3(), OTP_RESEND_INTERVAL: '0' }, { alone: ['service'], roles });
    [nopay, demo] = [await service.signIn('nopay'), await service.signIn('demo')];
    direct = await DirectCaller.of(service);
  });
  afterAll(() => service?.stop());

  const vendorCalls = async (): Promise<unknown> => (await fetch(`${service.sandboxUrl}/control/calls`)).json();

  it('answers 503 to every call that needs the vault, uses up no attempt, and resumes by itself', async () => {
    const otp: string = (await nopay.submit({ lastName: 'Otptest' })).body.id;
    const kba = (await nopay.submit({ lastName: 'Kbatest' })).body;
    const answers = kba.stepUp.kbaQuestions.map(({ id }: { id: number }, index: number) => ({
      questionId: id,
      answerId: index + 1,
    }));
    const verified: string = (await nopay.submit()).body.id;
    const paying: string = (await demo.submit()).body.id;
    const agent = `/agents/${randomUUID()}`;
    await direct.post(agent, aRegistration({ lastName: 'Otptest' }));
    await direct.post(`${agent}/otp`, { code: '123456' });
    expect((await direct.post(`${agent}/auth`, DEVICE)).status).toBe(200);
    const newcomer = `/renters/${randomUUID()}`;

    const [person, registration] = [aPerson(), aRegistration()];
    const key = { 'idempotency-key': randomUUID() };
    const requests: readonly (() => Promise<Reply>)[] = [
      () => nopay.post('/screening/submit', person, key),
      () => nopay.post(`/screening/${otp}/otp/resend`),
      () => nopay.post(`/screening/${otp}/otp`, { code: '123456' }),
      () => nopay.post(`/screening/${kba.id}/kba`, { answers }),
      () => demo.post('/payments/create-intent', { amount: 3_900, screeningId: paying }),
      () => demo.post('/voie/sessions', {}),
      () => nopay.get(`/reports/${verified}`),
      () => direct.post(newcomer, registration),
      () => direct.post(`${agent}/auth/otp`, { otp: 123456 }),
    ];
    const asked = await vendorCalls();
    const refused = async (): Promise<void> => {
      const replies = await Promise.all(requests.map((request) => request()));
      expect(replies.map(({ status }) => status)).toEqual(requests.map(() => 503));
    };

    await s3.stopListening();
    await until('it is not ready', async () => (await service.request('GET', '/health/ready')).status === 503);
    await refused();
    await s3.listenAgain();
    s3.faultOf = () => 'refused';
    await refused();
    s3.faultOf = () => 'hang';
    await refused();
    expect(await vendorCalls()).toEqual(asked);

    s3.faultOf = () => undefined;
    await until('it is ready', async () => (await service.request('GET', '/health/ready')).status === 200);
    for (const request of requests) {
      const { status, text } = await request();
      expect([status, text]).toEqual([200, expect.anything()]);
    }
    const told = (await sessionEvents(service.dataDir)).map(({ type }) => type);
    expect(told.filter((type) => type === 'SessionErrored' || type === 'AttemptAbandoned')).toEqual([]);
  });
});

describe('a start of the service', () => {
  let service: Service;

  beforeAll(async () => {
    service = await Service.start(onS3(), { alone: ['service'] });
  });
  afterAll(() => service?.stop());

  it('continues with a warning while the vault is unavailable, and the service becomes ready later by itself', async () => {
    await service.program.end('SIGTERM');
    await s3.stopListening();
    const ready = service.startAgain();
    await until('it warns and listens', () =>
      /the vault cannot be used now[^]*"listening"/.test(service.program.output),
    );
    expect((await service.request('GET', '/health/ready')).body.checks.vault).toBe('failing');
    expect((await service.request('GET', '/health/live')).status).toBe(200);
    await s3.listenAgain();
    await ready;
    expect((await (await service.signIn('nopay')).submit()).body.status).toBe('VERIFIED');
  });

  it('leaves the service unready when the store returns with a bucket that keeps versions, and the log gives the reason', async () => {
    await service.program.end('SIGTERM');
    await s3.stopListening();
    s3.versioning = 'Suspended';
    const ready = service.startAgain();
    await until('it warns and listens', () =>
      /SIGTERM[^]*SIGTERM[^]*the vault cannot be used now[^]*"listening"/.test(service.program.output),
    );
    await s3.listenAgain();
    const caller = await service.signIn('nopay');
    expect((await caller.submit()).status).toBe(503);
    await until('it says why', () => service.program.output.includes('"cause":"VAULT_S3_BUCKET must name a bucket'));
    s3.versioning = null;
    await ready;
    expect((await caller.submit()).body.status).toBe('VERIFIED');
  });

  it.each([
    ['VAULT_S3_BUCKET', { VAULT_S3_BUCKET: 'no-such-bucket' }, null],
    ['AWS_ACCESS_KEY_ID', { AWS_ACCESS_KEY_ID: 'nobody' }, null],
    ['VAULT_S3_BUCKET', {}, 'Enabled'],
  ] as const)('ends with code 2 and one sentence that names %s (%j)', async (variable, env, versioning) => {
    await service.program.end('SIGTERM');
    s3.versioning = versioning;
    const stored = await s3.keys();
    const program = new Program('dist/src/main.js', { ...service.env, ...onS3(), ...env });
    program.spawn();
    expect(await program.ended()).toBe(2);
    const said = program.output.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
    expect(said).toEqual([expect.stringMatching(new RegExp(`^[^\\n]*${variable}[^\\n]*\\.$`))]);
    s3.versioning = null;
    expect(await s3.keys()).toEqual(stored);
  });
});
