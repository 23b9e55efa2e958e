// (g) Webhook deliveries over HTTPS, from the stored event to the receiver, and the effect of hanging receivers on
// healthy receivers. The receiver is another process. Benchmark k measures the cost of a delivery.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ALONE, aPerson, Service, type PlatformCaller } from '../support/service.js';
import { quantile, tell, throughput } from './measure.js';
import { StepUps } from './step-ups.js';
import { BenchReceiver, type Received } from './webhook-receiver.js';
import { until } from '../support/eventually.js';

const DELIVERIES = 6_000;
const HEALTHY = ['demo', 'child', 'grandchild', 'unrelated', 'nopay'] as const;
/** The accounts that have an endpoint. */
export const ENDPOINT_OWNERS = [...HEALTHY, 'broke'] as const;
const TRICKLE = 1_200;

export async function benchWebhooks(): Promise<void> {
  const receiver = await BenchReceiver.start();
  try {
    const calm = await drained(receiver, false);
    const disturbed = await drained(receiver, true);
    tell('(g) deliveries, all receivers healthy', calm, 'unique/s');
    tell('(g) healthy deliveries while 10 % go to receivers that hang 8 s', disturbed, 'unique/s');
    tell('(g) disturbed / calm, healthy receivers (calm has 10 % more of them)', disturbed / (calm * 0.9), '', {
      atLeast: 0.9,
    });
    const quiet = await trickled(receiver, false);
    const amidst = await trickled(receiver, true);
    tell('(g) from event to receipt, p50', quantile(quiet.ages, 0.5), 'ms');
    tell('(g) from event to receipt, p99', quantile(quiet.ages, 0.99), 'ms');
    tell('(g) the same with 10 % hanging, p50', quantile(amidst.ages, 0.5), 'ms');
    tell('(g) the same with 10 % hanging, p99', quantile(amidst.ages, 0.99), 'ms');
    tell(
      '(g) undisturbed p99 / disturbed p99 (1/3 is the limit)',
      quantile(quiet.ages, 0.99) / quantile(amidst.ages, 0.99),
      '',
      { atLeast: 1 / 3 },
    );
  } finally {
    await receiver.close();
  }
}

/** Starts a service with its accounts' endpoints at the receiver, except the accounts in `elsewhere`. */
export async function serviceWithEndpoints(
  receiver: BenchReceiver,
  env: Readonly<Record<string, string>> = {},
  elsewhere: Readonly<Partial<Record<(typeof ENDPOINT_OWNERS)[number], string>>> = {},
): Promise<{ readonly service: Service; readonly ids: Readonly<Record<string, string>> }> {
  const service = await Service.start(
    {
      LOG_LEVEL: 'warn',
      WEBHOOK_EGRESS_ALLOW: '127.0.0.1/32',
      NODE_EXTRA_CA_CERTS: await caFile(receiver),
      ...env,
    },
    { alone: ALONE },
  );
  const { accounts } = await service.credentials();
  for (const name of ENDPOINT_OWNERS) {
    const { dashboardTokens } = accounts[name];
    const url = elsewhere[name] ?? receiver.url(`/${name}`);
    const reply = await service.request('POST', '/tsp/webhooks', {
      headers: { authorization: `Bearer ${dashboardTokens.owner}` },
      body: { url },
    });
    if (reply.status !== 201) throw new Error(`The endpoint was refused: ${reply.status} ${reply.text}`);
  }
  return { service, ids: Object.fromEntries(ENDPOINT_OWNERS.map((name) => [name, accounts[name].accountId])) };
}

/** The address of the endpoint of the account `broke`. */
function hangingIf(hanging: boolean, receiver: BenchReceiver): { readonly broke?: string } {
  return hanging ? { broke: receiver.url('/hang') } : {};
}

async function caFile(receiver: BenchReceiver): Promise<string> {
  const path = join(process.env['TMPDIR'] ?? '/tmp', `webhook-bench-ca-${process.pid}.pem`);
  await writeFile(path, receiver.ca);
  return path;
}

/**
 * Unique deliveries a second to healthy receivers, from a backlog that was stored while the service was stopped. A
 * tenth of the backlog belongs to `broke`.
 */
async function drained(receiver: BenchReceiver, hanging: boolean): Promise<number> {
  const { service, ids } = await serviceWithEndpoints(receiver, {}, hangingIf(hanging, receiver));
  try {
    await service.program.end('SIGTERM');
    await storeStepUps(service.dataDir, ids);
    await receiver.received(true);
    await service.startAgain();
    const expected = hanging ? DELIVERIES * 0.9 : DELIVERIES;
    await until('everything healthy has arrived', async () => (await receiver.received()).unique >= expected, 300_000);
    const { unique, firstAt, lastAt } = await receiver.received(true);
    return unique / ((lastAt - firstAt) / 1_000);
  } finally {
    await service.stop();
  }
}

/** Stores one event for delivery in each session. */
async function storeStepUps(dataDir: string, ids: Readonly<Record<string, string>>): Promise<void> {
  const stepUps = StepUps.open(dataDir);
  let next = 0;
  await throughput(DELIVERIES, 64, async () => {
    const index = next++;
    const account = index % 10 === 9 ? 'broke' : (HEALTHY[index % HEALTHY.length] ?? 'nopay');
    await stepUps.require(await stepUps.submit(ids[account] ?? ''));
  });
  await stepUps.close();
}

/** Screens people at a slow pace. Returns the age of each webhook's event when the receiver got the webhook. */
async function trickled(receiver: BenchReceiver, hanging: boolean): Promise<Received> {
  const { service } = await serviceWithEndpoints(receiver, {}, hangingIf(hanging, receiver));
  try {
    const callers = new Map<string, PlatformCaller>();
    for (const name of ENDPOINT_OWNERS) callers.set(name, await service.signIn(name));
    await receiver.received(true);
    let next = 0;
    await throughput(TRICKLE, 8, async () => {
      const index = next++;
      const account = index % 10 === 9 ? 'broke' : (HEALTHY[index % HEALTHY.length] ?? 'nopay');
      const reply = await callers.get(account)?.submit(aPerson({ lastName: 'Otptest' }));
      if (reply?.status !== 200) throw new Error(`A submission answered ${reply?.status}`);
    });
    const expected = hanging ? TRICKLE * 0.9 : TRICKLE;
    await until('everything healthy has arrived', async () => (await receiver.received()).unique >= expected);
    return await receiver.received(true);
  } finally {
    await service.stop();
  }
}
