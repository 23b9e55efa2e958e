// ops audit verify | accept
import { Command, Option, SubCommand } from 'nest-commander';
import { eventsFolder } from '../adapters/event-store/event-store.module.js';
import { ErasureLedger } from '../adapters/vault/erasure-ledger.js';
import { DataFolderSettings } from '../config/data-folder.js';
import { EventStoreSettings } from '../config/event-store.js';
import { Clock } from '../kernel/clock.js';
import { LogWatch, NotAcceptable } from '../platform/audit/log-watch.js';
import { VaultAudit } from '../platform/audit/vault-audit.js';
import { type LogReport, verifyLog, type VerifyOptions } from '../platform/audit/verify.js';
import { StoredLog } from '../ports/event-store.js';
import { Vault, VaultSubjects } from '../ports/vault.js';
import { restoredIn } from './backups.js';
import { CommandGroup } from './command-group.js';
import { givenUpIn } from './given-up.js';
import { Consent, ConsentedCommand, type ConsentValues } from './consent.js';
import { Progress, WrongInput } from './operator.js';
import { print } from './output.js';
import { OperatorCommand } from './operator-command.js';
import { SubjectAudit } from './subject-audit.js';
import { VAULT_KNOWLEDGE } from './vault-knowledge.js';
import { SealedTree } from './sealed-tree.js';
import type { TreeReport } from '../transparency/verify-tree.js';
import { rangesOf, walkInThreads } from './verify-in-threads.js';

@SubCommand({
  name: 'verify',
  description: 'Check the log, and the vault against the log; prints each fault on a line, with exit code 1',
})
export class VerifyAuditCommand extends OperatorCommand {
  constructor(
    private readonly store: StoredLog,
    private readonly vault: Vault,
    private readonly subjects: VaultSubjects,
    private readonly ledger: ErasureLedger,
    private readonly watch: LogWatch,
    private readonly place: EventStoreSettings,
    private readonly folder: DataFolderSettings,
    private readonly tree: SealedTree,
  ) {
    super();
  }

  @Option({
    flags: '--since <position>',
    description: 'only events after this position, which an earlier run printed as "through"',
  })
  readSince(text: string): string {
    return /^\d{1,20}$/.test(text) ? text.padStart(20, '0') : text;
  }

  override async run(_: string[], { since = null }: { readonly since?: string | null } = {}): Promise<void> {
    const { store } = this;
    const compared = await this.watch.compare();
    const complaint = compared?.complaint ?? null;
    if (complaint !== null) print({ position: null, fault: complaint });
    const head = await store.head();
    const walked = this.walkedInThreads(since, head);
    const progress = new Progress();
    const interrupted = new AbortController();
    const interrupt = (): void => interrupted.abort();
    process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
    const isWhole = (): boolean => since === null && !interrupted.signal.aborted;
    const audit = new SubjectAudit({
      entries: new VaultAudit(store, this.vault, VAULT_KNOWLEDGE),
      store,
      subjects: this.subjects,
      ledger: this.ledger,
      givenUp: await givenUpIn(this.folder.path, await restoredIn(this.folder.path)),
      isWhole,
    });
    const verified = verifyLog(store, {
      since,
      vault: audit,
      onFault: (fault) => {
        audit.isDamaged ||= fault.eventId === undefined && fault.position !== null;
        print(fault);
      },
      onProgress: (sofar) =>
        progress.told(
          () =>
            `${sofar.events} events verified, ${sofar.faults} faults, through ${sofar.through} of ${head}; ${goOn(sofar)}`,
        ),
      signal: interrupted.signal,
      ...(walked && { walked }),
    });
    const report = await verified
      .catch((error: unknown) => {
        throw error instanceof RangeError
          ? new WrongInput('--since must be a position that an earlier run printed as "through".')
          : error;
      })
      .finally(() => process.off('SIGINT', interrupt).off('SIGTERM', interrupt));
    const tree = await this.verifiedTree(isWhole());
    const faults = report.faults + tree.faults + (complaint === null ? 0 : 1);
    print({ ...report, ...tree, faults, unnamed: audit.unnamed });
    if (interrupted.signal.aborted) process.stderr.write(`Interrupted; ${goOn(report)}.\n`);
    if (faults > 0) process.exitCode = 1;
    else if (interrupted.signal.aborted) process.exitCode = INTERRUPTED;
  }

  /** The tree is compared only with a whole log. */
  private async verifiedTree(isWhole: boolean): Promise<Omit<Partial<TreeReport>, 'faults'> & { faults: number }> {
    if (!isWhole) return { faults: 0 };
    const { faults, ...report } = await this.tree.verify();
    for (const fault of faults) print(fault);
    for (const { place, reason } of report.outside?.unreached ?? [])
      process.stderr.write(`The checkpoints in ${place} could not be compared: ${reason}\n`);
    return { ...report, faults: faults.length };
  }

  /** Null when the log has only one range or is not embedded, because the threads could then not share the work. */
  private walkedInThreads(since: string | null, head: string | null): VerifyOptions['walked'] | null {
    const { place } = this.place;
    const ranges = rangesOf(since, head);
    if (place.kind !== 'embedded' || ranges.length < 2) return null;
    const directory = eventsFolder(this.folder);
    return (chosenTypes) => walkInThreads(ranges, { directory, mapSizeBytes: place.maxBytes, chosenTypes });
  }
}

/** The exit code that shells use for an interrupted program. */
const INTERRUPTED = 130;

function goOn({ through }: LogReport): string {
  return `\`ops audit verify${through === null ? '' : ` --since ${through}`}\` goes on from here`;
}

@SubCommand({
  name: 'accept',
  description:
    'Accept the present log after events were lost or an older log was restored on purpose; the service is then ready again',
})
export class AcceptLogCommand extends ConsentedCommand {
  constructor(
    private readonly consent: Consent,
    private readonly watch: LogWatch,
    private readonly clock: Clock,
  ) {
    super();
  }

  @Option({
    flags: '--reason <text>',
    description: 'why the log may differ from before; kept with your name, the time and the lost events',
    required: true,
  })
  override readReason(text: string): string {
    return super.readReason(text);
  }

  override async run(_: string[], values: { readonly reason: string } & ConsentValues): Promise<void> {
    const { actor } = await this.consent.given(values, 'accept the log as it is now');
    try {
      print(await this.watch.accept(actor.id, values.reason, this.clock.now()));
    } catch (error) {
      throw error instanceof NotAcceptable ? new WrongInput(error.message) : error;
    }
  }
}

@Command({ name: 'audit', description: 'Integrity of the log', subCommands: [VerifyAuditCommand, AcceptLogCommand] })
export class AuditCommand extends CommandGroup {}
