// The delivery queue when one of its worker processes is killed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../../support/eventually.js';
import { Deliveries, deliveries, enqueueAll, Receivers } from './deliveries.js';

describe('The delivery queue', () => {
  let world: Deliveries;
  const receivers = new Receivers(() => 2);

  beforeAll(async () => {
    world = await Deliveries.start();
  });
  afterAll(async () => {
    await world.clear();
    await world.end();
  });

  describe('when a process dies', () => {
    it('another process makes the attempts that the killed process had begun', async () => {
      const one = await world.process(receivers.perform);
      const child = spawn(
        process.execPath,
        [
          '--import',
          fileURLToPath(new URL('../../support/typescript.js', import.meta.url)),
          fileURLToPath(new URL('./worker-process.ts', import.meta.url)),
          world.server.url,
        ],
        {
          stdio: ['ignore', 'pipe', 'inherit'],
        },
      );
      try {
        let begun = '';
        child.stdout.on('data', (data: Buffer) => (begun += data.toString()));
        const jobs = deliveries('ok', 3);
        await enqueueAll(one, jobs);
        await until(() => begun.split('\n').length > 3);
      } finally {
        const exited = once(child, 'exit');
        child.kill('SIGKILL');
        await exited;
      }
      expect(await one.queue.backlog()).toMatchObject({ waiting: 3 });
      one.worker.start();
      await until(() => receivers.answered.length === 3);
      expect(one.reclaimed()).toBe(1);
      await until(async () => (await one.queue.backlog()).waiting === 0);
    });
  });
});
