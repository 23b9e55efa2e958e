// The health of a webhook endpoint across restarts of the service, and the mails about it (docs/contract/webhooks.md#endpoint-health).
// webhooks.e2e.test.ts covers it without restarts.
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SMTPServer } from 'smtp-server';
import { CertificateAuthority } from '../../support/certificates.js';
import { EndpointOwner, type ShownDelivery, trustFile } from '../../support/endpoint-owner.js';
import { until } from '../../support/eventually.js';
import { HttpsReceiver, type ReceivedRequest } from '../../support/https-receiver.js';
import { type Credentials, type PlatformCaller, type Reply, Service } from '../../support/service.js';

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
/** The delay of the last retry. Each delivery in this file ends before its last retry. */
const LATE = 300;

let trust: { readonly folder: string; readonly file: string };
let receiver: HttpsReceiver;
let service: Service;
let accounts: Credentials['accounts'];
let owner: EndpointOwner;
let broke: PlatformCaller;
let unrelated: PlatformCaller;
let mails: { readonly server: SMTPServer; readonly subjects: string[]; readonly recipients: string[] };

beforeAll(async () => {
  const authority = new CertificateAuthority();
  [receiver, trust, mails] = await Promise.all([
    HttpsReceiver.start({ authority }),
    trustFile(authority),
    mailServer(),
  ]);
  service = await Service.start({
    WEBHOOK_EGRESS_ALLOW: '127.0.0.1/32',
    NODE_EXTRA_CA_CERTS: trust.file,
    WEBHOOK_TIMEOUT: '1',
    WEBHOOK_RETRY_LADDER: `0.3,${LATE}`,
    SMTP_URL: `smtp://127.0.0.1:${(mails.server.server.address() as AddressInfo).port}`,
    MAIL_FROM: 'webhooks@service.example.test',
    LOG_LEVEL: 'warn',
  });
  ({ accounts } = await service.credentials());
  owner = new EndpointOwner(service, accounts.broke);
  [broke, unrelated] = await Promise.all([service.signIn('broke'), service.signIn('unrelated')]);
});

afterAll(async () => {
  await service?.stop();
  await receiver?.close();
  await new Promise<void>((resolve) => mails.server.close(() => resolve()));
  await rm(trust.folder, { recursive: true, force: true });
});

async function mailServer(): Promise<typeof mails> {
  const taken = { subjects: [] as string[], recipients: [] as string[] };
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS', 'AUTH'],
    logger: false,
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        taken.recipients.push(...session.envelope.rcptTo.map(({ address }) => address));
        taken.subjects.push(/^subject: (.*)$/im.exec(Buffer.concat(chunks).toString('utf8'))?.[1]?.trim() ?? '');
        done();
      });
    },
  });
  server.on('error', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  return { server, ...taken };
}

const refused = ({ status, body }: Reply): [number, string] => [status, body?.error?.code];
const at = (path: string): ReceivedRequest[] => receiver.requests.filter((request) => request.path === path);
const first = <Thing>(things: readonly Thing[]): Thing => things[0] as Thing;
const arrived = (path: string, count = 1): Promise<void> =>
  until(`${count} came to ${path}`, () => at(path).length >= count);

/** Submits a person who must pass a step-up. The submission makes one event, for an account of any kind. */
async function stepUp(caller: PlatformCaller): Promise<string> {
  const { status, text, body } = await caller.submit({ lastName: 'Otptest' });
  if (status !== 200) throw new Error(`The submission was refused: ${status} ${text}`);
  return body.id;
}

