import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DiskVault } from '../../../src/adapters/vault/disk.js';
import { applyLedger, ErasureLedger } from '../../../src/adapters/vault/erasure-ledger.js';
import { GuardedVault } from '../../../src/adapters/vault/guarded.js';
import { MasterKeys } from '../../../src/adapters/vault/master-keys.js';
import { SystemClock } from '../../../src/kernel/clock.js';
import { SubjectErased } from '../../../src/ports/vault.js';
import { masterKey } from './suite.js';

const AT = new Date('2026-01-02T03:04:05.678Z');

describe('the erasure ledger', () => {
  let directory: string;
  let vault: DiskVault;
  let ledger: ErasureLedger;
  const guarded = (readOnly = false): GuardedVault => new GuardedVault(vault, { ledger, clock: new SystemClock(), readOnly });
  const apply = (): Promise<{ erased: readonly string[]; continues: boolean }> => applyLedger(ledger, vault);
  const reopen = async (name: string): Promise<void> => {
    await vault?.close();
    vault = DiskVault.open({ directory: join(directory, name), keys: MasterKeys.parse(masterKey('k')), clock: new SystemClock() });
  };

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'ledger-'));
    ledger = new ErasureLedger(join(directory, 'erasures.jsonl'));
    await reopen('vault');
  });
  afterEach(async () => {
    await vault.close();
    rmSync(directory, { recursive: true });
  });

  it('names a subject before the vault erases it', async () => {
    await guarded().put('p', 'a', Buffer.from('x'));
    await guarded().erase('p');
    expect(readFileSync(ledger.file, 'utf8')).toMatch(/^\{"subject":"p","erasedAt":"\d{4}-[^"]+Z"\}\n$/);
    await expect(vault.get('p', 'a')).rejects.toThrow(SubjectErased);
  });

  it('that cannot be written lets nobody be erased', async () => {
    await vault.put('p', 'a', Buffer.from('x'));
    ledger = new ErasureLedger(join(directory, 'nowhere', 'erasures.jsonl'));
    await expect(guarded().erase('p')).rejects.toThrow('The erasure ledger cannot be written; nothing was erased');
    expect(Buffer.from((await vault.get('p', 'a')) ?? []).toString()).toBe('x');
  });

  it('makes an older vault erase whom it still has, and whom it never had', async () => {
    await vault.put('p', 'a', Buffer.from('x'));
    await ledger.record('p', AT);
    await ledger.record('q', AT);
    expect(await apply()).toEqual({ erased: ['p', 'q'], continues: true });
    await expect(vault.get('p', 'a')).rejects.toThrow(SubjectErased);
    await expect(vault.put('q', 'a', Buffer.from('x'))).rejects.toThrow(SubjectErased);
  });

  it('is read from where the vault knows it', async () => {
    await ledger.record('p', AT);
    await apply();
    // What lies before the mark is not looked at again, so that a start costs no more as the ledger grows.
    writeFileSync(ledger.file, readFileSync(ledger.file, 'utf8').replace('"p"', '"o"'));
    await ledger.record('q', AT);
    const other = readFileSync(ledger.file, 'utf8');
    expect(await apply()).toEqual({ erased: ['o', 'q'], continues: false });
    writeFileSync(ledger.file, other);
    await ledger.record('r', AT);
    expect(await apply()).toEqual({ erased: ['r'], continues: true });
    expect(await apply()).toEqual({ erased: [], continues: true });
  });

  it('is read whole for a vault that knows less, or another ledger', async () => {
    await ledger.record('p', AT);
    await apply();
    await reopen('older');
    expect(await apply()).toEqual({ erased: ['p'], continues: true });
    rmSync(ledger.file);
    await ledger.record('q', AT);
    expect(await apply()).toEqual({ erased: ['q'], continues: false });
  });

  it('goes on after a line that the machine did not finish', async () => {
    await ledger.record('p', AT);
    appendFileSync(ledger.file, '{"subject":"torn');
    await ledger.record('q', AT);
    expect((await apply()).erased).toEqual(['p', 'q']);
  });

  it('that is damaged is told, with the place', async () => {
    await ledger.record('p', AT);
    writeFileSync(ledger.file, `${readFileSync(ledger.file, 'utf8')}{"subjekt":"q"}\n`);
    await expect(apply()).rejects.toThrow(/^The erasure ledger .* is damaged at byte 54\.$/);
  });

  it('gets a line for each of many erasures at once, from any process', async () => {
    const names = Array.from({ length: 50 }, (_, index) => `p${index}`);
    const other = new ErasureLedger(ledger.file);
    await Promise.all(names.flatMap((name, index) => [(index % 2 ? other : ledger).record(name, AT)]));
    expect([...(await ledger.after(null)).subjects].sort()).toEqual([...names].sort());
  });
});

it('a vault that may only be read puts, removes and erases nothing', async () => {
  const untouched = new Proxy({}, { get: () => { throw new Error('The vault was touched'); } });
  const vault = new GuardedVault(untouched as never, { ledger: untouched as never, clock: new SystemClock(), readOnly: true });
  for (const change of [vault.put('p', 'a', Buffer.from('x')), vault.remove('p', 'a'), vault.erase('p')]) await expect(change).rejects.toThrow('service.read_only');
});
