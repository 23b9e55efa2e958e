// ops case export
import { existsSync } from 'node:fs';
import { Command, Option, SubCommand } from 'nest-commander';
import { Clock } from '../kernel/clock.js';
import { CaseExport } from './case-export.js';
import { CommandGroup } from './command-group.js';
import { operatorContext, WrongInput } from './operator.js';
import { OperatorRecord, PurposedCommand, type PurposeValues } from './operator-record.js';
import { print } from './output.js';

interface ExportValues extends PurposeValues {
  readonly to: string;
}

@SubCommand({
  name: 'export',
  arguments: '<screening>',
  description: 'Write the events of a screening with their proofs into a zip that others can check',
})
export class ExportCaseCommand extends PurposedCommand {
  constructor(
    private readonly cases: CaseExport,
    private readonly record: OperatorRecord,
    private readonly clock: Clock,
  ) {
    super();
  }

  @Option({ flags: '--to <file>', description: 'the zip to write; the file must not exist', required: true })
  readTo(text: string): string {
    if (existsSync(text)) throw new WrongInput(`The file ${text} exists already.`);
    return text;
  }

  override async run([screening = '']: string[], { to, ...values }: ExportValues): Promise<void> {
    const purpose = this.record.purposeIn(values);
    if ((await this.cases.eventsOf(screening)).length === 0)
      throw new WrongInput(`There is no screening session ${screening}.`);
    // The export's own event is in the case file.
    await this.record.look({ tool: 'case export', subject: { kind: 'screening', id: screening } }, values);
    const { actor } = operatorContext();
    const exported = await this.cases.write(to, { screening, purpose, actor }, this.clock.now());
    if (!exported.pdf) process.stderr.write('The file has no timeline.pdf, because this machine cannot print pages.\n');
    print({ file: to, screening, ...exported });
  }
}

@Command({ name: 'case', description: 'Case files of screening sessions', subCommands: [ExportCaseCommand] })
export class CaseCommand extends CommandGroup {}
