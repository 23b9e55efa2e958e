import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { MasterKeys } from '../../../src/adapters/vault/master-keys.js';
import { S3Vault } from '../../../src/adapters/vault/s3.js';
import { SystemClock } from '../../../src/kernel/clock.js';
import { Unavailable } from '../../../src/kernel/unavailable.js';
import { SubjectErased, VaultMisconfigured } from '../../../src/ports/vault.js';
import { SetClock } from '../../support/clock.js';
import { soon } from '../../support/eventually.js';
import { BUCKET, inTestServer, S3Server } from '../../support/s3.js';
import { OtherProcess } from './other-process.js';
import { describeVault, masterKey } from './suite.js';

/** The suite sends hundreds of requests at once to a server that handles one at a time. */
const PATIENT_MS = 60_000;

async function onS3(limitMs = PATIENT_MS): Promise<{ open(keys: string): Promise<S3Vault>; close(): Promise<void> }> {
  const server = await S3Server.start();
  let vault: S3Vault | null = null;
  return {
    open: async (keys) => {
      await vault?.close();
      vault = S3Vault.open({
        ...inTestServer(server.url),
        keys: MasterKeys.parse(keys),
        clock: new SystemClock(),
        limitMs,
      });
      return vault;
    },
    close: async () => {
      await vault?.close();
      await server.stop();
    },
  };
}

describeVault('on S3', onS3, 100);

