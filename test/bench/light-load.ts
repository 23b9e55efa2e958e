// (o) Webhook deliveries at a slow pace, which is typical of most services. Single events share no work. The
// measurement counts neither this process, which appends the events, nor the process of the receiver.
import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { commandsOf, cpuMsOf, paced, quantile, tell } from './measure.js';
import { storedDelivery } from './operations.js';
import { StepUps } from './step-ups.js';
import { BenchReceiver } from './webhook-receiver.js';
import { serviceWithEndpoints } from './webhooks.js';

const A_SECOND = 20;
const SECONDS = Number(process.env['SECONDS'] ?? 60);
/** The first seconds are not measured, because Node compiles the service in this time. */
const WARMING_SECONDS = 20;

export async function benchLightLoad(): Promise<void> {
  const receiver = await BenchReceiver.start();
  const { service, ids } = await serviceWithEndpoints(receiver);
  const stepUps = StepUps.open(service.dataDir);
  try {
    const operation = storedDelivery(receiver, stepUps, Object.values(ids));
    const round = async (seconds: number): Promise<number[]> => {
      const times: number[] = [];
      await paced(A_SECOND, pause(seconds * 1_000), async () => void times.push(await operation.run()));
      return times.sort((one, other) => one - other);
    };
    await operation.prepare?.(2 * A_SECOND * (WARMING_SECONDS + SECONDS));
    await round(WARMING_SECONDS);
    const [pid, redisPid] = [service.program.pid ?? 0, service.redis.pid ?? 0];
    const redis = service.redis.client();
    const used = async () => ({
      service: await cpuMsOf(pid),
      redis: await cpuMsOf(redisPid),
      commands: [...(await commandsOf(redis)).values()].reduce((sum, calls) => sum + calls, 0),
      written: (await writtenBytesOf(pid)) + (await writtenBytesOf(redisPid)),
    });
    const before = await used();
    const times = await round(SECONDS);
    // Work that the service does after a delivery counts too.
    await pause(2_000);
    const after = await used();
    const each = (name: keyof typeof before): number => (after[name] - before[name]) / times.length;
    tell('(o) 20 deliveries a second: from the stored event to the receipt, p50', quantile(times, 0.5), 'ms');
    tell('(o) the same, p99', quantile(times, 0.99), 'ms');
    tell('(o) processor time of the service', each('service'), 'ms a delivery');
    tell('(o) processor time of Redis', each('redis'), 'ms a delivery');
    tell('(o) commands of Redis', each('commands'), 'a delivery');
    tell('(o) written to disk', each('written') / 1_024, 'KiB a delivery');
    redis.disconnect();
  } finally {
    await stepUps.close();
    await service.stop();
    await receiver.close();
  }
}

/** The bytes that a process has written to disk, or 0 when the system does not report them. */
async function writtenBytesOf(pid: number): Promise<number> {
  const io = await readFile(`/proc/${pid}/io`, 'utf8').catch(() => '');
  return Number(/^write_bytes: (\d+)/m.exec(io)?.[1] ?? 0);
}
