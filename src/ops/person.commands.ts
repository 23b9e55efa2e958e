// ops person erase | erase-income
import { CommandBus } from '@nestjs/cqrs';
import { Command, SubCommand } from 'nest-commander';
import { EraseIncomePerson } from '../modules/income/application/erase-income-person.js';
import { ErasePerson } from '../modules/screening/application/erase-person.js';
import { LogRefused } from '../ports/event-store.js';
import { CommandGroup } from './command-group.js';
import { Consent, ConsentedCommand, type ConsentValues } from './consent.js';
import { print, WrongInput } from './operator.js';

@SubCommand({
  name: 'erase',
  arguments: '<session>',
  description: 'Destroy the data key of the person behind a screening session, for good; the events stay',
})
export class ErasePersonCommand extends ConsentedCommand {
  constructor(
    private readonly commands: CommandBus,
    private readonly consent: Consent,
  ) {
    super();
  }

  override async run([sessionId = '']: string[], values: ConsentValues = {}): Promise<void> {
    const context = await this.consent.given(values, `erase the person behind the session ${sessionId} for good`);
    await printErasure(this.commands.execute(new ErasePerson(sessionId, context)));
  }
}

@SubCommand({
  name: 'erase-income',
  arguments: '<session>',
  description: 'The same for an income session that belongs to no screening session',
})
export class EraseIncomePersonCommand extends ConsentedCommand {
  constructor(
    private readonly commands: CommandBus,
    private readonly consent: Consent,
  ) {
    super();
  }

  override async run([sessionId = '']: string[], values: ConsentValues = {}): Promise<void> {
    const context = await this.consent.given(values, `erase the person of the income session ${sessionId} for good`);
    await printErasure(this.commands.execute(new EraseIncomePerson(sessionId, context)));
  }
}

/** A key is destroyed also where the log takes no changes: the person does not wait for the log. */
async function printErasure(erasure: Promise<{ readonly subjectId: string }>): Promise<void> {
  try {
    print({ erasedSubject: (await erasure).subjectId });
  } catch (error) {
    if (!(error instanceof LogRefused)) throw error;
    throw new WrongInput(
      `The data key is destroyed, and the log does not say so. ${error.message} Run this command once more then.`,
    );
  }
}

@Command({
  name: 'person',
  description: 'Personal data in the vault',
  subCommands: [ErasePersonCommand, EraseIncomePersonCommand],
})
export class PersonCommand extends CommandGroup {}
