// ops backup create | verify | restore | expire | release | accept-ledger
import { Command, Option, SubCommand } from 'nest-commander';
import { recordErasures } from '../modules/erasure-evidence.js';
import { UPCASTING } from '../modules/stored-events.module.js';
import { VaultAudit } from '../platform/audit/vault-audit.js';
import { verifyLog } from '../platform/audit/verify.js';
import { UpcastingEventStore } from '../platform/upcasting/upcasting-event-store.js';
import type { LogFault } from '../ports/inspectable-log.js';
import { Backups, type Completion } from './backups.js';
import { CommandGroup } from './command-group.js';
import { Consent, ConsentedCommand, type ConsentValues } from './consent.js';
import { operatorContext, wholeNumber, WrongInput } from './operator.js';
import { print } from './output.js';
import { OperatorCommand } from './operator-command.js';
import { VAULT_KNOWLEDGE } from './vault-knowledge.js';

const recordInLog: Completion = (log, vault) =>
  recordErasures(
    new UpcastingEventStore(log, UPCASTING),
    (subject) => vault.erasedAt(subject) !== null,
    operatorContext(),
  );

@SubCommand({
  name: 'create',
  arguments: '<folder>',
  description: 'Copy the log and the vault of DATA_DIR into a new folder below this one, while the service runs',
})
export class CreateBackupCommand extends OperatorCommand {
  constructor(private readonly backups: Backups) {
    super();
  }

  override async run([folder = '']: string[]): Promise<void> {
    const { backup, createdAt, checkpoint, masterKeyIds, files } = await this.backups.create(folder);
    const holdsMasterKey = files.some(({ path }) => path.startsWith('keys'));
    print({
      backup,
      createdAt,
      checkpoint,
      masterKeyIds,
      holdsMasterKey,
      bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    });
  }
}

@SubCommand({
  name: 'verify',
  arguments: '<backup>',
  description:
    'Restore a backup into a temporary folder beside it and audit it there; exit code 1 when anything is wrong',
})
export class VerifyBackupCommand extends OperatorCommand {
  constructor(private readonly backups: Backups) {
    super();
  }

  override async run([backup = '']: string[]): Promise<void> {
    await this.backups.inspect(backup, async (log, vault, { createdAt, checkpoint, wentOn }) => {
      // Erasures that the vault's copy has and the log's older copy does not have.
      await recordInLog(log, vault);
      const newer = new Set(wentOn);
      const faults: LogFault[] = [];
      const report = await verifyLog(log, {
        vault: new VaultAudit(log, vault, VAULT_KNOWLEDGE),
        onFault: (fault) => {
          if (!(fault.stream !== undefined && newer.has(fault.stream) && fault.fault.startsWith('vault entry')))
            faults.push(fault);
        },
      });
      for (const fault of faults) print(fault);
      print({ backup, createdAt, checkpoint, ...report, faults: faults.length });
      if (faults.length > 0) process.exitCode = 1;
    });
  }
}

interface RestoreValues {
  readonly to: string;
  readonly ledger?: string;
  readonly withoutLedger?: string;
}

@SubCommand({
  name: 'restore',
  arguments: '<backup>',
  description: 'Make a data folder of a backup; it starts with ROLE=investigation until it is released',
})
export class RestoreBackupCommand extends OperatorCommand {
  constructor(private readonly backups: Backups) {
    super();
  }

  @Option({ flags: '--to <folder>', description: 'the new data folder; it must be empty or not exist', required: true })
  readTo(text: string): string {
    return text;
  }

  @Option({ flags: '--ledger <file>', description: 'the erasure ledger; the persons in it are erased in the copy' })
  readLedger(text: string): string {
    return text;
  }

  @Option({
    flags: '--without-ledger <reason>',
    description: 'why there is no ledger; without one, erased persons are in the copy again',
  })
  readWithoutLedger(text: string): string {
    return text;
  }

