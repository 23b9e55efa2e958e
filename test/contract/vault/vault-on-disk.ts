// A folder with a vault that tests open, also in other processes. Tests read and change the folder like an intruder.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Database, open } from 'lmdb';
import { DiskVault, type DiskVaultOptions } from '../../../src/adapters/vault/disk.js';
import { MasterKeys } from '../../../src/adapters/vault/master-keys.js';
import { SetClock } from '../../support/clock.js';
import { OtherProcess } from './other-process.js';
import { masterKey } from './suite.js';

export const SLOT_BYTES = 128;
export const KEYS = masterKey('k');
/** The time that the vault records for everything. */
export const AT = '2026-01-02T03:04:05.678Z';

export const text = (value: Uint8Array | null): string => Buffer.from(value ?? []).toString();

export class VaultOnDisk {
  readonly directory = mkdtempSync(join(tmpdir(), 'vault-'));
  private readonly vaults: DiskVault[] = [];
  private readonly processes: OtherProcess[] = [];

  open(keys = KEYS, options: Partial<DiskVaultOptions> = {}): DiskVault {
    const clock = new SetClock(Date.parse(AT));
    const vault = DiskVault.open({ directory: this.directory, keys: MasterKeys.parse(keys), clock, ...options });
    this.vaults.push(vault);
    return vault;
  }

  /** Another process that has opened the vault. */
  async process(keys = KEYS): Promise<OtherProcess> {
    const process = new OtherProcess('disk', this.directory, keys);
    this.processes.push(process);
    await process.ready;
    return process;
  }

  private get dataKeys(): Buffer {
    return readFileSync(join(this.directory, 'data-keys'));
  }

  slot(index: number): Buffer {
    return this.dataKeys.subarray(index * SLOT_BYTES, (index + 1) * SLOT_BYTES);
  }

  /** The number of data keys that are wrapped under the master key. */
  wrappedUnder(id: string): number {
    const file = this.dataKeys;
    const slots = Array.from({ length: file.length / SLOT_BYTES }, (_, index) =>
      file.subarray(index * SLOT_BYTES, (index + 1) * SLOT_BYTES),
    );
    return slots.filter((found) => found.toString('latin1', 1, 1 + found[0]!) === id).length;
  }

  async tamper(
    change: (
      subjects: Database<{ slot: number; erasedAt?: string }, string>,
      entries: Database<Buffer, string>,
      condemned: Database<boolean, number>,
    ) => void,
  ): Promise<void> {
    const root = open({ path: join(this.directory, 'values.mdb'), noSubdir: true, maxDbs: 8 });
    change(
      root.openDB({ name: 'subjects', encoding: 'json' }),
      root.openDB({ name: 'entries', encoding: 'binary' }),
      root.openDB({ name: 'condemned', encoding: 'json' }),
    );
    await root.close();
  }

  async close(): Promise<void> {
    for (const process of this.processes) await process.kill9();
    for (const vault of this.vaults) await vault.close();
    rmSync(this.directory, { recursive: true });
  }
}