describe('the health of an endpoint', () => {
  const health = async (owner: EndpointOwner): Promise<[string, number]> => {
    const { status, consecutive_failures } = await owner.endpoint();
    return [status, consecutive_failures];
  };
  const contact = 'hooks@customer.example.test';
  let left: ShownDelivery;

  it("survives a restart together with the endpoint's pending deliveries", async () => {
    await owner.register(receiver.url('/status/500/sick'), { notify_email: contact });
    await stepUp(broke);
    left = await owner.only(
      'waits for its last retry',
      ({ attempt_count, next_attempt_at }) =>
        attempt_count === 2 && next_attempt_at !== null && Date.parse(next_attempt_at) > Date.now() + LATE * 500,
    );
    await service.program.end('SIGTERM');
    await service.startAgain({ WEBHOOK_RETRY_LADDER: '0.2', WEBHOOK_DISABLE_AFTER: '7', LOG_LEVEL: 'info' });
    expect(await owner.delivery(left.delivery_id)).toEqual(left);
  });

  it('becomes failing after three exhausted deliveries in a row, and one mail reports the change', async () => {
    for (const count of [1, 2]) {
      await stepUp(broke);
      await until(`${count} counts`, async () => (await health(owner))[1] === count);
      expect(await health(owner)).toEqual(['active', count]);
    }
    await Promise.all([stepUp(broke), stepUp(broke)]);
    await until('both count', async () => (await health(owner))[1] === 4);
    expect(await health(owner)).toEqual(['failing', 4]);
    const exhausted = await owner.deliveries({ status: 'exhausted' });
    expect(exhausted.map(({ attempt_count, next_attempt_at }) => [attempt_count, next_attempt_at])).toEqual(
      exhausted.map(() => [2, null]),
    );
    expect(exhausted).toHaveLength(4);
    const { last_error_code, last_http_status, recent_failures } = await owner.endpoint();
    expect([last_error_code, last_http_status, recent_failures]).toEqual([
      'HTTP_STATUS',
      500,
      await owner.deliveries(),
    ]);
    expect(recent_failures).toHaveLength(5);
    await until('a mail has come', () => mails.subjects.length > 0);
    expect([mails.subjects, mails.recipients]).toEqual([[expect.stringMatching(/ is failing$/)], [contact]]);
    const failing = await service.ops('deliveries', 'failing', '--account', owner.account.accountId);
    expect([
      failing.exitCode,
      failing.stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ]).toEqual([
      0,
      [
        {
          account: owner.account.accountId,
          environment: 'test',
          endpoint: owner.endpointId,
          state: 'failing',
          since: expect.stringMatching(TIME),
          consecutiveFailures: 4,
          lastFailureAt: expect.stringMatching(TIME),
          lastErrorCode: 'HTTP_STATUS',
          lastHttpStatus: 500,
          retrying: 1,
          exhausted: 4,
        },
      ],
    ]);
    const all = await service.ops('deliveries', 'failing');
    expect([all.exitCode, all.stdout]).toEqual([0, expect.stringContaining(failing.stdout.trimEnd())]);
  });

  it('becomes active again after a success, and one mail reports the change', async () => {
    await owner.change({ url: receiver.url('/well') });
    expect((await health(owner))[0]).toBe('failing');
    await Promise.all([stepUp(broke), stepUp(broke)]);
    await arrived('/well', 2);
    await until('it has recovered', async () => (await health(owner))[0] === 'active');
    expect(await health(owner)).toEqual(['active', 0]);
    expect(await owner.endpoint()).toMatchObject({
      last_success_at: expect.stringMatching(TIME),
      last_failure_at: expect.stringMatching(TIME),
      disabled_reason: null,
    });
    await until('a mail has come', () => mails.subjects.length > 1);
    expect(mails.subjects.slice(1)).toEqual([expect.stringMatching(/ works again$/)]);
  });

  it('becomes disabled when no delivery succeeds for too long: pending deliveries are canceled, nothing is sent, and one mail reports each change', async () => {
    await owner.change({ url: receiver.url('/status/500/sick-again') });
    await Promise.all([stepUp(broke), stepUp(broke), stepUp(broke)]);
    await until('it is failing', async () => (await health(owner))[0] === 'failing');
    await until('it is disabled', async () => (await health(owner))[0] === 'disabled');
    expect(await owner.endpoint()).toMatchObject({ disabled_reason: expect.any(String), consecutive_failures: 3 });
    await until(
      'the delivery from before the restart is canceled',
      async () => (await owner.delivery(left.delivery_id)).status === 'canceled',
    );
    expect(await owner.delivery(left.delivery_id)).toMatchObject({ attempt_count: 2, next_attempt_at: null });
    await until('both mails have come', () => mails.subjects.length > 3);
    expect(mails.subjects.slice(2)).toEqual([
      expect.stringMatching(/ is failing$/),
      expect.stringMatching(/ was disabled$/),
    ]);

    const before = receiver.counts.requests;
    expect(refused(await owner.redeliver(left.delivery_id))).toEqual([409, 'WEBHOOK_ENDPOINT_DISABLED']);
    expect(refused(await owner.ping())).toEqual([409, 'WEBHOOK_ENDPOINT_DISABLED']);
    await stepUp(broke);
    expect(receiver.counts.requests).toBe(before);
  });

  it('is restored by a PUT: the counters start again, and new events are sent', async () => {
    const known = (await owner.deliveries()).length;
    const { status, body } = await owner.change({ url: receiver.url('/back') });
    expect([status, body.status, body.consecutive_failures, body.disabled_reason]).toEqual([200, 'active', 0, null]);
    const id = await stepUp(broke);
    await arrived('/back');
    expect(at('/back').map((request) => owner.verified(request).data.session_id)).toEqual([id]);
    expect(await owner.deliveries()).toHaveLength(known + 1);
    await until('a mail reports it', () => mails.subjects.length > 4);
    expect(mails.subjects.slice(4)).toEqual([expect.stringMatching(/ is active again$/)]);
  });

  it('is in the event feed, and no endpoint has got it', async () => {
    const headers = { 'x-secret-key': owner.account.secretKey };
    const types = 'endpoint.failing,endpoint.recovered,endpoint.disabled';
    const { status, body } = await service.request('GET', `/v1/events?types=${types}`, { headers });
    const endpoint_id = owner.endpointId;
    const failing = ['endpoint.failing', { endpoint_id, disable_after: expect.stringMatching(TIME) }];
    expect([status, body.data.map(({ event }: any) => [event.type, event.data])]).toEqual([
      200,
      [
        failing,
        ['endpoint.recovered', { endpoint_id }],
        failing,
        ['endpoint.disabled', { endpoint_id, reason_code: 'NO_SUCCESSFUL_DELIVERY' }],
      ],
    ]);
    const delivered = (await owner.deliveries()).map(({ event_type }) => event_type);
    expect(new Set(delivered)).toEqual(new Set(['screening.step_up_required']));
    expect(refused(await owner.change({ enabled_events: ['endpoint.failing'] }))).toEqual([400, 'VALIDATION_ERROR']);
  });

  it("has one log line for each of its changes, and the line does not hold the endpoint's address", () => {
    const lines = service.program.output.split('\n').filter((line) => line.includes('"webhook endpoint changed"'));
    const told = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(told.map(({ change, outcome }) => [change, outcome])).toEqual([
      ['failing', 'failing'],
      ['updated', 'failing'],
      ['recovered', 'active'],
      ['updated', 'active'],
      ['failing', 'failing'],
      ['disabled', 'disabled'],
      ['reactivated', 'active'],
    ]);
    for (const { accountId, endpointId, requestId } of told)
      expect([accountId, endpointId, requestId]).toEqual([
        owner.account.accountId,
        owner.endpointId,
        expect.any(String),
      ]);
    expect(lines.join('\n')).not.toMatch(/https?:|127\.0\.0\.1|@/);
  });
});

