// The tests change the master keys of the vault as an operator does: step by step while the service runs.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type PlatformCaller, Program, Service } from '../../support/service.js';

const key = (id: string): string => `${id}:${randomBytes(32).toString('base64')}`;
const [first, second] = [key('first'), key('second')];
let service: Service;
let caller: PlatformCaller;
let sessionId: string;

beforeAll(async () => {
  service = await Service.start({ VAULT_MASTER_KEY: first });
  caller = await service.signIn('nopay');
  sessionId = (await caller.submit()).body.id;
  expect((await caller.get(`/reports/${sessionId}`)).status).toBe(200);
});
afterAll(() => service.stop());

/** The output of a process that is started with these keys, until it ends. */
async function refusedStart(
  script: string,
  masterKeys: string,
  ...args: string[]
): Promise<{ readonly exitCode: number | string; readonly output: string }> {
  const program = new Program(script, { ...service.env, VAULT_MASTER_KEY: masterKeys }, args);
  program.spawn();
  const exitCode = await program.ended();
  return { exitCode, output: program.output };
}

describe('the master keys', () => {
  it('make the service ready only when it can read its vault: the 200 reply names the vault too', async () => {
    expect((await service.request('GET', '/health/ready')).body).toMatchObject({
      status: 'ok',
      checks: { vault: 'ok' },
    });
  });

  it('are all needed until every data key is encrypted with the new key, and then the old key is not needed', async () => {
    await service.program.end('SIGTERM');
    for (const [script, exitCode, args] of [
      ['dist/src/main.js', 2, []],
      ['dist/src/ops/main.js', 1, ['accounts', 'list']],
    ] as const) {
      const refused = await refusedStart(script, second, ...args);
      expect(refused).toEqual({
        exitCode,
        output: "VAULT_MASTER_KEY lacks 'first', under which stored data is sealed.\n",
      });
    }
    expect((await refusedStart('dist/src/main.js', key('first'))).output).toBe(
      "VAULT_MASTER_KEY gives another key as 'first' than the one under which stored data is sealed.\n",
    );
    await service.startAgain({ VAULT_MASTER_KEY: `${second},${first}` });
    const { exitCode, stdout } = await service.ops('vault', 'rewrap');
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      masterKeyId: 'second',
      rewrapped: expect.any(Number),
      dataKeys: expect.any(Number),
    });
    expect((await caller.get(`/reports/${sessionId}`)).status).toBe(200);
    await service.program.end('SIGTERM');
    await service.startAgain({ VAULT_MASTER_KEY: second });
    expect((await caller.get(`/reports/${sessionId}`)).status).toBe(200);
    expect((await (await service.signIn('nopay')).submit()).body.status).toBe('VERIFIED');
  });
});
