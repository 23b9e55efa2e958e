// ops person erase
import { CommandBus } from '@nestjs/cqrs';
import { Command, CommandRunner, SubCommand } from 'nest-commander';
import { ErasePerson } from '../modules/screening/application/erase-person.js';
import { CommandGroup } from './command-group.js';
import { operatorContext, print } from './operator.js';

@SubCommand({ name: 'erase', arguments: '<session>', description: 'Destroy the data key of the person behind a screening session, for good; the events stay' })
export class ErasePersonCommand extends CommandRunner {
  constructor(private readonly commands: CommandBus) {
    super();
  }

  override async run([sessionId = '']: string[]): Promise<void> {
    const { actor, correlationId } = operatorContext();
    print({ erasedSubject: (await this.commands.execute(new ErasePerson(sessionId, actor, correlationId))).subjectId });
  }
}

@Command({ name: 'person', description: 'Personal data in the vault', subCommands: [ErasePersonCommand] })
export class PersonCommand extends CommandGroup {}
