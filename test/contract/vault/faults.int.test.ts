// The vault on disk when processes that have opened it are killed.
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { SubjectErased } from '../../../src/ports/vault.js';
import { masterKey } from './suite.js';
import { KEYS, SLOT_BYTES, text, VaultOnDisk } from './vault-on-disk.js';

describe('vault on disk', () => {
  let disk: VaultOnDisk;

  beforeEach(() => {
    disk = new VaultOnDisk();
  });
  afterEach(() => disk.close());

  it('keeps every acknowledged value through a kill of the process', async () => {
    for (let round = 0; round < 3; round++) {
      const writer = await disk.process();
      const acknowledged: string[] = [];
      let enough: () => void = () => undefined;
      const many = new Promise<void>((resolve) => (enough = resolve));
      const putting = async (): Promise<void> => {
        for (;;) {
          const id = randomUUID();
          await writer.do('put', id, 'token', `value of ${id}`);
          acknowledged.push(id);
          if (acknowledged.length === 200 + round * 37) enough();
        }
      };
      for (let loops = 0; loops < 16; loops++) void putting();
      await many;
      await writer.kill9();
      const vault = disk.open();
      for (const id of acknowledged) expect(text(await vault.get(id, 'token'))).toBe(`value of ${id}`);
      await vault.close();
    }
  });

  it('keeps an acknowledged erasure through a kill of the process', async () => {
    const writer = await disk.process();
    await writer.do('put', 'p', 'token', 'x');
    await writer.do('erase', 'p');
    await writer.kill9();
    await expect(disk.open().get('p', 'token')).rejects.toThrow(SubjectErased);
  });

  describe('rewrapped keys', () => {
    const second = masterKey('second');

    it('are complete after two killed runs and a finished run, while another process erases and adds persons', async () => {
      const service = disk.open(`${second},${KEYS}`);
      const before = disk.open();
      const ids = Array.from({ length: 3_000 }, (_, index) => `p${index}`);
      await Promise.all(ids.map((id) => before.put(id, 'a', Buffer.from(id))));
      await before.close();
      const erased = new Set<string>();
      const eraseSome = async (): Promise<void> => {
        for (let index = 0; index < 20; index++) {
          const id = ids[(erased.size * 37) % ids.length]!;
          erased.add(id);
          await service.erase(id);
          await service.put(`new-${id}`, 'a', Buffer.from(id));
        }
      };
      for (let round = 0; round < 3; round++) {
        const process = await disk.process(`${second},${KEYS}`);
        const run = process.do('rewrap').catch(() => undefined);
        await eraseSome();
        if (round < 2) await process.kill9();
        else await run;
      }
      expect(disk.wrappedUnder('k')).toBe(0);
      const alone = disk.open(second);
      await alone.checkMasterKeys();
      for (const id of ids) {
        if (erased.has(id)) await expect(alone.get(id, 'a')).rejects.toThrow(SubjectErased);
        else expect(text(await alone.get(id, 'a'))).toBe(id);
      }
      for (const id of erased) expect(text(await alone.get(`new-${id}`, 'a'))).toBe(id);
      const places = new Set<number>();
      await service.close();
      await alone.close();
      await disk.tamper((subjects) => {
        for (const id of erased) places.add(subjects.get(id)!.slot);
      });
      expect(places.size).toBe(erased.size);
      for (const place of places) expect(disk.slot(place).equals(Buffer.alloc(SLOT_BYTES))).toBe(true);
    });
  });
});
