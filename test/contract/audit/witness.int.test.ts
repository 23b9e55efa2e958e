// The client of witnesses against the sandbox's witness, over HTTP. The witness checks consistency with code of its own.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type RunningSandbox, startSandbox } from '../../../sandbox/server.js';
import { SANDBOX_WITNESS_KEY, SANDBOX_WITNESS_NAME, SandboxWitness } from '../../../sandbox/witness.js';
import { checkpointText, policyText } from '../../../src/transparency/checkpoint.js';
import { EMPTY_ROOT } from '../../../src/transparency/merkle-tree.js';
import type { Outside } from '../../../src/transparency/outside.js';
import { openNote, SignerKey } from '../../../src/transparency/signed-note.js';
import { Witness, WitnessKey } from '../../../src/transparency/witness.js';
import { until } from '../../support/eventually.js';
import { ALONE_IN_THE_WORLD, SEAL_KEYS, SmallLog } from '../../support/sealing.js';

const PLACE = `witness ${SANDBOX_WITNESS_NAME}`;
const KEY = WitnessKey.parse(SANDBOX_WITNESS_KEY) as WitnessKey;

let log: SmallLog;
let sandbox: RunningSandbox;

beforeEach(async () => {
  log = new SmallLog();
  await log.append(10);
  sandbox = await witnessOf(log);
});

afterEach(async () => {
  await sandbox.close();
  await log.close();
});

function witnessOf({ folder }: SmallLog, port = 0): Promise<RunningSandbox> {
  const policyFile = join(folder, 'policy');
  writeFileSync(policyFile, policyText(SEAL_KEYS.verifiers));
  const witness = new SandboxWitness({ file: join(folder, 'witness.json'), policyFile, now: Date.now });
  return startSandbox({ host: '127.0.0.1', port, parts: [witness] });
}

/** The service's view of the witness. */
function outside(url = `${sandbox.url}/witness`): Outside {
  const place = { name: SANDBOX_WITNESS_NAME, key: SANDBOX_WITNESS_KEY, url };
  return {
    ...ALONE_IN_THE_WORLD,
    witnesses: [new Witness(place.key, url)],
    policy: policyText(SEAL_KEYS.verifiers, [place], 1),
  };
}

describe('a log with a witness', () => {
  it('keeps the cosignature in each checkpoint, and names the witness in the policy', async () => {
    await log.sealAll(outside());
    expect(openNote(log.checkpoint(), [KEY])).toContain('\n10\n');
    expect(readFileSync(join(log.sealed, 'policy'), 'utf8')).toBe(
      [
        `log ${SEAL_KEYS.signer.verifier.text}`,
        '',
        `witness ${SANDBOX_WITNESS_NAME} ${SANDBOX_WITNESS_KEY} ${sandbox.url}/witness`,
        `group witnesses 1 ${SANDBOX_WITNESS_NAME}`,
        'quorum witnesses',
        '',
      ].join('\n'),
    );
    await log.append(300);
    // The client of a new process asks the witness with the size of its last checkpoint.
    await log.sealAll(outside());
    expect(openNote(log.checkpoint(), [KEY])).toContain('\n310\n');
    // A restart asks for no second signature.
    const before = log.checkpoint();
    await log.sealAll(outside());
    expect(log.checkpoint()).toBe(before);
  });

  it('goes on while the witness is down, and has it cosign the next checkpoint', async () => {
    const { port } = new URL(sandbox.url);
    const sealer = log.seal(outside());
    await until('the first checkpoint is cosigned', () => sealer.places.get(PLACE) === null);
    await sandbox.close();
    await log.append(5);
    await until('the log is sealed without the witness', () => sealer.size === 15);
    expect(sealer.places.get(PLACE)).toMatch(/ECONNREFUSED/);
    expect(openNote(log.checkpoint(), [KEY])).toBeNull();
    await log.append(5);
    await until('the log is sealed without the witness', () => sealer.size === 20);
    sandbox = await witnessOf(log, Number(port));
    await log.append(5);
    await until('the next checkpoint is cosigned', () => sealer.size === 25);
    await sealer.stop();
    expect([sealer.places.get(PLACE), sealer.alarm]).toEqual([null, null]);
    expect(openNote(log.checkpoint(), [KEY])).not.toBeNull();
  });

  it('continues with a witness that knows less than its last checkpoint, and after the loss of all files', async () => {
    await log.sealAll(outside());
    await log.append(7);
    await log.sealAll(ALONE_IN_THE_WORLD);
    await log.append(7);
    rmSync(log.sealed, { recursive: true });
    await log.sealAll(outside());
    expect(openNote(log.checkpoint(), [KEY])).not.toBeNull();
  });

  it('raises the alarm and publishes nothing when the log and its files were rolled back together', async () => {
    await log.sealAll(ALONE_IN_THE_WORLD);
    const earlier = await log.copy();
    await log.append(3);
    await log.sealAll(outside());
    const before = earlier.checkpoint();
    const sealer = earlier.seal(outside());
    await until('the alarm is raised', () => sealer.alarm !== null);
    await sealer.stop();
    expect(sealer.alarm).toBe(`The witness ${SANDBOX_WITNESS_NAME} has cosigned 13 events, but this log has 10.`);
    expect(earlier.checkpoint()).toBe(before);
    await earlier.close();
  });

  it('raises the alarm and publishes nothing when another log has replaced it under the same key', async () => {
    await log.sealAll(outside());
    const other = new SmallLog();
    await other.append(12);
    const sealer = other.seal(outside());
    await until('the alarm is raised', () => sealer.alarm !== null);
    await sealer.stop();
    expect(sealer.alarm).toBe(
      `The witness ${SANDBOX_WITNESS_NAME} has cosigned another history of the first 10 events.`,
    );
    expect(() => other.checkpoint()).toThrow('ENOENT');
    await other.close();
  });
});

