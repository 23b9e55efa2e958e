// The vault for the service and the operator commands. The guard writes each erasure into the ledger first, and refuses changes in read-only use.
import type { Clock } from '../../kernel/clock.js';
import { DomainError } from '../../kernel/domain-error.js';
import { type Rewrapped, Vault } from '../../ports/vault.js';
import type { ErasureLedger } from './erasure-ledger.js';

export interface GuardedVaultOptions {
  readonly ledger: ErasureLedger;
  readonly clock: Clock;
  readonly readOnly: boolean;
  /** The work before the first use of the vault. This work is repeated at each use until it succeeds. */
  readonly prepare?: () => Promise<void>;
}

export class GuardedVault extends Vault {
  /** One promise for all callers that wait. */
  private preparing: Promise<void> | null = null;

  constructor(
    private readonly vault: Vault,
    private readonly options: GuardedVaultOptions,
  ) {
    super();
  }

  override async put(subject: string, entry: string, value: Uint8Array): Promise<void> {
    await (await this.writable()).put(subject, entry, value);
  }

  override async get(subject: string, entry: string): Promise<Uint8Array | null> {
    return (await this.prepared()).get(subject, entry);
  }

  override async seal(subject: string, context: string, value: Uint8Array): Promise<Uint8Array> {
    return (await this.writable()).seal(subject, context, value);
  }

  override async open(subject: string, context: string, sealed: Uint8Array): Promise<Uint8Array> {
    return (await this.prepared()).open(subject, context, sealed);
  }

  override async remove(subject: string, entry: string): Promise<void> {
    await (await this.writable()).remove(subject, entry);
  }

  override async erase(subject: string): Promise<void> {
    const vault = await this.writable();
    await this.options.ledger.record(subject, this.options.clock.now());
    await vault.erase(subject);
  }

  override async installationKey(name: string): Promise<Uint8Array> {
    return (await this.prepared()).installationKey(name);
  }

  override async masterKeyIds(): Promise<ReadonlySet<string>> {
    return (await this.prepared()).masterKeyIds();
  }

  override async checkMasterKeys(): Promise<void> {
    await (await this.prepared()).checkMasterKeys();
  }

  override async rewrap(): Promise<Rewrapped> {
    return (await this.writable()).rewrap();
  }

  override async ping(): Promise<void> {
    await (await this.prepared()).ping();
  }

  private async writable(): Promise<Vault> {
    if (this.options.readOnly) throw new DomainError('service.read_only');
    return this.prepared();
  }

  private async prepared(): Promise<Vault> {
    this.preparing ??= this.options.prepare?.() ?? Promise.resolve();
    await this.preparing.catch((error: unknown) => {
      this.preparing = null;
      throw error;
    });
    return this.vault;
  }
}
