// Benchmark k compares the service with its anchors, which are simple programs for the same work (docs/benchmarks.md).
// `npm run bench -- k` measures all operations, and `npm run bench -- k submit otp` only the named operations. ROUNDS=1
// is for a quick look.
import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Pool } from 'undici';
import { ALONE, Service } from '../support/service.js';
import { Anchor } from './anchor/process.js';
import type { Caller } from './caller.js';
import { compare, type Comparison, type Operation, type Side, tellHeader } from './comparison.js';
import {
  deliveryBy,
  otpAnswer,
  reading,
  registration,
  reportPull,
  storedDelivery,
  submission,
  submitted,
} from './operations.js';
import { StepUps } from './step-ups.js';
import { BenchReceiver } from './webhook-receiver.js';

const CONNECTIONS = 64;
/** The accounts whose endpoints receive the deliveries. The account whose requests are measured has no endpoint. */
const RECEIVING = ['demo', 'child', 'grandchild', 'unrelated'] as const;
const JSON_BODY = { 'content-type': 'application/json' };

export async function benchAnchors(chosen: readonly string[]): Promise<void> {
  const receiver = await BenchReceiver.start();
  const ca = join(tmpdir(), `anchor-bench-ca-${process.pid}.pem`);
  await writeFile(ca, receiver.ca);
  const service = await Service.start(
    { LOG_LEVEL: 'warn', WEBHOOK_EGRESS_ALLOW: '127.0.0.1/32', NODE_EXTRA_CA_CERTS: ca },
    { alone: ALONE },
  );
  const anchor = await Anchor.start(service.sandboxUrl, { origin: receiver.url(''), ca: receiver.ca });
  const stepUps = StepUps.open(service.dataDir);
  try {
    const comparisons = await comparisonsOf(service, anchor, stepUps, receiver);
    const unknown = chosen.filter((name) => !comparisons.some((comparison) => comparison.name === name));
    if (unknown.length > 0) throw new Error(`(k) does not measure ${unknown.join(', ')}`);
    tellHeader();
    for (const comparison of comparisons)
      if (chosen.length === 0 || chosen.includes(comparison.name)) await compare(comparison);
  } finally {
    await stepUps.close();
    await anchor.stop();
    await service.stop();
    await receiver.close();
    await rm(ca);
  }
}

async function comparisonsOf(
  service: Service,
  anchor: Anchor,
  stepUps: StepUps,
  receiver: BenchReceiver,
): Promise<readonly Comparison[]> {
  const ours: Side = { name: 'service', pids: [service.program.pid ?? 0], redis: service.redis };
  const its: Side = { name: 'anchor', pids: [anchor.pid], redis: anchor.redis };
  const { headers } = await service.signIn('nopay');
  const { accounts } = await service.credentials();
  await addCredit(service, accounts.nopay.accountId);
  const pool = new Pool(service.baseUrl, { connections: CONNECTIONS });
  const page: Caller = { pool, headers: { ...headers, ...JSON_BODY } };
  const server: Caller = { pool, headers: { 'x-api-key': accounts.nopay.apiKey, ...JSON_BODY } };
  const hand: Caller = {
    pool: new Pool(anchor.url, { connections: CONNECTIONS }),
    headers: { authorization: `Bearer ${anchor.token}`, ...JSON_BODY },
  };
  const [mine, theirs] = [await submitted(page), await submitted(hand)];
  const status: Operation = reading(page, `/screening/${mine}/status`);
  return [
    {
      name: 'submit',
      ours: { ...ours, operation: submission(page) },
      other: { ...its, operation: submission(hand) },
      counts: { 64: 1_500, 8: 600, 1: 200 },
      target: 0.5,
      p50Within: 1.7,
    },
    {
      name: 'otp',
      ours: { ...ours, operation: otpAnswer(page) },
      other: { ...its, operation: otpAnswer(hand) },
      counts: { 64: 1_000, 8: 400, 1: 150 },
      target: 0.5,
    },
    {
      name: 'delivery',
      ours: { ...ours, operation: storedDelivery(receiver, stepUps, await endpointsAt(receiver, service)) },
      other: { ...its, operation: deliveryBy(receiver, (sessionId) => anchor.deliver(sessionId)) },
      counts: { 64: 1_500, 8: 600, 1: 200 },
      target: 0.6,
    },
    {
      name: 'status',
      ours: { ...ours, operation: status },
      other: { ...its, operation: reading({ ...hand, headers: {} }, `/status/${theirs}`) },
      counts: { 64: 8_000, 8: 4_000, 1: 1_000 },
      target: 0.65,
    },
    {
      name: 'report',
      ours: { ...ours, operation: reading(page, `/reports/${mine}`) },
      other: { ...ours, name: 'its status', operation: status },
      counts: { 64: 3_000, 8: 1_000, 1: 300 },
      target: 1 / 3,
    },
    {
      name: 'pull',
      ours: { ...ours, operation: reportPull(page) },
      other: { ...ours, name: 'its submit', operation: submission(page) },
      counts: { 64: 600, 8: 300, 1: 100 },
      target: 0.7,
    },
    {
      name: 'register',
      ours: { ...ours, operation: registration(server) },
      other: { ...ours, name: 'its submit', operation: submission(page) },
      counts: { 64: 600, 1: 100 },
      target: 0.95,
    },
  ];
}

/** Gives the account enough credit for all reports that are pulled. */
async function addCredit(service: Service, accountId: string): Promise<void> {
  const command = ['scripts/ops.mjs', 'accounts', 'credit', accountId, '--add', '1000000', '--reference', 'benchmark'];
  await promisify(execFile)(process.execPath, command, { env: { ...process.env, ...service.env } });
}

/** Registers endpoints at the receiver, and returns their accounts. */
async function endpointsAt(receiver: BenchReceiver, service: Service): Promise<readonly string[]> {
  const { accounts } = await service.credentials();
  for (const name of RECEIVING) {
    const reply = await service.request('POST', '/tsp/webhooks', {
      headers: { authorization: `Bearer ${accounts[name].dashboardTokens.owner}` },
      body: { url: receiver.url(`/${name}`) },
    });
    if (reply.status !== 201) throw new Error(`The endpoint was refused: ${reply.status} ${reply.text}`);
  }
  return RECEIVING.map((name) => accounts[name].accountId);
}