  override async run([backup = '']: string[], { to, ledger, withoutLedger }: RestoreValues): Promise<void> {
    if ((ledger === undefined) === (withoutLedger === undefined))
      throw new WrongInput(
        'Give the erasure ledger with --ledger <file>, or say why there is none with --without-ledger <reason>.',
      );
    const options = { to, ledger: ledger === undefined ? { missingBecause: withoutLedger ?? '' } : { file: ledger } };
    print(await this.backups.restore(backup, options, recordInLog));
  }
}

interface ReleaseValues {
  readonly reason: string;
  readonly ledger?: string;
  readonly withoutLedger?: string;
}

@SubCommand({
  name: 'release',
  arguments: '<folder>',
  description:
    'Make a restored copy an ordinary data folder; from then on it sends pending deliveries and settles open calls',
})
export class ReleaseBackupCommand extends OperatorCommand {
  constructor(private readonly backups: Backups) {
    super();
  }

  @Option({ flags: '--reason <text>', description: 'kept in the folder', required: true })
  readReason(text: string): string {
    return text;
  }

  @Option({
    flags: '--ledger <file>',
    description: 'the present erasure ledger; persons who were erased since the restore are erased in the copy too',
  })
  readLedger(text: string): string {
    return text;
  }

  @Option({
    flags: '--without-ledger <reason>',
    description: 'why there is no ledger; without one, persons who were erased since the restore stay in the copy',
  })
  readWithoutLedger(text: string): string {
    return text;
  }

  override async run([folder = '']: string[], { reason, ledger, withoutLedger }: ReleaseValues): Promise<void> {
    if (ledger !== undefined && withoutLedger !== undefined)
      throw new WrongInput('Give either --ledger or --without-ledger, not both.');
    const named = ledger === undefined ? null : { file: ledger };
    const options = {
      reason,
      by: operatorContext().actor.id,
      ledger: withoutLedger === undefined ? named : { missingBecause: withoutLedger },
    };
    print(await this.backups.release(folder, options, recordInLog));
  }
}

@SubCommand({
  name: 'accept-ledger',
  description: 'Begin a new erasure ledger when the one of the vault in DATA_DIR is lost for good',
})
export class AcceptLedgerCommand extends ConsentedCommand {
  constructor(
    private readonly backups: Backups,
    private readonly consent: Consent,
  ) {
    super();
  }

  @Option({ flags: '--reason <text>', description: 'kept in the ledger', required: true })
  override readReason(text: string): string {
    return super.readReason(text);
  }

  override async run(_parameters: string[], values: ConsentValues & { readonly reason: string }): Promise<void> {
    const { actor } = await this.consent.given(values, 'begin a new erasure ledger in place of the lost one');
    print(await this.backups.acceptLedger(values.reason, actor.id));
  }
}

interface ExpireValues {
  readonly keep: number;
  readonly youngerThan?: number;
}

@SubCommand({
  name: 'expire',
  arguments: '<folder>',
  description: 'Remove old backups below a folder, and the remains of killed runs',
})
export class ExpireBackupsCommand extends OperatorCommand {
  constructor(private readonly backups: Backups) {
    super();
  }

  @Option({ flags: '--keep <number>', description: 'number of the newest backups to keep', required: true })
  readKeep(text: string): number {
    return wholeNumber(text, '--keep');
  }

  @Option({ flags: '--younger-than <days>', description: 'also keep backups that are younger' })
  readYoungerThan(text: string): number {
    return wholeNumber(text, '--younger-than');
  }

  override async run([folder = '']: string[], { keep, youngerThan }: ExpireValues): Promise<void> {
    if (keep === 0) throw new WrongInput('--keep must be at least 1.');
    print(await this.backups.expire(folder, { keep, youngerThanDays: youngerThan ?? null }));
  }
}

@Command({
  name: 'backup',
  description: 'Backups of the log and the vault',
  subCommands: [
    CreateBackupCommand,
    VerifyBackupCommand,
    RestoreBackupCommand,
    ReleaseBackupCommand,
    ExpireBackupsCommand,
    AcceptLedgerCommand,
  ],
})
export class BackupCommand extends CommandGroup {}
