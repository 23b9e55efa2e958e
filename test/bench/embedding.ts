// (i) The time from `mount()` to `onReady` over loopback, in Chromium with a processor slowed down four times, and at
// full speed.
import { ONE_PROCESS } from '../support/browsers.js';
import { ALONE } from '../support/service.js';
import { Embedding } from '../support/embedding.js';
import { median, quantile, tell } from './measure.js';

const SLOWED = 4;
const MOUNTS = 15;
const TARGET_MS = 700;

export async function benchEmbedding(): Promise<void> {
  // The slowdown applies to one process of the browser, so page and frame must share a process.
  const embedding = await Embedding.start({ LOG_LEVEL: 'warn' }, { alone: ALONE, isolation: ONE_PROCESS });
  try {
    for (const factor of [1, SLOWED]) {
      const times: number[] = [];
      for (let mount = 0; mount < MOUNTS; mount++) times.push(await mountToReady(embedding, factor));
      const sorted = [...times].sort((one, other) => one - other);
      const name = `(i) mount() to onReady, processor slowed ${factor} times`;
      tell(`${name}, median`, median(times), 'ms', factor === SLOWED ? { below: TARGET_MS } : undefined);
      tell(`${name}, slowest of ${MOUNTS}`, quantile(sorted, 1), 'ms');
    }
  } finally {
    await embedding.stop();
  }
}

/** Measures in a new browser context with an empty cache. The time includes the token exchange. */
async function mountToReady(embedding: Embedding, factor: number): Promise<number> {
  const host = await embedding.open();
  const devtools = await host.page.context().newCDPSession(host.page);
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: factor });
  const { publishableKey } = embedding.credentials.accounts.demo;
  const taken = await host.page.evaluate(async (key) => {
    const { Service } = globalThis as any;
    const instance = await Service.init(key);
    const begun = performance.now();
    return new Promise<number>((resolve, reject) => {
      void instance.mount('screening', {
        selector: '#place',
        unitAddress: '12 Elm Street',
        onReady: () => resolve(performance.now() - begun),
        onError: (error: { code: string }) => reject(new Error(error.code)),
      });
    });
  }, publishableKey);
  await host.close();
  return taken;
}