describe('vault on S3', () => {
  const keys = masterKey('k');
  const at = '2026-01-02T03:04:05.678Z';
  const text = (value: Uint8Array | null): string | null => (value === null ? null : Buffer.from(value).toString());
  const bytes = (value: string): Uint8Array => Buffer.from(value);
  let server: S3Server;
  let vaults: S3Vault[];
  let processes: OtherProcess[];

  const openVault = (limitMs = 5_000, masterKeys = keys, endpoint = server.url): S3Vault => {
    const vault = S3Vault.open({
      ...inTestServer(endpoint),
      keys: MasterKeys.parse(masterKeys),
      clock: new SetClock(Date.parse(at)),
      limitMs,
    });
    vaults.push(vault);
    return vault;
  };
  const startProcess = async (): Promise<OtherProcess> => {
    const process = new OtherProcess('s3', server.url, keys);
    processes.push(process);
    await process.ready;
    return process;
  };
  const keyAt = (subject: string): string => `vault/subjects/${subject}/key`;
  const ofSubjects = async (): Promise<string[]> =>
    (await server.keys()).filter((key) => key.startsWith('vault/subjects/'));
  const valueAt = (subject: string, entry: string): string => `vault/subjects/${subject}/values/${entry}`;

  beforeEach(async () => {
    server = await S3Server.start();
    vaults = [];
    processes = [];
  });
  afterEach(async () => {
    for (const process of processes) await process.kill9();
    server.faultOf = () => undefined;
    for (const vault of vaults) await vault.close();
    await server.stop();
  });

  describe('between processes', () => {
    it('shows each process the puts, removals and erasures of the other at once', async () => {
      const here = openVault();
      const there = await startProcess();
      for (let round = 0; round < 5; round++) {
        const id = `p${round}`;
        await there.do('put', id, 'a', 'one');
        expect(text(await here.get(id, 'a'))).toBe('one');
        await here.put(id, 'a', bytes('two'));
        expect(await there.do('get', id, 'a')).toBe('two');
        await there.do('erase', id);
        await expect(here.get(id, 'a')).rejects.toThrow(SubjectErased);
        await expect(here.put(id, 'b', bytes('x'))).rejects.toThrow(SubjectErased);
      }
    });

    // Two vaults in one process share only the bucket, and are certain to use a new subject at the same moment.
    it('makes one key for a subject that is new to all processes', async () => {
      const [here, beside] = [openVault(PATIENT_MS), openVault(PATIENT_MS)];
      const there = await startProcess();
      const ids = Array.from({ length: 20 }, (_, index) => `p${index}`);
      await Promise.all(
        ids.flatMap((id) => [
          here.put(id, 'here', bytes(`h${id}`)),
          beside.put(id, 'beside', bytes(`b${id}`)),
          there.do('put', id, 'there', `t${id}`),
        ]),
      );
      for (const id of ids) {
        expect(text(await here.get(id, 'there'))).toBe(`t${id}`);
        expect(text(await here.get(id, 'beside'))).toBe(`b${id}`);
        expect(await there.do('get', id, 'here')).toBe(`h${id}`);
      }
    });

    it('makes one installation key for a name', async () => {
      const [here, beside] = [openVault(PATIENT_MS), openVault(PATIENT_MS)];
      const there = await startProcess();
      const names = Array.from({ length: 20 }, (_, index) => `key-${index}`);
      const all = (vault: S3Vault): Promise<string[]> =>
        Promise.all(names.map(async (name) => Buffer.from(await vault.installationKey(name)).toString('hex')));
      const [ours, others, theirs] = await Promise.all([
        all(here),
        all(beside),
        Promise.all(names.map((name) => there.do('installationKey', name))),
      ]);
      expect(others).toEqual(ours);
      expect(theirs).toEqual(ours);
    });

    it('keeps an acknowledged value and an acknowledged erasure through a kill', async () => {
      const there = await startProcess();
      await there.do('put', 'p', 'token', 'x');
      await there.do('put', 'q', 'token', 'y');
      await there.do('erase', 'q');
      await there.kill9();
      expect(text(await openVault().get('p', 'token'))).toBe('x');
      await expect(openVault().get('q', 'token')).rejects.toThrow(SubjectErased);
    });
  });

  describe('an erasure by another process', () => {
    it('has priority over a first put that is about to make the key', async () => {
      const [putting, erasing] = [openVault(), openVault()];
      await reaching(
        `PUT /${BUCKET}/${keyAt('p')}`,
        () => putting.put('p', 'a', bytes('x')),
        () => erasing.erase('p'),
      );
      expect(await ofSubjects()).toEqual([keyAt('p')]);
    });

    it('has priority over a put that is about to write its value, and leaves nothing of the value', async () => {
      const [putting, erasing] = [openVault(), openVault()];
      await putting.put('p', 'b', bytes('before'));
      await reaching(
        `PUT /${BUCKET}/${valueAt('p', 'a')}`,
        () => putting.put('p', 'a', bytes('x')),
        () => erasing.erase('p'),
      );
      expect(await ofSubjects()).toEqual([keyAt('p')]);
    });

    /** Delays the put at `request` until the erasure has answered. Then the put continues. */
    async function reaching(request: string, put: () => Promise<void>, erase: () => Promise<void>): Promise<void> {
      let held = false;
      server.faultOf = async (asked) => {
        if (asked === request && !held) {
          held = true;
          await erase();
        }
        return undefined;
      };
      await expect(put()).rejects.toThrow(SubjectErased);
      expect(held).toBe(true);
    }

    // All removals share one time limit, and each removal listens to its signal.
    it('causes no leak warning of Node while it removes many values at once', async () => {
      const there = await startProcess();
      for (let entry = 0; entry < 25; entry++) await there.do('put', 'p', `a${entry}`, '1');
      await there.do('erase', 'p');
      expect(await there.do('leaksWarnedOf')).toBe(0);
      expect(await ofSubjects()).toEqual([keyAt('p')]);
    });

    it('is completed when it is repeated after a process died in the middle', async () => {
      const vault = openVault();
      await vault.put('p', 'a', bytes('1'));
      const orphan = await server.read(valueAt('p', 'a'));
      await vault.erase('p');
      await server.write(valueAt('p', 'a'), orphan);
      await expect(vault.get('p', 'a')).rejects.toThrow(SubjectErased);
      await vault.erase('p');
      expect(await ofSubjects()).toEqual([keyAt('p')]);
    });
  });

  describe('rewrapped keys', () => {
    const second = masterKey('second');

    it('do not restore a key that another process erases at the same moment', async () => {
      const vault = openVault();
      await vault.put('p', 'a', bytes('1'));
      const rewrapping = openVault(1_000, `${second},${keys}`);
      let erased: Promise<void> | null = null;
      server.faultOf = async (request) => {
        // The key was read. The erasure happens before the key is written.
        if (request === `PUT /${BUCKET}/${keyAt('p')}` && erased === null) await (erased = vault.erase('p'));
        return undefined;
      };
      expect(await rewrapping.rewrap()).toMatchObject({ dataKeys: 0 });
      expect(erased).not.toBeNull();
      expect(JSON.parse(String(await server.read(keyAt('p'))))).toEqual({ erasedAt: at });
      await expect(rewrapping.get('p', 'a')).rejects.toThrow(SubjectErased);
    });

    it('are refused when a server would restore an erased key', async () => {
      server.conditional = false;
      const vault = openVault();
      await vault.put('p', 'a', bytes('1'));
      await expect(openVault(1_000, `${second},${keys}`).rewrap()).rejects.toThrow('does not honour If-Match');
      expect(String(await server.read(keyAt('p')))).toContain('"k:');
    });

    it('need the old master key as long as a process still wraps keys under it', async () => {
      const vault = openVault();
      await vault.put('p', 'a', bytes('1'));
      const rewrapping = openVault(1_000, `${second},${keys}`);
      await rewrapping.rewrap();
      await vault.put('q', 'a', bytes('2'));
      await expect(openVault(5_000, second).checkMasterKeys()).rejects.toThrow("lacks 'k'");
      await rewrapping.rewrap();
      await openVault(5_000, second).checkMasterKeys();
    });

    it('are known to need their master keys, even in a vault that an earlier version made without marks', async () => {
      const vault = openVault();
      await vault.installationKey('person');
      await server.remove('vault/master-keys/k');
      await expect(openVault(5_000, second).checkMasterKeys()).rejects.toThrow("lacks 'k'");
      await openVault(5_000, `${second},${keys}`).checkMasterKeys();
    });
  });

  describe('the content of the bucket', () => {
    it('is never in plain text', async () => {
      const vault = openVault();
      const canary = 'canary-900-55-1234';
      await vault.put('p', 'a', bytes(canary));
      const key = Buffer.from(await vault.installationKey('hash'));
      const stored = await Promise.all((await server.keys()).map((name) => server.read(name)));
      expect(stored).toHaveLength(4);
      for (const object of stored) {
        for (const secret of [
          canary,
          Buffer.from(canary).toString('base64'),
          key,
          key.toString('base64'),
          keys.slice(2),
        ])
          expect(object.includes(secret)).toBe(false);
      }
    });

    it('is named by short keys under the prefix, even for names that look like paths', async () => {
      const vault = openVault();
      const names = ['..', '.', '/', 'a/../b', '~', 'x'.repeat(200), 'plain-Name_1'];
      for (const name of names) await vault.put(name, name, bytes(name));
      for (const name of names) expect(text(await vault.get(name, name))).toBe(name);
      const found = await ofSubjects();
      expect(found).toHaveLength(names.length * 2);
      for (const key of found)
        expect(key).toMatch(/^vault\/subjects\/[A-Za-z0-9_~-]{1,100}\/(key|values\/[A-Za-z0-9_~-]{1,100})$/);
    });

    it('is only the time of the erasure in the place of an erased key', async () => {
      const vault = openVault();
      await vault.put('p', 'a', bytes('1'));
      await vault.put('q', 'a', bytes('2'));
      const { key } = JSON.parse((await server.read(keyAt('p'))).toString()) as { key: string };
      await vault.erase('p');
      expect(JSON.parse((await server.read(keyAt('p'))).toString())).toEqual({ erasedAt: at });
      for (const name of await server.keys()) expect((await server.read(name)).includes(key)).toBe(false);
      expect(await vault.erasedAt('p')).toBe(at);
      expect(await vault.erasedAt('q')).toBeNull();
      expect(await vault.erasedAt('never-seen')).toBeNull();
    });

    it('is refused when values were swapped', async () => {
      const vault = openVault();
      for (const id of ['p', 'q']) for (const entry of ['a', 'b']) await vault.put(id, entry, bytes(`${id}${entry}`));
      const [one, two] = [await server.read(valueAt('p', 'a')), await server.read(valueAt('p', 'b'))];
      await server.write(valueAt('p', 'a'), two);
      await server.write(valueAt('p', 'b'), one);
      await server.write(valueAt('q', 'a'), one);
      for (const [id, entry] of [
        ['p', 'a'],
        ['p', 'b'],
        ['q', 'a'],
      ] as const)
        await expect(vault.get(id, entry)).rejects.toThrow('not authentic');
      expect(text(await vault.get('q', 'b'))).toBe('qb');
    });

    it('is refused when keys were swapped, or when a key was restored in another version', async () => {
      const vault = openVault();
      for (const id of ['p', 'q']) await vault.put(id, 'a', bytes(id));
      const mine = await server.read(keyAt('p'));
      await server.write(keyAt('p'), await server.read(keyAt('q')));
      await expect(vault.get('p', 'a')).rejects.toThrow('not authentic');
      const renamed = { ...(JSON.parse(mine.toString()) as object), version: 'another' };
      await server.write(keyAt('p'), Buffer.from(JSON.stringify(renamed)));
      await expect(vault.get('p', 'a')).rejects.toThrow('not authentic');
    });

    it('is refused when it was cut short or changed', async () => {
      const vault = openVault();
      await vault.put('p', 'a', bytes('value'));
      const stored = await server.read(valueAt('p', 'a'));
      await server.write(valueAt('p', 'a'), stored.subarray(0, 20));
      await expect(vault.get('p', 'a')).rejects.toThrow('cut short');
      stored[stored.length - 1]! ^= 1;
      await server.write(valueAt('p', 'a'), stored);
      await expect(vault.get('p', 'a')).rejects.toThrow('not authentic');
      const key = await server.read(keyAt('p'));
      await server.write(keyAt('p'), key.subarray(0, 20));
      await expect(vault.get('p', 'a')).rejects.toThrow('neither a key nor a tombstone');
      await expect(vault.put('p', 'b', bytes('x'))).rejects.toThrow('neither a key nor a tombstone');
    });

    it('causes a clear error when a key is missing and its destruction was not recorded', async () => {
      const vault = openVault();
      await vault.put('p', 'a', bytes('1'));
      await server.remove(keyAt('p'));
      await expect(vault.get('p', 'a')).rejects.toThrow('missing without a record of its destruction');
      await expect(vault.put('p', 'b', bytes('2'))).rejects.toThrow('missing without a record of its destruction');
      expect(await ofSubjects()).toEqual([valueAt('p', 'a')]);
    });
  });

  describe('a bucket that keeps overwritten versions', () => {
    it.each(['Enabled', 'Suspended'] as const)(
      'receives no data key, and the vault claims no erasure in it (%s)',
      async (versioning) => {
        const vault = openVault();
        await vault.put('p', 'a', bytes('1'));
        server.versioning = versioning;
        await expect(openVault().checkMasterKeys()).rejects.toThrow(/^VAULT_S3_BUCKET .+never had versioning on/);
        await expect(openVault().put('q', 'a', bytes('1'))).rejects.toThrow('never had versioning on');
        await expect(vault.erase('p')).rejects.toThrow('never had versioning on');
        expect((await ofSubjects()).sort()).toEqual([keyAt('p'), valueAt('p', 'a')].sort());
        expect(text(await vault.get('p', 'a'))).toBe('1');
      },
    );
  });

  describe('when S3 has a fault', () => {
    const LIMIT_MS = 700;
    /** A busy machine sometimes takes longer than the limit. */
    const worksAgain = (vault: S3Vault): Promise<void> =>
      soon(async () => {
        expect(text(await vault.get('p', 'a'))).toBe('1');
        expect(await vault.installationKey('hash')).toHaveLength(32);
      });
    const everyCall = (vault: S3Vault): readonly (() => Promise<unknown>)[] => [
      () => vault.put('p', 'a', bytes('2')),
      () => vault.get('p', 'a'),
      () => vault.remove('p', 'a'),
      () => vault.erase('p'),
      () => vault.installationKey('hash'),
    ];
    const expectUnavailable = async (vault: S3Vault): Promise<void> => {
      for (const call of everyCall(vault)) await expect(call()).rejects.toThrow(Unavailable);
    };

    it('the vault reports the fault when no server listens, and works again afterwards', async () => {
      const vault = openVault(LIMIT_MS);
      await soon(() => vault.put('p', 'a', bytes('1')));
      await server.stopListening();
      await expectUnavailable(vault);
      await server.listenAgain();
      await worksAgain(vault);
    });

    it('the vault reports the fault within the limit when S3 hangs, for every call, and works again afterwards', async () => {
      const vault = openVault(LIMIT_MS);
      await openVault().put('p', 'a', bytes('1'));
      server.faultOf = () => 'hang';
      await expectUnavailable(vault);
      server.faultOf = () => undefined;
      await worksAgain(vault);
    });

    it('the vault reports the fault when each answer is slow and the limit passes in total', async () => {
      const vault = openVault(LIMIT_MS);
      await openVault().put('p', 'a', bytes('1'));
      // The first exchange of the put is answered, and the last exchange gets no answer.
      let reads = 0;
      server.faultOf = (request) => (request === `GET /${BUCKET}/${keyAt('p')}` && ++reads > 1 ? 'hang' : undefined);
      await expect(vault.put('p', 'a', bytes('2'))).rejects.toThrow(Unavailable);
    });

    it('the vault reports the fault when S3 stays unavailable, and never treats this as an absence', async () => {
      const vault = openVault(LIMIT_MS);
      server.faultOf = () => 'unavailable';
      await expectUnavailable(vault);
    });

    it.each(['unavailable', 'reset'] as const)('the vault tries again within the limit (%s once)', async (fault) => {
      const vault = openVault();
      const failed = new Set<string>();
      server.faultOf = (request) => {
        if (failed.has(request)) return undefined;
        failed.add(request);
        return fault;
      };
      await vault.put('p', 'a', bytes('1'));
      expect(text(await vault.get('p', 'a'))).toBe('1');
      await vault.erase('p');
      await expect(vault.get('p', 'a')).rejects.toThrow(SubjectErased);
      expect(failed.size).toBeGreaterThan(3);
    });

    it('the vault requests an interrupted object again, and reports the fault when it is always interrupted', async () => {
      const vault = openVault(2_000);
      await vault.put('p', 'a', Buffer.alloc(100_000, 7));
      let broken = 0;
      server.faultOf = (request) =>
        request === `GET /${BUCKET}/${valueAt('p', 'a')}` && broken++ === 0 ? 'truncated' : undefined;
      expect(await vault.get('p', 'a')).toHaveLength(100_000);
      expect(broken).toBe(2);
      server.faultOf = (request) => (request.includes('/values/') ? 'truncated' : undefined);
      await expect(vault.get('p', 'a')).rejects.toThrow(Unavailable);
    });

    it('the vault recognises its own key when the answer to its creation was lost', async () => {
      const vault = openVault();
      // The put was carried out, and its answer was cut off.
      server.faultOf = (request) => {
        if (request !== `PUT /${BUCKET}/${keyAt('p')}`) return undefined;
        server.faultOf = () => undefined;
        return 'truncated';
      };
      await vault.put('p', 'a', bytes('1'));
      expect(text(await vault.get('p', 'a'))).toBe('1');
    });

    it('the vault distinguishes the fault from a refusal, which is reported clearly and names no secret', async () => {
      const vault = openVault();
      server.faultOf = () => 'refused';
      for (const call of everyCall(vault))
        await expect(call()).rejects.toThrow(
          /^S3 refused [A-Za-z0-9]+ with AccessDenied \(403\); look at VAULT_S3_BUCKET and the rights of AWS_ACCESS_KEY_ID\.$/,
        );
    });

    it('the vault distinguishes the fault from a missing bucket', async () => {
      const elsewhere = S3Vault.open({
        ...inTestServer(server.url),
        bucket: 'no-such-bucket',
        keys: MasterKeys.parse(keys),
        clock: new SetClock(Date.parse(at)),
      });
      vaults.push(elsewhere);
      await expect(elsewhere.get('p', 'a')).rejects.toThrow('NoSuchBucket (404); look at VAULT_S3_BUCKET.');
    });

    it.each([
      ['SignatureDoesNotMatch', 403, 'AWS_SECRET_ACCESS_KEY'],
      ['InvalidAccessKeyId', 403, 'AWS_ACCESS_KEY_ID'],
      ['ExpiredToken', 400, 'AWS_SESSION_TOKEN'],
      ['AuthorizationHeaderMalformed', 400, 'VAULT_S3_REGION'],
      ['PermanentRedirect', 301, 'VAULT_S3_REGION'],
      ['NoSuchBucket', 404, 'VAULT_S3_BUCKET'],
      ['NotOfS3', 405, 'VAULT_S3_ENDPOINT'],
    ])('the vault names the variable when S3 refuses with %s', async (code, status, variable) => {
      server.refusal = [code, status];
      server.faultOf = () => 'refused';
      const checked = openVault().checkMasterKeys();
      await expect(checked).rejects.toThrow(VaultMisconfigured);
      await expect(checked).rejects.toThrow(
        `S3 refused GetBucketVersioning with ${code} (${status}); look at ${variable}.`,
      );
      expect(await server.keys().catch(() => [])).toEqual([]);
    });

    it.each([
      [200, '<!doctype html><html><body><p>Welcome<br></body></html>'],
      [404, '{"error":"no such path"}'],
      [400, 'Client sent an HTTP request to an HTTPS server.'],
      [301, ''],
    ])('the vault names the variable when the endpoint is not S3 (%d %s)', async (status, body) => {
      const other = createServer((_, answer) => answer.writeHead(status).end(body)).listen(0, '127.0.0.1');
      await once(other, 'listening');
      try {
        const { port } = other.address() as AddressInfo;
        const elsewhere = openVault(5_000, keys, `http://127.0.0.1:${port}`);
        await expect(elsewhere.checkMasterKeys()).rejects.toThrow(/^S3 refused [^\n]+; look at VAULT_S3_ENDPOINT\.$/);
      } finally {
        other.close();
      }
    });
  });

  it('the vault refuses every call after it was closed, and first completes the calls that had begun', async () => {
    const vault = openVault();
    const kept = vault.put('p', 'a', bytes('1'));
    await vault.close();
    await kept;
    await expect(vault.get('p', 'a')).rejects.toThrow('closed');
    await expect(vault.put('p', 'a', bytes('2'))).rejects.toThrow('closed');
    await expect(vault.erase('p')).rejects.toThrow('closed');
    expect(text(await openVault().get('p', 'a'))).toBe('1');
  });
});
