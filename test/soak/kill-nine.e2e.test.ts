// kill -9 of the whole service at random moments under load. Every acknowledged change is in the log, no session stays
// stuck, and the vendor executed no call twice.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ALONE, aPerson, type PlatformCaller, Service } from '../support/service.js';
import { until } from '../support/eventually.js';
import { follows, unsettled } from '../support/sessions-in-log.js';

const ROUNDS = 4;
const CALLERS = 24;

let service: Service;
let caller: PlatformCaller;

beforeAll(async () => {
  service = await Service.start({ VENDOR_TIMEOUT: '2', STEP_UP_TTL: '3600', LOG_LEVEL: 'warn' }, { alone: ALONE });
  caller = await service.signIn('nopay');
});
afterAll(() => service.stop());

/** The last status that the service answered for each session. */
const acknowledged = new Map<string, string>();

async function load(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const kind = ['Example', 'Otptest', 'Kbatest'][Math.floor(Math.random() * 3)] as string;
      const { status, body } = await caller.submit(aPerson({ lastName: kind }));
      if (status !== 200) continue;
      acknowledged.set(body.id, body.status);
      if (kind === 'Otptest') {
        for (const code of ['000000', '123456']) {
          const answer = await caller.post(`/screening/${body.id}/otp`, { code });
          if (answer.status === 200) acknowledged.set(body.id, answer.body.status);
        }
      }
    } catch {
      // The service was killed during the request. The service acknowledged nothing, and the request may have had any
      // effect.
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

describe('kill -9 under load', () => {
  it(`loses nothing, leaves no session stuck and makes no vendor call twice (rounds: ${ROUNDS})`, async () => {
    for (let round = 1; round <= ROUNDS; round++) {
      const stop = new AbortController();
      const loads = Array.from({ length: CALLERS }, () => load(stop.signal));
      const before = acknowledged.size;
      await until('there is load', () => acknowledged.size >= before + 30);
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 300));
      await service.kill9();
      stop.abort();
      await Promise.all(loads);
      await service.startAgain();
      for (const [id, status] of acknowledged) {
        const now = await caller.status(id);
        expect([id, now.status, status, now.body.status, follows(status, now.body.status)]).toEqual([
          id,
          200,
          status,
          now.body.status,
          true,
        ]);
      }
    }

    // The recovery job settles every session whose caller died, so that no open vendor call is forgotten.
    await until('no attempt is left without a verdict', async () => (await unsettled(service.dataDir)).length === 0);

    const { receivedTwice } = (await (await fetch(`${service.sandboxUrl}/control/calls`)).json()) as {
      receivedTwice: string[];
    };
    expect(receivedTwice).toEqual([]);
    const audit = await service.ops('audit', 'verify');
    expect([audit.exitCode, audit.stdout]).toEqual([0, expect.stringContaining('"brokenLinks":0')]);
  });
});
