import { userInfo } from 'node:os';
import { CommandBus } from '@nestjs/cqrs';
import { Command, CommandRunner, SubCommand } from 'nest-commander';
import { newId } from '../kernel/ids.js';
import { ErasePerson } from '../modules/screening/application/erase-person.js';
import { print } from './terminal.js';

@SubCommand({ name: 'erase', arguments: '<session>', description: 'Destroys the data key of the person behind a screening session, for good; the events stay' })
export class PersonErase extends CommandRunner {
  constructor(private readonly commands: CommandBus) {
    super();
  }

  override async run([sessionId = '']: string[]): Promise<void> {
    const { subjectId } = await this.commands.execute(new ErasePerson(sessionId, { kind: 'operator', id: userInfo().username }, newId()));
    print(`Erased: nothing kept under subject ${subjectId} can be read any more.`);
  }
}

@Command({ name: 'person', description: 'Personal data kept in the vault', subCommands: [PersonErase] })
export class Person extends CommandRunner {
  override run(): Promise<void> {
    this.command.help();
  }
}
