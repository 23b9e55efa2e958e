// The contract suite of src/ports/vault.ts. Every adapter passes the suite.
import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { SubjectErased, type Vault, type VaultSubjects } from '../../../src/ports/vault.js';

export interface VaultHarness {
  /** Opens the installation's vault with these master keys, and closes the previous one. */
  open(masterKeys: string): Promise<Vault & VaultSubjects>;
  close(): Promise<void>;
}

export function masterKey(id: string): string {
  return `${id}:${randomBytes(32).toString('base64')}`;
}

const text = (value: Uint8Array | null): string | null => (value === null ? null : Buffer.from(value).toString());
const bytes = (value: string): Uint8Array => Buffer.from(value);

/**
 * `start` makes a new vault each time. `limitMs` is the time limit of a call, for stores with a limit. `many` is the number of new subjects
 * that a store of this kind accepts at once within a second or two.
 */
export function describeVault(name: string, start: (limitMs?: number) => Promise<VaultHarness>, many = 400): void {
  describe(`vault: ${name}`, () => {
    const keys = masterKey('first');
    let harness: VaultHarness;
    let vault: Vault & VaultSubjects;

    beforeAll(async () => {
      harness = await start();
      vault = await harness.open(keys);
    });
    afterAll(() => harness.close());

    const subject = (): string => `person-${randomUUID()}`;

    it('answers null for a name that was never stored', async () => {
      const id = subject();
      expect(await vault.get(id, 'contact')).toBeNull();
      await vault.put(id, 'report', bytes('x'));
      expect(await vault.get(id, 'contact')).toBeNull();
    });

    it('keeps a value, and the latest of several values', async () => {
      const id = subject();
      await vault.put(id, 'contact', bytes('one'));
      expect(text(await vault.get(id, 'contact'))).toBe('one');
      await vault.put(id, 'contact', bytes('two'));
      expect(text(await vault.get(id, 'contact'))).toBe('two');
    });

    it('keeps any number of any bytes', async () => {
      const id = subject();
      for (const value of [Buffer.alloc(0), Buffer.from([0, 255, 10, 0]), randomBytes(2_000_000)]) {
        await vault.put(id, 'report', value);
        expect(value.equals((await vault.get(id, 'report')) ?? Buffer.of(1))).toBe(true);
      }
    });

    it('separates subjects and entries, even if their names begin with the same letters', async () => {
      const id = subject();
      const places = [
        [id, 'a'],
        [id, 'ab'],
        [id, 'a-b'],
        [`${id}a`, 'b'],
        [`${id}-a`, 'b'],
        [`${id}!`, 'a'],
        [`${id}~`, '~'],
      ] as const;
      await Promise.all(places.map(([who, entry]) => vault.put(who, entry, bytes(`${who}/${entry}`))));
      for (const [who, entry] of places) expect(text(await vault.get(who, entry))).toBe(`${who}/${entry}`);
      await vault.erase(id);
      for (const [who, entry] of places.slice(3)) expect(text(await vault.get(who, entry))).toBe(`${who}/${entry}`);
    });

    it.each(['', 'with space', 'line\nbreak', 'zero\0', 'é', 'x'.repeat(201)])('refuses the name %j', async (bad) => {
      await expect(vault.put(bad, 'a', bytes('x'))).rejects.toThrow(TypeError);
      await expect(vault.put('a', bad, bytes('x'))).rejects.toThrow(TypeError);
      await expect(vault.get(bad, 'a')).rejects.toThrow(TypeError);
      await expect(vault.erase(bad)).rejects.toThrow(TypeError);
      await expect(vault.installationKey(bad)).rejects.toThrow(TypeError);
    });

    it('removes one entry, and accepts that the entry is missing', async () => {
      const id = subject();
      await vault.put(id, 'a', bytes('1'));
      await vault.put(id, 'b', bytes('2'));
      await vault.remove(id, 'a');
      await vault.remove(id, 'a');
      await vault.remove(subject(), 'a');
      expect(await vault.get(id, 'a')).toBeNull();
      expect(text(await vault.get(id, 'b'))).toBe('2');
    });

    it('accepts the first values of a subject all at once', async () => {
      const id = subject();
      const entries = Array.from({ length: 20 }, (_, at) => `entry-${at}`);
      await Promise.all(entries.map((entry) => vault.put(id, entry, bytes(entry))));
      for (const entry of entries) expect(text(await vault.get(id, entry))).toBe(entry);
    });

    it('accepts many new subjects at once', async () => {
      const ids = Array.from({ length: many }, subject);
      await Promise.all(ids.map((id) => vault.put(id, 'token', bytes(id))));
      const values = await Promise.all(ids.map((id) => vault.get(id, 'token')));
      expect(values.map(text)).toEqual(ids);
    });

    it('lists the subjects, including erased ones, and how each was created', async () => {
      const [put, sealed, erased] = [subject(), subject(), subject()];
      for (const entry of [randomUUID(), 'contact']) await vault.put(put, entry, bytes('x'));
      await vault.seal(sealed, 'a call', bytes('x'));
      await vault.put(sealed, 'contact', bytes('x'));
      await vault.put(erased, 'contact', bytes('x'));
      await vault.erase(erased);
      const names: string[] = [];
      for await (const some of vault.subjectNames()) names.push(...some);
      expect(names).toEqual(expect.arrayContaining([put, sealed, erased]));
      expect(new Set(names).size).toBe(names.length);
      const origin = await vault.originOf(put);
      expect([origin.madeFor, origin.entries]).toEqual([
        expect.stringMatching(/^[0-9a-f-]{36}$/),
        expect.arrayContaining([origin.madeFor]),
      ]);
      expect(await vault.originOf(sealed)).toEqual({
        madeAt: expect.stringContaining('T'),
        madeFor: null,
        entries: ['contact'],
      });
      expect((await vault.originOf(erased)).entries).toEqual([]);
      expect(await vault.originOf(subject())).toEqual({ madeAt: null, madeFor: null, entries: [] });
    });

    describe('erasure', () => {
      it('permanently ends every use of the subject, and of no other', async () => {
        const [id, neighbour] = [subject(), subject()];
        await vault.put(id, 'a', bytes('1'));
        await vault.put(neighbour, 'a', bytes('2'));
        await vault.erase(id);
        await expect(vault.get(id, 'a')).rejects.toThrow(SubjectErased);
        await expect(vault.get(id, 'never-put')).rejects.toThrow(SubjectErased);
        await expect(vault.put(id, 'a', bytes('3'))).rejects.toThrow(SubjectErased);
        await expect(vault.put(id, 'b', bytes('3'))).rejects.toThrow(SubjectErased);
        expect(text(await vault.get(neighbour, 'a'))).toBe('2');
      });

      it('may be repeated, even at the same time', async () => {
        const id = subject();
        await vault.put(id, 'a', bytes('1'));
        await Promise.all([vault.erase(id), vault.erase(id)]);
        await vault.erase(id);
        await expect(vault.get(id, 'a')).rejects.toThrow(SubjectErased);
      });

      it('applies to a subject without any values', async () => {
        const id = subject();
        await vault.erase(id);
        await expect(vault.put(id, 'a', bytes('1'))).rejects.toThrow(SubjectErased);
        await expect(vault.get(id, 'a')).rejects.toThrow(SubjectErased);
      });

      it('prevails over puts that are under way', async () => {
        const id = subject();
        await vault.put(id, 'a', bytes('0'));
        const puts = Array.from({ length: 50 }, (_, at) => vault.put(id, 'a', bytes(`${at}`)));
        const erased = vault.erase(id);
        const late = Array.from({ length: 50 }, (_, at) => vault.put(id, 'b', bytes(`${at}`)));
        const outcomes = await Promise.allSettled([...puts, ...late]);
        await erased;
        for (const outcome of outcomes)
          if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(SubjectErased);
        expect(outcomes.slice(50).every(({ status }) => status === 'rejected')).toBe(true);
        await expect(vault.get(id, 'a')).rejects.toThrow(SubjectErased);
      });
    });

    describe('installation keys', () => {
      it('are 32 random bytes for each name, the same each time', async () => {
        const [one, again, other] = await Promise.all([
          vault.installationKey('person-hash'),
          vault.installationKey('person-hash'),
          vault.installationKey('bodies'),
        ]);
        expect(one).toHaveLength(32);
        expect(Buffer.from(one)).toEqual(Buffer.from(again));
        expect(Buffer.from(one)).not.toEqual(Buffer.from(other));
      });
    });

    describe('a value that is sealed for another store', () => {
      it('can be opened only for its subject and context, in every earlier state of the subject', async () => {
        const [fresh, known] = [subject(), subject()];
        await vault.put(known, 'a', bytes('1'));
        for (const id of [fresh, known]) {
          const sealed = await vault.seal(id, 'redis/1', bytes('secret of mine'));
          expect(Buffer.from(sealed).includes('secret')).toBe(false);
          expect(text(await vault.open(id, 'redis/1', sealed))).toBe('secret of mine');
          await expect(vault.open(id, 'redis/2', sealed)).rejects.toThrow('not authentic');
          await expect(vault.open(subject(), 'redis/1', sealed)).rejects.toThrow('Nothing was ever sealed');
        }
        await expect(vault.open(known, 'redis/1', await vault.seal(fresh, 'redis/1', bytes('x')))).rejects.toThrow(
          'not authentic',
        );
      });

      it('is sealed under one key by all processes that begin at once, together with a put', async () => {
        const id = subject();
        const sealed = await Promise.all(
          Array.from({ length: 10 }, (_, at) => vault.seal(id, `c${at}`, bytes(`${at}`))),
        );
        await vault.put(id, 'a', bytes('kept'));
        for (const [at, one] of sealed.entries()) expect(text(await vault.open(id, `c${at}`, one))).toBe(`${at}`);
        expect(text(await vault.get(id, 'a'))).toBe('kept');
      });

      it('can no longer be opened after the erasure of the subject', async () => {
        const id = subject();
        const sealed = await vault.seal(id, 'redis/1', bytes('secret'));
        await vault.erase(id);
        await expect(vault.open(id, 'redis/1', sealed)).rejects.toThrow(SubjectErased);
        await expect(vault.seal(id, 'redis/1', bytes('secret'))).rejects.toThrow(SubjectErased);
      });
    });

    it('can report that it works', async () => {
      await expect(vault.ping()).resolves.toBeUndefined();
    });

    describe('when it is opened again', () => {
      afterEach(async () => {
        vault = await harness.open(keys);
      });

      it('has all subjects and values', async () => {
        const [id, gone] = [subject(), subject()];
        await vault.put(id, 'a', bytes('1'));
        await vault.put(gone, 'a', bytes('2'));
        await vault.erase(gone);
        const key = await vault.installationKey('person-hash');
        vault = await harness.open(keys);
        expect(text(await vault.get(id, 'a'))).toBe('1');
        await expect(vault.get(gone, 'a')).rejects.toThrow(SubjectErased);
        expect(Buffer.from(await vault.installationKey('person-hash'))).toEqual(Buffer.from(key));
      });

      it('opens keys under an older master key, and wraps new keys with the newest', async () => {
        const [old, young] = [subject(), subject()];
        await vault.put(old, 'a', bytes('old'));
        const key = await vault.installationKey('person-hash');
        const newest = masterKey('second');
        vault = await harness.open(`${newest},${keys}`);
        expect(text(await vault.get(old, 'a'))).toBe('old');
        await vault.put(old, 'a', bytes('old again'));
        await vault.put(young, 'a', bytes('young'));
        expect(Buffer.from(await vault.installationKey('person-hash'))).toEqual(Buffer.from(key));
        vault = await harness.open(`${keys},${newest}`);
        expect(text(await vault.get(old, 'a'))).toBe('old again');
        expect(text(await vault.get(young, 'a'))).toBe('young');
        vault = await harness.open(newest);
        expect(text(await vault.get(young, 'a'))).toBe('young');
        await expect(vault.get(old, 'a')).rejects.toThrow("'first' is not among");
        await expect(vault.put(old, 'b', bytes('x'))).rejects.toThrow("'first' is not among");
        await expect(vault.installationKey('person-hash')).rejects.toThrow("'first' is not among");
      });

      it('opens nothing with another master key of the same id', async () => {
        const id = subject();
        await vault.put(id, 'a', bytes('1'));
        await vault.installationKey('person-hash');
        vault = await harness.open(masterKey('first'));
        await expect(vault.get(id, 'a')).rejects.toThrow('not authentic');
        await expect(vault.installationKey('person-hash')).rejects.toThrow('not authentic');
      });
    });

    describe('master keys', () => {
      const second = masterKey('second');
      let own: VaultHarness;

      beforeEach(async () => {
        own = await start(2_000);
      });
      afterEach(() => own.close());

      it('are named while stored data needs them, and reported when they are missing or wrong', async () => {
        vault = await own.open(keys);
        expect(await vault.masterKeyIds()).toEqual(new Set());
        await vault.put('p', 'a', bytes('1'));
        expect(await vault.masterKeyIds()).toEqual(new Set(['first']));
        vault = await own.open(`${second},${keys}`);
        await vault.checkMasterKeys();
        await vault.put('q', 'a', bytes('2'));
        expect(await vault.masterKeyIds()).toEqual(new Set(['first', 'second']));
        vault = await own.open(second);
        await expect(vault.checkMasterKeys()).rejects.toThrow("VAULT_MASTER_KEY lacks 'first', under which");
        vault = await own.open(masterKey('third'));
        await expect(vault.checkMasterKeys()).rejects.toThrow("VAULT_MASTER_KEY lacks 'first', 'second', under which");
        vault = await own.open(`${second},${masterKey('first')}`);
        await expect(vault.checkMasterKeys()).rejects.toThrow("gives another key as 'first'");
      });

      it('are no longer needed except one after all keys were rewrapped, and erased data stays erased', async () => {
        vault = await own.open(keys);
        const ids = ['p', 'q', 'r', 'path/like~'];
        for (const id of [...ids, 'gone']) await vault.put(id, 'a', bytes(id));
        await vault.erase('gone');
        const key = await vault.installationKey('person-hash');
        vault = await own.open(`${second},${keys}`);
        const first = await vault.rewrap();
        expect(first).toEqual({
          masterKeyId: 'second',
          rewrapped: first.dataKeys + 1,
          dataKeys: expect.any(Number),
          installationKeys: 1,
        });
        expect(first.dataKeys).toBeGreaterThanOrEqual(ids.length);
        expect(await vault.masterKeyIds()).toEqual(new Set(['second']));
        // Keys that the vault has in memory still work.
        for (const id of ids) expect(text(await vault.get(id, 'a'))).toBe(id);
        vault = await own.open(second);
        await vault.checkMasterKeys();
        for (const id of ids) expect(text(await vault.get(id, 'a'))).toBe(id);
        expect(Buffer.from(await vault.installationKey('person-hash'))).toEqual(Buffer.from(key));
        await expect(vault.get('gone', 'a')).rejects.toThrow(SubjectErased);
        expect(await vault.rewrap()).toEqual({ ...first, rewrapped: 0 });
      });

      it('cannot be omitted from a rewrap while a key still needs them, and no key is lost', async () => {
        vault = await own.open(keys);
        await vault.put('p', 'a', bytes('1'));
        vault = await own.open(second);
        await expect(vault.rewrap()).rejects.toThrow("'first' is not among");
        vault = await own.open(`${second},${keys}`);
        expect(await vault.masterKeyIds()).toEqual(new Set(['first', 'second']));
        expect(text(await vault.get('p', 'a'))).toBe('1');
      });
    });
  });
}
