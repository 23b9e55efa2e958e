// The vault that the service and the operator's commands work with: it writes each erasure into the ledger first, and refuses every
// change where data may only be read.
import type { Clock } from '../../kernel/clock.js';
import { DomainError } from '../../kernel/domain-error.js';
import { type Rewrapped, Vault } from '../../ports/vault.js';
import type { ErasureLedger } from './erasure-ledger.js';

export interface GuardedVaultOptions {
  readonly ledger: ErasureLedger;
  readonly clock: Clock;
  readonly readOnly: boolean;
}

export class GuardedVault extends Vault {
  constructor(
    private readonly vault: Vault,
    private readonly options: GuardedVaultOptions,
  ) {
    super();
  }

  override async put(subject: string, entry: string, value: Uint8Array): Promise<void> {
    await this.writable().put(subject, entry, value);
  }

  override get(subject: string, entry: string): Promise<Uint8Array | null> {
    return this.vault.get(subject, entry);
  }

  override async seal(subject: string, context: string, value: Uint8Array): Promise<Uint8Array> {
    return this.writable().seal(subject, context, value);
  }

  override open(subject: string, context: string, sealed: Uint8Array): Promise<Uint8Array> {
    return this.vault.open(subject, context, sealed);
  }

  override async remove(subject: string, entry: string): Promise<void> {
    await this.writable().remove(subject, entry);
  }

  override async erase(subject: string): Promise<void> {
    const vault = this.writable();
    await this.options.ledger.record(subject, this.options.clock.now());
    await vault.erase(subject);
  }

  override installationKey(name: string): Promise<Uint8Array> {
    return this.vault.installationKey(name);
  }

  override masterKeyIds(): Promise<ReadonlySet<string>> {
    return this.vault.masterKeyIds();
  }

  override checkMasterKeys(): Promise<void> {
    return this.vault.checkMasterKeys();
  }

  override async rewrap(): Promise<Rewrapped> {
    return this.writable().rewrap();
  }

  override ping(): Promise<void> {
    return this.vault.ping();
  }

  private writable(): Vault {
    if (this.options.readOnly) throw new DomainError('service.read_only');
    return this.vault;
  }
}
