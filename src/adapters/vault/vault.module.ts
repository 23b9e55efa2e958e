// The vault with its master keys, and the keys of tokens. The ledger's erasures are applied before a request is served.
import { join } from 'node:path';
import { Global, Inject, Module, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { DataFolderSettings } from '../../config/data-folder.js';
import { HttpSettings } from '../../config/http.js';
import { ProcessSettings } from '../../config/process.js';
import { TokenKeySettings } from '../../config/token-keys.js';
import { InvalidConfig } from '../../config/variables.js';
import { VaultSettings } from '../../config/vault.js';
import { Clock } from '../../kernel/clock.js';
import { newId } from '../../kernel/ids.js';
import { Unavailable } from '../../kernel/unavailable.js';
import { ErasureEvidence } from '../../platform/audit/erasure-evidence.js';
import { Health } from '../../platform/http/health.js';
import { Log } from '../../platform/observability/log.js';
import { Metrics } from '../../platform/observability/metrics.js';
import { EventStore, LogRefused } from '../../ports/event-store.js';
import { TokenKeys } from '../../ports/token-keys.js';
import { Vault, VaultMisconfigured, VaultSubjects } from '../../ports/vault.js';
import { nearlyFull } from '../data-folder.module.js';
import { DiskSpace } from '../disk-space.js';
import { developmentSigningKeys } from '../token-keys/development-key.js';
import { Es256TokenKeys } from '../token-keys/es256.js';
import { developmentMasterKey } from './development-key.js';
import { DiskVault } from './disk.js';
import { applyLedger, ErasureLedger } from './erasure-ledger.js';
import { GuardedVault } from './guarded.js';
import { MasterKeys } from './master-keys.js';
import type { S3Vault } from './s3.js';

/** The vault as it is stored, below the guard. */
type StoredVault = DiskVault | S3Vault;
const STORED_VAULT = Symbol('StoredVault');

@Global()
@Module({
  providers: [
    { provide: STORED_VAULT, useFactory: open, inject: [VaultSettings, DataFolderSettings, Clock, DiskSpace, Log] },
    {
      provide: ErasureLedger,
      useFactory: ({ erasureLedger }: VaultSettings) => new ErasureLedger(erasureLedger),
      inject: [VaultSettings],
    },
    {
      provide: Vault,
      useFactory: async (...[stored, ledger, { readOnly }, clock, log, store, evidence]: VaultParts) => {
        const record = readOnly ? null : recordingIn(store, evidence);
        const prepare = (): Promise<void> => checkAndErase(ledger, stored, record, { clock, log });
        const vault = new GuardedVault(stored, { ledger, clock, readOnly, prepare });
        await pingAtStart(vault, log);
        return vault;
      },
      inject: [STORED_VAULT, ErasureLedger, ProcessSettings, Clock, Log, EventStore, ErasureEvidence],
    },
    { provide: VaultSubjects, useExisting: STORED_VAULT },
    {
      provide: TokenKeys,
      useFactory: async ({ signingKey }: TokenKeySettings, { path }: DataFolderSettings, { publicUrl }: HttpSettings) =>
        Es256TokenKeys.from(signingKey ?? (await developmentSigningKeys(join(path, 'keys'))), publicUrl),
      inject: [TokenKeySettings, DataFolderSettings, HttpSettings],
    },
  ],
  exports: [Vault, VaultSubjects, ErasureLedger, TokenKeys],
})
export class VaultModule implements OnModuleInit, OnApplicationShutdown {
  constructor(
    @Inject(STORED_VAULT) private readonly stored: StoredVault,
    private readonly vault: Vault,
    private readonly health: Health,
    private readonly metrics: Metrics,
  ) {}

  onModuleInit(): void {
    const { stored, vault, health, metrics } = this;
    health.add('vault', () => vault.ping().then(() => null));
    if (stored instanceof DiskVault) metrics.beforeScrape(async () => metrics.vaultSpace.set(stored.usage()));
  }

  onApplicationShutdown(): Promise<void> {
    return this.stored.close();
  }
}

type VaultParts = [StoredVault, ErasureLedger, ProcessSettings, Clock, Log, EventStore, ErasureEvidence];

async function open(
  { place, masterKey }: VaultSettings,
  { path }: DataFolderSettings,
  clock: Clock,
  disk: DiskSpace,
  log: Log,
): Promise<StoredVault> {
  const keys = MasterKeys.parse(masterKey ?? (await developmentMasterKey(join(path, 'keys'))));
  return place.kind === 'disk'
    ? DiskVault.open({
        directory: join(path, 'vault'),
        keys,
        clock,
        mapSizeBytes: place.maxBytes,
        onNearlyFull: nearlyFull(log, 'the vault', 'VAULT_MAX_BYTES'),
        diskFull: () => disk.full,
      })
    : // Loaded only when it is used, because otherwise every operator command would start more slowly.
      (await import('./s3.js')).S3Vault.open({ ...place, keys, clock });
}

/** With wrong settings, a service could read no stored data, and would report this only in each request. */
async function pingAtStart(vault: Vault, log: Log): Promise<void> {
  try {
    await vault.ping();
  } catch (error) {
    if (error instanceof VaultMisconfigured) throw new InvalidConfig(error.message);
    if (!(error instanceof Unavailable)) throw error;
    log.warn({ err: error }, 'the vault cannot be used now; what needs it is answered with 503 until it can');
  }
}

type Recording = (subjects: { has(subject: string): boolean }) => Promise<void>;

function recordingIn(store: EventStore, evidence: ErasureEvidence): Recording {
  const correlationId = newId();
  const by = { actor: { kind: 'system', id: 'erasure-ledger' }, correlationId, causationId: correlationId } as const;
  return (subjects) => evidence.record(store, (subject) => subjects.has(subject), by);
}

/** Runs before the vault is used. The vault may be older than the ledger, and the log may lack the last erasure. */
async function checkAndErase(
  ledger: ErasureLedger,
  vault: StoredVault,
  record: Recording | null,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Promise<void> {
  await vault.checkMasterKeys();
  // From its first start on, a vault remembers its ledger and reports the loss of this ledger.
  if ((await vault.ledgerMark()) === null && (await ledger.after(null)).mark === null)
    await ledger.begin({ begunAt: clock.now().toISOString() });
  try {
    const { erased } = await applyLedger(ledger, vault, { record });
    if (erased.length > 0)
      log.warn({ subjects: erased.length }, 'subjects that the erasure ledger names were erased in the vault');
  } catch (error) {
    if (!(error instanceof LogRefused)) throw error;
    log.warn('the log takes no changes, so the erasures are not recorded in it yet');
  }
}
