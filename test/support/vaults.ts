// One vault on disk for a test file. The vault can be opened with any master keys, as several processes would open it.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DiskVault } from '../../src/adapters/vault/disk.js';
import { MasterKeys } from '../../src/adapters/vault/master-keys.js';
import { SystemClock } from '../../src/kernel/clock.js';

export class Vaults {
  readonly directory = mkdtempSync(join(tmpdir(), 'vault-'));
  private readonly opened: DiskVault[] = [];

  open(masterKeys: string): DiskVault {
    const vault = DiskVault.open({
      directory: this.directory,
      keys: MasterKeys.parse(masterKeys),
      clock: new SystemClock(),
    });
    this.opened.push(vault);
    return vault;
  }

  async close(): Promise<void> {
    for (const vault of this.opened) await vault.close();
    rmSync(this.directory, { recursive: true, force: true });
  }
}
