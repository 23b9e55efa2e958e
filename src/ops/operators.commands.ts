// ops operators uses: which operator looked at, exported or searched which case.
import { Command, Option, SubCommand } from 'nest-commander';
import { machineTimeOf, type RecordedEvent } from '../kernel/domain-event.js';
import { operatorUses, USES, type OperatorUseEvent } from '../modules/operators/domain/operator-uses.js';
import { EventStore } from '../ports/event-store.js';
import { CommandGroup } from './command-group.js';
import { limitIn } from './listing.js';
import { timeIn } from './operator.js';
import { OperatorCommand } from './operator-command.js';
import { printNone, printRow } from './output.js';

const READ_TOGETHER = 1_000;
const SHOWN = 20;

interface UsesValues {
  readonly subject?: string;
  readonly by?: string;
  readonly from?: Date;
  readonly to?: Date;
  readonly limit?: number;
}

@SubCommand({
  name: 'uses',
  description: 'List which operator looked at, exported or searched which case or person, and why; the newest first',
})
export class OperatorUsesCommand extends OperatorCommand {
  constructor(private readonly events: EventStore) {
    super();
  }

  @Option({ flags: '--subject <id>', description: 'only of this session, person or account, or of this stream' })
  readSubject(text: string): string {
    return text;
  }

  @Option({ flags: '--by <name>', description: 'only of this operator' })
  readBy(text: string): string {
    return text;
  }

  @Option({ flags: '--from <time>', description: 'at this time or later (ISO 8601 with a zone)' })
  readFrom(text: string): Date {
    return timeIn(text, '--from');
  }

  @Option({ flags: '--to <time>', description: 'before this time (ISO 8601 with a zone)' })
  readTo(text: string): Date {
    return timeIn(text, '--to');
  }

  @Option({ flags: '--limit <number>', description: `number of uses, ${SHOWN} if not given, at most 1000` })
  readLimit(text: string): number {
    return limitIn(text);
  }

  override async run(_: string[], { limit = SHOWN, ...wanted }: UsesValues = {}): Promise<void> {
    let shown = 0;
    for await (const event of this.newestFirst()) {
      if (shown === limit || (wanted.from && timeOf(event) < wanted.from)) break;
      if (!isWanted(event, wanted)) continue;
      const { reason, ticket, actor } = event.metadata;
      const { tool, purpose, options, subject } = event.data;
      const told = { at: machineTimeOf(event.metadata), by: actor.id, tool };
      printRow(
        { ...told, subject, purpose, options, reason, ticket },
        { ...told, subject: subject?.id, options: options.join(' '), purpose, reason, ticket },
      );
      shown += 1;
    }
    if (shown === 0) printNone('uses');
  }

  private async *newestFirst(): AsyncIterable<RecordedEvent<OperatorUseEvent>> {
    const stream = `${operatorUses.category}-${USES}`;
    let from: number | undefined;
    do {
      const page = { direction: 'backwards', limit: READ_TOGETHER, ...(from !== undefined && { from }) } as const;
      const events = (await this.events.readStream(stream, page)) as RecordedEvent<OperatorUseEvent>[];
      yield* events;
      from = (events.at(-1)?.revision ?? 0) - 1;
    } while (from >= 0);
  }
}

function timeOf({ metadata }: RecordedEvent): Date {
  return new Date(machineTimeOf(metadata));
}

function isWanted(use: RecordedEvent<OperatorUseEvent>, { to, by, subject }: UsesValues): boolean {
  const id = use.data.subject?.id;
  return (
    (to === undefined || timeOf(use) < to) &&
    (by === undefined || use.metadata.actor.id === by) &&
    // The streams of a session end with the id of the session.
    (subject === undefined || id === subject || id?.endsWith(`-${subject}`) === true)
  );
}

@Command({
  name: 'operators',
  description: 'Operators, and their uses of tools on cases and persons',
  subCommands: [OperatorUsesCommand],
})
export class OperatorsCommand extends CommandGroup {}
