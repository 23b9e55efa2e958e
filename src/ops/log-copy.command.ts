// ops log copy: from the embedded event store to EventStoreDB; ops log compress: older events of the embedded one
import { Command, Option, SubCommand } from 'nest-commander';
import { EmbeddedEventStore } from '../adapters/event-store/embedded.js';
import { copyLog } from '../platform/audit/copy-log.js';
import { LogWatch } from '../platform/audit/log-watch.js';
import { type EventStore, StoredLog } from '../ports/event-store.js';
import { CommandGroup } from './command-group.js';
import { print, WrongInput } from './operator.js';
import { OperatorCommand } from './operator-command.js';

const TOLD_EVERY = 10_000;

@SubCommand({
  name: 'copy',
  description:
    'Copy the embedded log to an empty EventStoreDB, and compare; a run that broke off is gone on with. Exit code 1 when the two differ',
})
export class CopyLogCommand extends OperatorCommand {
  constructor(
    private readonly source: StoredLog,
    private readonly watch: LogWatch,
  ) {
    super();
  }

  @Option({ flags: '--to <address>', description: 'esdb:// connection string of the target', required: true })
  readTarget(text: string): string {
    return text;
  }

  override async run(_arguments: string[], { to }: { readonly to: string }): Promise<void> {
    const { source } = this;
    if (!(source instanceof EmbeddedEventStore))
      throw new WrongInput('The log to copy must be an embedded one; EVENT_STORE names another.');
    // In another store nothing would say any more what this one lost.
    const complaint = (await this.watch.compare())?.complaint ?? null;
    if (complaint !== null)
      throw new WrongInput(`${complaint} It is copied when \`ops audit accept\` has taken it for the right one.`);
    const target = await connect(to);
    try {
      let told = 0;
      const { difference, ...copy } = await copyLog(source, target, (events) => {
        if (events - told < TOLD_EVERY) return;
        told = events;
        process.stderr.write(`${events} events copied\n`);
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
    'Compress what is older in the embedded log now; the service does so bit by bit as it appends (EVENT_LOG_UNCOMPRESSED)',
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
    // What is restored to be looked at stays byte for byte what the backup held.
    const refusal = await this.watch.refusal();
    if (refusal !== null) throw refusal;
    if (!(log instanceof EmbeddedEventStore))
      throw new WrongInput('The log to compress must be an embedded one; EVENT_STORE names another.');
    print({ compressedEvents: await log.compress() });
  }
}

/** Loaded by this command only: an operator waits for every command's start. */
async function connect(connectionString: string): Promise<EventStore> {
  const { EventStoreDbEventStore } = await import('../adapters/event-store/eventstoredb.js');
  try {
    return EventStoreDbEventStore.connect({ connectionString });
  } catch (error) {
    throw new WrongInput(error instanceof Error ? error.message : String(error));
  }
}

@Command({ name: 'log', description: 'The log as a whole', subCommands: [CopyLogCommand, CompressLogCommand] })
export class LogCommand extends CommandGroup {}
