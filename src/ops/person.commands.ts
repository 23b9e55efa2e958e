// ops person erase | erase-income
import { CommandBus } from '@nestjs/cqrs';
import { Command, SubCommand } from 'nest-commander';
import { EraseIncomePerson } from '../modules/income/application/erase-income-person.js';
import { ErasePerson } from '../modules/screening/application/erase-person.js';
import { CommandGroup } from './command-group.js';
import { operatorContext, print } from './operator.js';
import { OperatorCommand } from './operator-command.js';

@SubCommand({
  name: 'erase',
  arguments: '<session>',
  description: 'Destroy the data key of the person behind a screening session, for good; the events stay',
})
export class ErasePersonCommand extends OperatorCommand {
  constructor(private readonly commands: CommandBus) {
    super();
  }

  override async run([sessionId = '']: string[]): Promise<void> {
    const { actor, correlationId } = operatorContext();
    print({ erasedSubject: (await this.commands.execute(new ErasePerson(sessionId, actor, correlationId))).subjectId });
  }
}

@SubCommand({
  name: 'erase-income',
  arguments: '<session>',
  description: 'The same for an income session that belongs to no screening session',
})
export class EraseIncomePersonCommand extends OperatorCommand {
  constructor(private readonly commands: CommandBus) {
    super();
  }

  override async run([incomeSessionId = '']: string[]): Promise<void> {
    const { actor, correlationId } = operatorContext();
    print({
      erasedSubject: (await this.commands.execute(new EraseIncomePerson(incomeSessionId, actor, correlationId)))
        .subjectId,
    });
  }
}

@Command({
  name: 'person',
  description: 'Personal data in the vault',
  subCommands: [ErasePersonCommand, EraseIncomePersonCommand],
})
export class PersonCommand extends CommandGroup {}
