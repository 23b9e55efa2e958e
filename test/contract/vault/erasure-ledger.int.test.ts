import { appendFileSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { DiskVault } from '../../../src/adapters/vault/disk.js';
import { applyLedger, ErasureLedger, OtherLedger } from '../../../src/adapters/vault/erasure-ledger.js';
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
  const guarded = (readOnly = false): GuardedVault =>
    new GuardedVault(vault, { ledger, clock: new SystemClock(), readOnly });
  /** The subjects that the log received, in one list for each start. */
  let recorded: string[][];
  const record = async (subjects: ReadonlySet<string>): Promise<void> => void recorded.push([...subjects]);
  const apply = (): Promise<{ erased: readonly string[] }> => applyLedger(ledger, vault, { record });
  const reopen = async (name: string): Promise<void> => {
    await vault?.close();
    vault = DiskVault.open({
      directory: join(directory, name),
      keys: MasterKeys.parse(masterKey('k')),
      clock: new SystemClock(),
    });
  };

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'ledger-'));
    recorded = [];
    ledger = new ErasureLedger(join(directory, 'erasures.jsonl'));
    await ledger.begin({ begunAt: AT.toISOString() });
    await reopen('vault');
  });
  afterEach(async () => {
    await vault.close();
    rmSync(directory, { recursive: true });
  });

  it('names a subject before the vault erases the subject', async () => {
    await guarded().put('p', 'a', Buffer.from('x'));
    await guarded().erase('p');
    expect(readFileSync(ledger.file, 'utf8')).toMatch(/^\{"subject":"p","erasedAt":"\d{4}-[^"]+Z"\}\n$/m);
    await expect(vault.get('p', 'a')).rejects.toThrow(SubjectErased);
  });

  it('prevents an erasure when it cannot be written', async () => {
    await vault.put('p', 'a', Buffer.from('x'));
    ledger = new ErasureLedger(join(directory, 'nowhere', 'erasures.jsonl'));
    await expect(guarded().erase('p')).rejects.toThrow('The erasure ledger cannot be written; nothing was erased');
    expect(Buffer.from((await vault.get('p', 'a')) ?? []).toString()).toBe('x');
  });

  it('makes an older vault erase the subjects that it still has, and refuse the subjects that it never had', async () => {
    await vault.put('p', 'a', Buffer.from('x'));
    await ledger.record('p', AT);
    await ledger.record('q', AT);
    expect(await apply()).toEqual({ erased: ['p', 'q'] });
    await expect(vault.get('p', 'a')).rejects.toThrow(SubjectErased);
    await expect(vault.put('q', 'a', Buffer.from('x'))).rejects.toThrow(SubjectErased);
  });

  it('is read from the first line that the vault has not applied', async () => {
    await ledger.record('p', AT);
    await ledger.record('q', AT);
    await apply();
    // A start does not read the lines before the mark again, so that it does not become slower as the ledger grows.
    writeFileSync(ledger.file, readFileSync(ledger.file, 'utf8').replace('"p"', '"o"'));
    await ledger.record('r', AT);
    expect(await apply()).toEqual({ erased: ['r'] });
    expect(await apply()).toEqual({ erased: [] });
  });

  it('is read completely when the vault has applied fewer lines, or when several ledgers were joined', async () => {
    await ledger.record('p', AT);
    await apply();
    const former = readFileSync(ledger.file, 'utf8');
    await reopen('older');
    expect(await apply()).toEqual({ erased: ['p'] });
    writeFileSync(ledger.file, `{"subject":"of-another","erasedAt":"x"}\n${former}`);
    expect(await apply()).toEqual({ erased: ['of-another'] });
  });

  it.each([
    ['is missing', () => rmSync(ledger.file)],
    ['is empty, as under a mount point', () => writeFileSync(ledger.file, '')],
    ['is another one', () => writeFileSync(ledger.file, '{"subject":"q","erasedAt":"x"}\n')],
    ['is older', () => writeFileSync(ledger.file, readFileSync(ledger.file, 'utf8').replace(/.*"p".*/, ''))],
  ])('that %s is refused by a vault that has applied more lines, and is not created again', async (_what, lose) => {
    await ledger.record('p', AT);
    await apply();
    lose();
    const left = existsSync(ledger.file) && readFileSync(ledger.file, 'utf8');
    await expect(apply()).rejects.toThrow(OtherLedger);
    expect(existsSync(ledger.file) && readFileSync(ledger.file, 'utf8')).toBe(left);
  });

  it('prevents an erasure when its file has disappeared during use, and the file is not created again', async () => {
    await vault.put('p', 'a', Buffer.from('x'));
    renameSync(ledger.file, `${ledger.file}.gone`);
    await expect(guarded().erase('p')).rejects.toThrow('The erasure ledger cannot be written; nothing was erased');
    expect(existsSync(ledger.file)).toBe(false);
  });

  it('lets the log record the subjects that a start erased; if the first start died, a later start records them', async () => {
    await ledger.record('p', AT);
    await expect(
      applyLedger(ledger, vault, { record: () => Promise.reject(new Error('the machine stopped')) }),
    ).rejects.toThrow('the machine stopped');
    // A read-only process records nothing.
    await applyLedger(ledger, vault, { record: null });
    await ledger.record('q', AT);
    expect(await apply()).toEqual({ erased: ['q'] });
    await apply();
    expect(recorded).toEqual([['p', 'q']]);
  });

  it('is read in pieces of any size', async () => {
    const long = (name: string): string => name.repeat(50_000);
    for (const name of ['a', 'b', 'c', 'd'])
      appendFileSync(ledger.file, `${JSON.stringify({ subject: long(name) })}\n`);
    const { subjects, mark } = await ledger.after(null);
    expect(subjects).toEqual(['a', 'b', 'c', 'd'].map(long));
    expect(await ledger.after(mark)).toEqual({ subjects: [], mark, continues: true });
  });

  it('continues after a line that was left incomplete by a machine that stopped', async () => {
    await ledger.record('p', AT);
    appendFileSync(ledger.file, '{"subject":"torn');
    await ledger.record('q', AT);
    expect((await apply()).erased).toEqual(['p', 'q']);
  });

  it('continues after a line that another process began at the same moment', async () => {
    const handle = await open(ledger.file);
    const writes = Object.getPrototypeOf(handle) as typeof handle;
    await handle.close();
    const real = writes.appendFile;
    jest.spyOn(writes, 'appendFile').mockImplementationOnce(async function (this: typeof handle, ...line) {
      appendFileSync(ledger.file, '{"subject":"torn');
      await real.apply(this, line);
    });
    await ledger.record('q', AT);
    jest.restoreAllMocks();
    expect((await apply()).erased).toEqual(['q']);
  });

  it('is reported as damaged, with the position', async () => {
    await ledger.record('p', AT);
    const before = readFileSync(ledger.file, 'utf8');
    writeFileSync(ledger.file, `${before}{"subjekt":"q"}\n`);
    await expect(apply()).rejects.toThrow(`The erasure ledger ${ledger.file} is damaged at byte ${before.length}.`);
  });

  it('gets a line for each of many simultaneous erasures, from any process', async () => {
    const names = Array.from({ length: 50 }, (_, index) => `p${index}`);
    const other = new ErasureLedger(ledger.file);
    await Promise.all(names.flatMap((name, index) => [(index % 2 ? other : ledger).record(name, AT)]));
    expect([...(await ledger.after(null)).subjects].sort()).toEqual([...names].sort());
  });
});

it('a read-only vault puts, removes and erases nothing', async () => {
  const untouched = new Proxy(
    {},
    {
      get: () => {
        throw new Error('The vault was touched');
      },
    },
  );
  const vault = new GuardedVault(untouched as never, {
    ledger: untouched as never,
    clock: new SystemClock(),
    readOnly: true,
  });
  for (const change of [vault.put('p', 'a', Buffer.from('x')), vault.remove('p', 'a'), vault.erase('p')])
    await expect(change).rejects.toThrow('service.read_only');
});