describe('the witness', () => {
  const root = (fill: number): Buffer => Buffer.alloc(32, fill);
  const note = (size: number, of: Buffer, keys = SEAL_KEYS.signer, origin = SEAL_KEYS.origin): string =>
    keys.note(checkpointText({ origin, size, root: of }));
  const add = async (old: number | string, proof: readonly Buffer[], checkpoint: string) => {
    const lines = proof.map((hash) => `${hash.toString('base64')}\n`).join('');
    const reply = await fetch(`${sandbox.url}/witness/add-checkpoint`, {
      method: 'POST',
      body: `old ${old}\n${lines}\n${checkpoint}`,
    });
    return { status: reply.status, type: reply.headers.get('content-type'), text: await reply.text() };
  };

  it('answers with the codes of tlog-witness', async () => {
    const strangers = new SignerKey(SEAL_KEYS.origin, Buffer.alloc(32, 9));
    const first = note(10, root(1));
    const damaged = `${first.slice(0, -5)}AA==\n`;
    expect(
      await add(0, [], note(10, root(1), new SignerKey('other.example/log', Buffer.alloc(32, 9)), 'other.example/log')),
    ).toMatchObject({ status: 404 });
    expect(await add(0, [], note(10, root(1), strangers))).toMatchObject({ status: 403 });
    expect(await add(0, [], damaged)).toMatchObject({ status: 403 });
    expect(await add('01', [], first)).toMatchObject({ status: 400 });
    expect(await add(11, [], first)).toMatchObject({ status: 400 });
    expect(
      await add(
        0,
        Array.from({ length: 64 }, () => root(1)),
        first,
      ),
    ).toMatchObject({ status: 400 });
    expect(await add(0, [root(1)], first)).toMatchObject({ status: 422 });
    expect(await add(0, [], note(0, root(1)))).toMatchObject({ status: 422 });
    expect(await add(0, [], note(0, EMPTY_ROOT))).toMatchObject({ status: 200 });
    expect(await add(3, [], first)).toEqual({ status: 409, type: 'text/x.tlog.size', text: '0\n' });
    const { status, text } = await add(0, [], first);
    expect([status, openNote(`${first}${text}`, [KEY])]).toEqual([200, openNote(first, SEAL_KEYS.verifiers)]);
    expect(await add(0, [], first)).toEqual({ status: 409, type: 'text/x.tlog.size', text: '10\n' });
    expect(await add(10, [], first)).toMatchObject({ status: 200 });
    expect(await add(10, [], note(10, root(2)))).toMatchObject({ status: 422 });
    expect(await add(10, [root(3)], note(11, root(4)))).toMatchObject({ status: 422 });
  });

  it('remembers the last checkpoint after a restart, and shows it', async () => {
    await log.sealAll(outside());
    await sandbox.close();
    sandbox = await witnessOf(log);
    const [witness] = outside().witnesses;
    expect(await witness?.checkpoint(SEAL_KEYS.origin)).toBe(log.checkpoint());
    expect(await witness?.checkpoint('other.example/log')).toBeNull();
    expect(await add(0, [], note(11, root(1)))).toMatchObject({ status: 409, text: '10\n' });
  });
});
