// (h) The cost that one dead receiver causes for other receivers, measured on two services with the same events of one
// account. In one service, the receiver accepted all events. In the other service, the receiver refused every
// connection, so each delivery was exhausted. Afterwards the two services do the same work one after the other.
import { setTimeout as pause } from 'node:timers/promises';
import { aPerson, type PlatformCaller, type Service } from '../support/service.js';
import { until } from '../support/eventually.js';
import { medians, tell, throughput } from './measure.js';
import { StepUps } from './step-ups.js';
import { BenchReceiver } from './webhook-receiver.js';
import { ENDPOINT_OWNERS, serviceWithEndpoints } from './webhooks.js';

const EXHAUSTIONS = Number(process.env['EXHAUSTIONS'] ?? 20_000);
const ROUNDS = Number(process.env['ROUNDS'] ?? 5);
const SUBMISSIONS = 400;
const IN_FLIGHT = 16;
const HEALTHY = ENDPOINT_OWNERS.filter((name) => name !== 'broke');
const LOOK_EVERY_MS = 1_000;
const HOUR_MS = 3_600_000;

interface Running {
  readonly service: Service;
  /** The deliveries of a round that reach their receiver. */
  readonly arriving: number;
  readonly callers: ReadonlyMap<string, PlatformCaller>;
}

export async function benchDeadReceiver(): Promise<void> {
  const receiver = await BenchReceiver.start();
  const running: Running[] = [];
  try {
    running.push(await prepared(receiver, null), await prepared(receiver, 'https://127.0.0.1:1/'));
    const [undisturbed, disturbed] = running as [Running, Running];
    const round = (one: Running) => () => toOthers(one, receiver);
    // One round of each service runs first and is not measured.
    for (const one of running) await round(one)();
    const rates = await medians(ROUNDS, { undisturbed: round(undisturbed), disturbed: round(disturbed) });
    const after = `after ${EXHAUSTIONS.toLocaleString('en-US')}`;
    tell(`(h) screenings with their deliveries, ${after} that were taken`, rates.undisturbed, '/s');
    tell(`(h) a dead receiver, others unaffected, ${after} exhaustions`, rates.disturbed, '/s');
    tell('(h) disturbed / undisturbed', rates.disturbed / rates.undisturbed, '', { atLeast: 0.95 });
  } finally {
    for (const { service } of running) await service.stop();
    await receiver.close();
  }
}

/**
 * A service that has handled the account's events. The account's receiver accepted the events, or is dead at the
 * address `dead`.
 */
async function prepared(receiver: BenchReceiver, dead: string | null): Promise<Running> {
  const { service, ids } = await serviceWithEndpoints(
    receiver,
    { WEBHOOK_RETRY_LADDER: '0', LIMITS: 'off' },
    dead === null ? {} : { broke: dead },
  );
  await service.program.end('SIGTERM');
  const stepUps = StepUps.open(service.dataDir);
  await throughput(EXHAUSTIONS, 64, async () => stepUps.require(await stepUps.submit(ids['broke'] ?? '')));
  await stepUps.close();
  await receiver.received(true);
  await service.startAgain();
  const done = async (): Promise<number> =>
    dead === null ? (await receiver.received()).unique : await failuresInARow(service);
  for (const until = Date.now() + HOUR_MS; (await done()) < EXHAUSTIONS; await pause(LOOK_EVERY_MS))
    if (Date.now() > until) throw new Error(`${await done()} of ${EXHAUSTIONS} events were done within an hour`);
  const callers = new Map<string, PlatformCaller>();
  for (const name of ENDPOINT_OWNERS) callers.set(name, await service.signIn(name));
  // One submission in ten belongs to that account.
  return { service, arriving: SUBMISSIONS * (dead === null ? 1 : 0.9), callers };
}

async function failuresInARow(service: Service): Promise<number> {
  const { accounts } = await service.credentials();
  const { body } = await service.request('GET', '/tsp/webhooks', {
    headers: { authorization: `Bearer ${accounts.broke.dashboardTokens.owner}` },
  });
  return (body as readonly { readonly consecutive_failures: number }[])[0]?.consecutive_failures ?? 0;
}

/** Screenings a second, from the first submission to the last delivery that arrives. */
async function toOthers({ callers, arriving }: Running, receiver: BenchReceiver): Promise<number> {
  await receiver.received(true);
  const startedAt = Date.now();
  let next = 0;
  await throughput(SUBMISSIONS, IN_FLIGHT, async () => {
    const index = next++;
    const name = index % 10 === 9 ? 'broke' : (HEALTHY[index % HEALTHY.length] ?? 'nopay');
    const reply = await callers.get(name)?.submit(aPerson({ lastName: 'Otptest' }));
    if (reply?.status !== 200) throw new Error(`A submission answered ${reply?.status}`);
  });
  await until('all that can arrive has arrived', async () => (await receiver.received()).unique >= arriving);
  return SUBMISSIONS / (((await receiver.received()).lastAt - startedAt) / 1_000);
}
