// ops log copy: from the embedded event store to EventStoreDB; ops log compress: older events of the embedded one
import { join } from 'node:path';
import { Command, Option, SubCommand } from 'nest-commander';
import { ReplacedFile } from '../adapters/durable-files.js';
import { EmbeddedEventStore } from '../adapters/event-store/embedded.js';
import type { EventStoreDbEventStore } from '../adapters/event-store/eventstoredb.js';
import { DataFolderSettings } from '../config/data-folder.js';
import { type CopyCheckpoint, copyLog } from '../platform/audit/copy-log.js';
import { LogWatch } from '../platform/audit/log-watch.js';
import { StoredLog } from '../ports/event-store.js';
import { CommandGroup } from './command-group.js';
import { print, WrongInput } from './operator.js';
import { OperatorCommand } from './operator-command.js';

const TOLD_EVERY = 10_000;
/** This file in the data folder records how far an earlier run compared the two logs. Without the file, the next run compares from the beginning. */
const CHECKPOINT_FILE = 'log-copy.json';

interface CopyLogOptions {
  readonly to: string;
  readonly compareAll?: boolean;
  readonly oneByOne?: boolean;
}

@SubCommand({
  name: 'copy',
  description:
    'Copy the embedded log to an empty EventStoreDB and compare the two; a second run copies new events. Exit code 1 when they differ',
})
export class CopyLogCommand extends OperatorCommand {
  constructor(
    private readonly source: StoredLog,
    private readonly watch: LogWatch,
    private readonly dataFolder: DataFolderSettings,
  ) {
    super();
  }

  @Option({ flags: '--to <address>', description: 'esdb:// connection string of the target', required: true })
  readTarget(text: string): string {
    return text;
  }

  @Option({
    flags: '--compare-all',
    description: 'Compare from the beginning, even the part that an earlier run has compared',
  })
  readCompareAll(): boolean {
    return true;
  }

  @Option({
    flags: '--one-by-one',
    description: 'Wait for each append before the next one; this takes longer',
  })
  readOneByOne(): boolean {
    return true;
  }

  override async run(_arguments: string[], { to, compareAll, oneByOne }: CopyLogOptions): Promise<void> {
    const { source } = this;
    if (!(source instanceof EmbeddedEventStore))
      throw new WrongInput('EVENT_STORE must name an embedded log. No other can be copied.');
    // A copy would hide that this log has lost events.
    const complaint = (await this.watch.compare())?.complaint ?? null;
    if (complaint !== null)
      throw new WrongInput(`${complaint} It can be copied once \`ops audit accept\` has accepted it.`);
    const target = await connect(to);
    try {
      const file = new ReplacedFile(join(this.dataFolder.path, CHECKPOINT_FILE));
      let saved = await file.read();
      let told = 0;
      const progress = (events: number): void => {
        if (events - told < TOLD_EVERY) return;
        told = events;
        process.stderr.write(`${events} events copied\n`);
      };
      const { difference, ...copy } = await copyLog(source, target, progress, {
        ...(!oneByOne && { append: (appends) => target.appendInOrder(appends) }),
        checkpoint: compareAll ? null : checkpointIn(saved),
        onCompared: async (checkpoint) => {
          const content = JSON.stringify(checkpoint);
          // A second copy that runs at the same time has a checkpoint of its own.
          if (await file.replace(saved, content)) saved = content;
        },
      });
      if (difference !== null) print(difference);
      print({ ...copy, differences: difference === null ? 0 : 1 });
      if (difference !== null) process.exitCode = 1;
    } finally {
      await target.close();
    }
  }
}

@SubCommand({
  name: 'compress',
  description:
    'Compress older events of the embedded log now; the service also compresses some with each append (EVENT_LOG_UNCOMPRESSED)',
})
export class CompressLogCommand extends OperatorCommand {
  constructor(
    private readonly log: StoredLog,
    private readonly watch: LogWatch,
  ) {
    super();
  }

  override async run(): Promise<void> {
    const { log } = this;
    // A copy that was restored for reading must stay byte for byte as it was in the backup.
    const refusal = await this.watch.refusal();
    if (refusal !== null) throw refusal;
    if (!(log instanceof EmbeddedEventStore))
      throw new WrongInput('EVENT_STORE must name an embedded log. No other can be compressed.');
    print({ compressedEvents: await log.compress() });
  }
}

/** Null when the file is absent or damaged. */
function checkpointIn(text: string | null): CopyCheckpoint | null {
  try {
    const found = JSON.parse(text ?? 'null') as Partial<CopyCheckpoint> | null;
    const texts = [found?.stream, found?.source, found?.target].every((value) => typeof value === 'string');
    const counts = [found?.revision, found?.events, found?.streams].every(Number.isSafeInteger);
    return texts && counts ? (found as CopyCheckpoint) : null;
  } catch {
    return null;
  }
}

/** Imported only here, because otherwise every command would load the client at its start. */
async function connect(connectionString: string): Promise<EventStoreDbEventStore> {
  const { EventStoreDbEventStore } = await import('../adapters/event-store/eventstoredb.js');
  try {
    return EventStoreDbEventStore.connect({ connectionString });
  } catch (error) {
    throw new WrongInput(error instanceof Error ? error.message : String(error));
  }
}

@Command({ name: 'log', description: 'The log as a whole', subCommands: [CopyLogCommand, CompressLogCommand] })
export class LogCommand extends CommandGroup {}
