// A second vendor is asked beside the first, and only operators learn its verdicts. Also the changes of one process, which are effective in others.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../support/eventually.js';
import { type PlatformCaller, Service } from '../support/service.js';

const WHY = ['--reason', 'ticket 4711'] as const;

let service: Service;
let caller: PlatformCaller;
let account: string;

beforeAll(async () => {
  service = await Service.start({ VENDOR_TIMEOUT: '6' }, { roles: ['projector', 'worker', 'api'] });
  account = (await service.credentials()).accounts.nopay.accountId;
  caller = await service.signIn('nopay');
});
afterAll(() => service?.stop());

async function told(...command: string[]): Promise<any[]> {
  const { exitCode, stdout } = await service.ops(...command);
  if (exitCode !== 0) throw new Error(`${command.join(' ')} ended with ${exitCode}: ${stdout}`);
  return jsonLines(stdout);
}

function jsonLines(text: string): any[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

const route = (...words: string[]): Promise<any[]> => told('vendors', 'route', 'identity', ...words, ...WHY);
/** The number of verifications that acme has received. */
async function sentToAcme(): Promise<number> {
  const calls: any = await (await fetch(`${service.sandboxUrl}/vendors/acme/control/calls`)).json();
  return calls.operations.verification.received;
}

const differences = (...words: string[]): Promise<any[]> => told('vendors', 'differences', ...words);

/** The stored comparison of a session. */
async function comparisonOf(id: string): Promise<any> {
  const { exitCode, stdout } = await service.ops('stream', 'show', 'vendor_comparisons-installation');
  if (exitCode !== 0) return undefined;
  return jsonLines(stdout).find(({ data }) => data.sessionId === id);
}

async function verified(lastName: string): Promise<string> {
  const { status, body } = await caller.submit({ lastName });
  expect([status, body.status]).toEqual([200, 'VERIFIED']);
  return body.id;
}

describe('the shadow of a route', () => {
  beforeAll(async () => {
    await route('idv=1', '--shadow', 'acme');
    await until('the processes know the route', async () => {
      await verified('Example');
      return (await sentToAcme()) > 0;
    });
  });

  it('gives another verdict, which only operators see', async () => {
    const id = await verified('Minortest');
    await until('the verdicts are compared', async () => (await comparisonOf(id)) !== undefined);
    const [first, shadow] = [
      { vendor: 'idv', verdict: 'confirmed' },
      { vendor: 'acme', verdict: 'refused' },
    ];
    const rows = await differences('--vendor', 'acme');
    expect(rows).toContainEqual({ first, shadow, result: 'differ', count: 1, sessions: [id] });
    const agreeing = { result: 'agree', count: expect.any(Number), sessions: [] };
    expect(rows).toContainEqual({ first, shadow: { vendor: 'acme', verdict: 'confirmed' }, ...agreeing });
    expect(await differences('--vendor', 'idv')).toEqual([]);
    expect(await differences('--since', '2100-01-01T00:00:00Z')).toEqual([]);

    const { secretKey } = (await service.credentials()).accounts.nopay;
    const events = await service.request('GET', '/v1/events', { headers: { 'x-secret-key': secretKey } });
    expect([events.status, events.text]).toEqual([200, expect.stringContaining(id)]);
    const told = [events.text, (await caller.status(id)).text, (await service.ops('stream', 'show', id)).stdout];
    expect(told.join()).not.toMatch(/acme|refused/);
  });

  it('is slow or hangs, and the person is verified while it does', async () => {
    const slow = await verified('Slowtest');
    // Acme needs seconds. If the person had waited for acme, the comparison would be there.
    expect(await comparisonOf(slow)).toBeUndefined();
    await until('the slow verdicts are compared', async () => (await comparisonOf(slow)) !== undefined);

    const id = await verified('Latetest');
    await until('the call of acme has timed out', async () => (await comparisonOf(id)) !== undefined);
    const unanswered = { shadow: { vendor: 'acme', verdict: 'timed-out' }, result: 'unanswered' };
    expect(await differences()).toContainEqual(expect.objectContaining({ ...unanswered, count: 1, sessions: [id] }));
  });
});

describe('a change by an operator, in the processes of the service', () => {
  it('pauses a vendor, resumes it, and leads new sessions to another vendor without a restart', async () => {
    await told('vendors', 'pause', 'idv', '--environment', 'test', ...WHY);
    await until('calls are refused', async () => {
      const { status, headers } = await caller.submit();
      return status === 503 && headers.get('retry-after') === '60';
    });
    await told('vendors', 'resume', 'idv', ...WHY);
    await until('calls are made', async () => (await caller.submit()).status === 200);
    await told('vendors', 'route', 'credit', 'idv=1', 'acme=1', ...WHY);
    await route('acme=1', '--account', account);
    await until('acme decides', async () => (await caller.submit({ lastName: 'Minortest' })).status !== 200);
  });
});
