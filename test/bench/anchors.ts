// (k): the service beside its anchors, hand-made programs for the same work (docs/benchmarks.md).
// `npm run bench -- k`; `npm run bench -- k submit otp` measures some operations only, and ROUNDS=1 is for a quick look.
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'undici';
import { ALONE, aPerson, Service } from '../support/service.js';
import { Anchor } from './anchor/process.js';
import { call, type Caller } from './caller.js';
import { compare, type Operation, type Side, tellHeader, timed } from './comparison.js';
import { BenchReceiver } from './webhook-receiver.js';

const CONNECTIONS = 64;

export async function benchAnchors(chosen: readonly string[]): Promise<void> {
  const receiver = await BenchReceiver.start();
  const ca = join(tmpdir(), `anchor-bench-ca-${process.pid}.pem`);
  await writeFile(ca, receiver.ca);
  const service = await Service.start(
    { LOG_LEVEL: 'warn', WEBHOOK_EGRESS_ALLOW: '127.0.0.1/32', NODE_EXTRA_CA_CERTS: ca },
    { alone: ALONE },
  );
  const anchor = await Anchor.start(service.sandboxUrl, { origin: receiver.url(''), ca: receiver.ca });
  try {
    const { headers } = await service.signIn('nopay');
    const json = { 'content-type': 'application/json' };
    const pool = (url: string): Pool => new Pool(url, { connections: CONNECTIONS });
    const ours: Side = { name: 'service', pid: service.program.pid ?? 0, redis: service.redis };
    const its: Side = { name: 'anchor', pid: anchor.pid, redis: anchor.redis };
    const page: Caller = { pool: pool(service.baseUrl), headers: { ...headers, ...json } };
    const hand: Caller = { pool: pool(anchor.url), headers: { authorization: `Bearer ${anchor.token}`, ...json } };
    const wanted = (name: string): boolean => chosen.length === 0 || chosen.includes(name);

    tellHeader();
    if (wanted('submit'))
      await compare({
        name: 'submit',
        ours: { ...ours, operation: submission(page) },
        other: { ...its, operation: submission(hand) },
        counts: { 64: 1_500, 8: 600, 1: 200 },
        target: 0.5,
        p50Within: 1.7,
      });
  } finally {
    await anchor.stop();
    await service.stop();
    await receiver.close();
  }
}

function submission(caller: Caller): Operation {
  return timed(async () => {
    const { status } = await call(caller, 'POST', '/screening/submit', aPerson());
    if (status !== 'VERIFIED') throw new Error(`A submission ended as ${status}`);
  });
}
