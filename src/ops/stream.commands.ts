// ops stream show
import { Command, SubCommand } from 'nest-commander';
import { isId } from '../kernel/ids.js';
import { screeningSession } from '../modules/screening/domain/screening-session.js';
import { StoredLog } from '../ports/event-store.js';
import { CommandGroup } from './command-group.js';
import { WrongInput } from './operator.js';
import { print } from './output.js';
import { OperatorRecord, PurposedCommand, type PurposeValues } from './operator-record.js';

@SubCommand({
  name: 'show',
  arguments: '<stream>',
  description: 'Show all stored events of a stream; an id alone names a screening session',
})
export class ShowStreamCommand extends PurposedCommand {
  constructor(
    private readonly store: StoredLog,
    private readonly record: OperatorRecord,
  ) {
    super();
  }

  override async run([name = '']: string[], values: PurposeValues = {}): Promise<void> {
    this.record.purposeIn(values);
    const stream = isId(name) ? `${screeningSession.category}-${name}` : name;
    const events = await this.store.readStream(stream);
    if (events.length === 0) throw new WrongInput(`There is no stream ${stream}.`);
    await this.record.look({ tool: 'stream show', subject: { kind: 'stream', id: stream } }, values);
    for (const event of events) print(event);
  }
}

@Command({ name: 'stream', description: 'Single streams of the log', subCommands: [ShowStreamCommand] })
export class StreamCommand extends CommandGroup {}
