import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { open } from 'lmdb';
import { developmentMasterKey } from '../../../src/adapters/vault/development-key.js';
import { DiskVault } from '../../../src/adapters/vault/disk.js';
import { MasterKeys } from '../../../src/adapters/vault/master-keys.js';
import { SystemClock } from '../../../src/kernel/clock.js';
import { Unavailable } from '../../../src/kernel/unavailable.js';
import { SubjectErased } from '../../../src/ports/vault.js';
import type { OtherProcess } from './other-process.js';
import { describeVault, masterKey } from './suite.js';
import { AT, KEYS, SLOT_BYTES, text, VaultOnDisk } from './vault-on-disk.js';

async function onDisk(): Promise<{ open(keys: string): Promise<DiskVault>; close(): Promise<void> }> {
  const directory = mkdtempSync(join(tmpdir(), 'vault-'));
  let vault: DiskVault | null = null;
  return {
    open: async (keys) => {
      await vault?.close();
      vault = DiskVault.open({ directory, keys: MasterKeys.parse(keys), clock: new SystemClock() });
      return vault;
    },
    close: async () => {
      await vault?.close();
      rmSync(directory, { recursive: true });
    },
  };
}

describeVault('on disk', onDisk);

describe('vault on disk', () => {
  let disk: VaultOnDisk;
  let directory: string;

  beforeEach(() => {
    disk = new VaultOnDisk();
    ({ directory } = disk);
  });
  afterEach(() => disk.close());

  const keys = KEYS;
  const at = AT;
  const openVault = (): DiskVault => disk.open();
  const startProcess = (): Promise<OtherProcess> => disk.process();
  const slot = (index: number): Buffer => disk.slot(index);
  const everyFile = (): Buffer[] => readdirSync(directory).map((name) => readFileSync(join(directory, name)));
  const tamper: VaultOnDisk['tamper'] = (change) => disk.tamper(change);

  it('refuses values when it has no room for them, stays readable and erasable, and resumes when it gets more room', async () => {
    const alarms: unknown[] = [];
    const open = (mapSizeBytes: number): DiskVault =>
      disk.open(keys, { mapSizeBytes, onNearlyFull: (usage) => alarms.push(usage) });
    const mapSizeBytes = 2 * 2 ** 20;
    const vault = open(mapSizeBytes);
    const kept: string[] = [];
    const fill = async (): Promise<void> => {
      for (;;) {
        const subject = randomUUID();
        await vault.put(subject, 'report', Buffer.from(subject.repeat(1_000)));
        kept.push(subject);
      }
    };
    const refused = fill();
    await expect(refused).rejects.toBeInstanceOf(Unavailable);
    await expect(refused).rejects.toThrow('full');
    expect(alarms).toHaveLength(1);
    expect(vault.usage()).toEqual({ usedBytes: expect.any(Number), totalBytes: mapSizeBytes });
    expect(vault.usage().usedBytes).toBeGreaterThan(0.9 * mapSizeBytes - 36_000 * 3);
    expect(vault.usage().usedBytes).toBeLessThan(mapSizeBytes);
    for (const subject of kept) expect(text(await vault.get(subject, 'report'))).toBe(subject.repeat(1_000));
    await vault.erase(kept[0]!);
    await expect(vault.get(kept[0]!, 'report')).rejects.toBeInstanceOf(SubjectErased);
    await vault.close();

    const larger = open(2 * mapSizeBytes);
    await larger.put(kept[1]!, 'contact', Buffer.from('goes on'));
    expect(text(await larger.get(kept[1]!, 'contact'))).toBe('goes on');
    for (const subject of kept.slice(1)) expect(text(await larger.get(subject, 'report'))).toBe(subject.repeat(1_000));
  });

  it('shows each process the puts, removals and erasures of the other process at once', async () => {
    const here = openVault();
    const there = await startProcess();
    for (let round = 0; round < 20; round++) {
      const id = `p${round}`;
      await there.do('put', id, 'a', 'one');
      expect(text(await here.get(id, 'a'))).toBe('one');
      await here.put(id, 'a', Buffer.from('two'));
      expect(await there.do('get', id, 'a')).toBe('two');
      // Both processes now have the key in memory.
      await there.do('erase', id);
      await expect(here.get(id, 'a')).rejects.toThrow(SubjectErased);
      await expect(here.put(id, 'b', Buffer.from('x'))).rejects.toThrow(SubjectErased);
      const other = `q${round}`;
      await here.put(other, 'a', Buffer.from('x'));
      await there.do('get', other, 'a');
      await here.erase(other);
      await expect(there.do('get', other, 'a')).rejects.toThrow('SubjectErased');
    }
  });

  it('agrees with another process on the key of a subject that is new to both', async () => {
    const here = openVault();
    const there = await startProcess();
    const ids = Array.from({ length: 300 }, (_, index) => `p${index}`);
    await Promise.all(
      ids.flatMap((id) => [here.put(id, 'here', Buffer.from(`h${id}`)), there.do('put', id, 'there', `t${id}`)]),
    );
    for (const id of ids) {
      expect(text(await here.get(id, 'there'))).toBe(`t${id}`);
      expect(await there.do('get', id, 'here')).toBe(`h${id}`);
    }
  });

  it('agrees with another process on an installation key', async () => {
    const here = openVault();
    const there = await startProcess();
    const names = Array.from({ length: 20 }, (_, index) => `key-${index}`);
    const [ours, theirs] = await Promise.all([
      Promise.all(names.map((name) => here.installationKey(name))),
      Promise.all(names.map((name) => there.do('installationKey', name))),
    ]);
    expect(ours.map((key) => Buffer.from(key).toString('hex'))).toEqual(theirs);
  });

  it('writes nothing in plain text', async () => {
    const vault = openVault();
    const canary = 'canary-900-55-1234';
    await vault.put('p', 'a', Buffer.from(canary));
    const key = Buffer.from(await vault.installationKey('hash'));
    await vault.close();
    for (const file of everyFile()) {
      for (const secret of [canary, Buffer.from(canary).toString('base64'), key, key.toString('base64'), keys.slice(2)])
        expect(file.includes(secret)).toBe(false);
    }
  });

  it('leaves no part of an erased key in any file, and records the time of the erasure', async () => {
    const vault = openVault();
    await vault.put('p', 'a', Buffer.from('1'));
    await vault.put('q', 'a', Buffer.from('2'));
    await vault.close();
    let where = -1;
    await tamper((subjects) => (where = subjects.get('p')?.slot ?? -1));
    const wrapped = Buffer.from(slot(where).subarray(33, 93));
    expect(wrapped.equals(Buffer.alloc(60))).toBe(false);
    expect(everyFile().filter((file) => file.includes(wrapped))).toHaveLength(1);
    const again = openVault();
    await again.erase('p');
    // The test checks the files before it closes anything, because an intruder could copy the disk at this moment.
    expect(everyFile().filter((file) => file.includes(wrapped))).toHaveLength(0);
    for (let from = 0; from + 8 <= wrapped.length; from += 4)
      expect(everyFile().some((file) => file.includes(wrapped.subarray(from, from + 8)))).toBe(false);
    expect(again.erasedAt('p')).toBe(at);
    expect(again.erasedAt('q')).toBeNull();
    expect(text(await again.get('q', 'a'))).toBe('2');
  });

  it('completes at the next start an erasure that a crash interrupted', async () => {
    const vault = openVault();
    await vault.put('p', 'a', Buffer.from('1'));
    await vault.close();
    let where = -1;
    await tamper((subjects, entries, condemned) => {
      where = subjects.get('p')?.slot ?? -1;
      subjects.putSync('p', { slot: where, erasedAt: at });
      entries.removeSync('p a');
      condemned.putSync(where, true);
    });
    expect(slot(where).equals(Buffer.alloc(SLOT_BYTES))).toBe(false);
    const again = openVault();
    expect(slot(where).equals(Buffer.alloc(SLOT_BYTES))).toBe(true);
    await expect(again.get('p', 'a')).rejects.toThrow(SubjectErased);
    await again.close();
    await tamper((_, __, condemned) => expect([...condemned.getKeys()]).toEqual([]));
  });

  it('notices swapped values, within a subject and between subjects', async () => {
    const vault = openVault();
    for (const id of ['p', 'q'])
      for (const entry of ['a', 'b']) await vault.put(id, entry, Buffer.from(`${id}${entry}`));
    await vault.close();
    await tamper((_, entries) => {
      const [one, two] = [Buffer.from(entries.get('p a')!), Buffer.from(entries.get('p b')!)];
      entries.putSync('p a', two);
      entries.putSync('p b', one);
      entries.putSync('q a', one);
    });
    const again = openVault();
    for (const [id, entry] of [
      ['p', 'a'],
      ['p', 'b'],
      ['q', 'a'],
    ] as const)
      await expect(again.get(id, entry)).rejects.toThrow('not authentic');
    expect(text(await again.get('q', 'b'))).toBe('qb');
  });

  it('notices swapped keys', async () => {
    const vault = openVault();
    for (const id of ['p', 'q']) await vault.put(id, 'a', Buffer.from(id));
    await vault.close();
    let places = [0, 0];
    await tamper((subjects) => {
      places = [subjects.get('p')!.slot, subjects.get('q')!.slot];
      subjects.putSync('p', { slot: places[1]! });
    });
    const again = openVault();
    await expect(again.get('p', 'a')).rejects.toThrow('not authentic');
    await again.close();
    // A wrapped key cannot be moved to another slot either.
    const file = readFileSync(join(directory, 'data-keys'));
    slot(places[0]!).copy(file, places[1]! * SLOT_BYTES);
    writeFileSync(join(directory, 'data-keys'), file);
    await expect(openVault().get('q', 'a')).rejects.toThrow('not authentic');
  });

  describe('rewrapped keys', () => {
    const second = masterKey('second');
    const openWith = (text: string): DiskVault => disk.open(text);
    const wrappedUnder = (id: string): number => disk.wrappedUnder(id);

    it('never include an erased key, even if the erasing process died before it overwrote the key', async () => {
      const vault = openVault();
      await vault.put('p', 'a', Buffer.from('1'));
      const rewrapping = openWith(`${second},${keys}`);
      let where = -1;
      await tamper((subjects, _, condemned) => {
        where = subjects.get('p')!.slot;
        subjects.putSync('p', { slot: where, erasedAt: at });
        condemned.putSync(where, true);
      });
      await rewrapping.rewrap();
      expect(slot(where).equals(Buffer.alloc(SLOT_BYTES))).toBe(true);
      expect(wrappedUnder('k')).toBe(0);
    });

    it('need the old master key as long as a process still wraps keys under it', async () => {
      const behind = openVault();
      await behind.put('p', 'a', Buffer.from('1'));
      const rewrapping = openWith(`${second},${keys}`);
      await rewrapping.rewrap();
      // At least one of these subjects needs a data key that was not made in advance.
      await Promise.all(Array.from({ length: 300 }, (_, index) => behind.put(`q${index}`, 'a', Buffer.from('2'))));
      expect(await rewrapping.masterKeyIds()).toEqual(new Set(['k', 'second']));
      await expect(openWith(second).checkMasterKeys()).rejects.toThrow("lacks 'k'");
      await rewrapping.rewrap();
      await openWith(second).checkMasterKeys();
      await expect(openWith(second).get('q299', 'a')).resolves.toEqual(Buffer.from('2'));
    });

    it('are known to need their master keys, even in a vault that an earlier version made without marks', async () => {
      const vault = openVault();
      await vault.put('p', 'a', Buffer.from('1'));
      await vault.close();
      const root = open({ path: join(directory, 'values.mdb'), noSubdir: true, maxDbs: 8, encoding: 'json' });
      await root.remove('master-keys');
      await root.close();
      await expect(openWith(second).checkMasterKeys()).rejects.toThrow("lacks 'k'");
      await openWith(`${second},${keys}`).checkMasterKeys();
    });
  });

  it('notices changed bytes', async () => {
    const vault = openVault();
    await vault.put('p', 'a', Buffer.from('value'));
    await vault.close();
    await tamper((_, entries) => {
      const changed = Buffer.from(entries.get('p a')!);
      changed[changed.length - 1]! ^= 1;
      entries.putSync('p a', changed);
    });
    await expect(openVault().get('p', 'a')).rejects.toThrow('not authentic');
  });

  it('fails with a clear error when a key is missing and its destruction was not recorded', async () => {
    const vault = openVault();
    await vault.put('p', 'a', Buffer.from('1'));
    await vault.close();
    writeFileSync(join(directory, 'data-keys'), Buffer.alloc(SLOT_BYTES * 128));
    const again = openVault();
    await expect(again.get('p', 'a')).rejects.toThrow('missing without a record of its destruction');
    await expect(again.put('p', 'b', Buffer.from('2'))).rejects.toThrow('missing without a record of its destruction');
  });

  it('refuses every call after it was closed', async () => {
    const vault = openVault();
    const kept = vault.put('p', 'a', Buffer.from('1'));
    await kept;
    await vault.close();
    await expect(vault.get('p', 'a')).rejects.toThrow('closed');
    await expect(vault.put('p', 'a', Buffer.from('2'))).rejects.toThrow('closed');
    await expect(vault.erase('p')).rejects.toThrow('closed');
  });
});

describe('the master key of development', () => {
  it('is made once, for its owner only, and is the same for all processes that start together', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'keys-'));
    try {
      const texts = await Promise.all(Array.from({ length: 8 }, () => developmentMasterKey(join(directory, 'keys'))));
      expect(new Set(texts).size).toBe(1);
      expect(await developmentMasterKey(join(directory, 'keys'))).toBe(texts[0]);
      expect(MasterKeys.parse(texts[0] ?? '').currentId).toBe('development');
      expect(readdirSync(join(directory, 'keys'))).toEqual(['vault-master-key']);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});