describe('a webhook address that is no longer public', () => {
  it('is refused with BLOCKED_ADDRESS before any request is sent, and no endpoint can be registered with it', async () => {
    const other = new EndpointOwner(service, accounts.unrelated);
    await other.register(receiver.url('/inside'));
    await service.program.end('SIGTERM');
    await service.startAgain({ WEBHOOK_EGRESS_ALLOW: '' });
    const { requests, handshakes } = receiver.counts;
    const ping = (await other.ping()).body;
    expect(ping).toEqual({
      delivery_id: expect.any(String),
      error_code: 'BLOCKED_ADDRESS',
      latency_ms: expect.any(Number),
    });
    await stepUp(unrelated);
    await until('the delivery has failed', async () => (await other.deliveries({ status: 'exhausted' })).length === 1);
    const { attempts } = await other.delivery(first(await other.deliveries({ status: 'exhausted' })).delivery_id);
    expect(attempts).toEqual(
      [1, 2].map(() => ({
        attempted_at: expect.stringMatching(TIME),
        http_status: null,
        error_code: 'BLOCKED_ADDRESS',
        latency_ms: expect.any(Number),
        response_excerpt: null,
      })),
    );
    expect(receiver.counts).toMatchObject({ requests, handshakes });
    expect(refused(await other.change({ url: receiver.url('/inside-too') }))).toEqual([400, 'WEBHOOK_URL_INVALID']);
  });
});
