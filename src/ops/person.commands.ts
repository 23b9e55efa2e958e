// ops person erase | erase-income | erase-party | unblock
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { Command, SubCommand } from 'nest-commander';
import type { ActionContext } from '../kernel/context.js';
import { ENVIRONMENTS } from '../kernel/environment.js';
import { EraseIncomePerson } from '../modules/income/application/erase-income-person.js';
import { EraseVendorToken } from '../modules/parties/application/erase-vendor-token.js';
import { UnblockParty } from '../modules/parties/application/unblock-party.js';
import { ErasePerson } from '../modules/screening/application/erase-person.js';
import { FindPartiesBehind } from '../modules/screening/application/find-parties-behind.js';
import { UnblockPerson } from '../modules/screening/application/unblock-person.js';
import { LogRefused } from '../ports/event-store.js';
import { CommandGroup } from './command-group.js';
import { Consent, ConsentedCommand, type ConsentValues } from './consent.js';
import { idIn, oneOf, WrongInput } from './operator.js';
import { print } from './output.js';

/** `subject`: the subject whose key is destroyed; null when the session has none. */
interface Erased {
  readonly subjectId: string | null;
}

const KINDS = ['renter', 'agent', 'organization'] as const;

@SubCommand({
  name: 'erase',
  arguments: '<session>',
  description: 'Destroy the data key of the person behind a screening session for good; the events stay',
})
export class ErasePersonCommand extends ConsentedCommand {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly consent: Consent,
  ) {
    super();
  }

  override async run([sessionId = '']: string[], values: ConsentValues = {}): Promise<void> {
    const context = await this.consent.given(values, `erase the person behind the session ${sessionId} for good`);
    await printErasure(this.erase(sessionId, context));
  }

  /** Erases the tokens of the person's parties first, because the recorded erasure of the person must be the last step. */
  private async erase(sessionId: string, context: ActionContext): Promise<Erased> {
    const { partyIds, subjectId } = await this.queries.execute(new FindPartiesBehind(sessionId));
    const person = subjectId === null ? {} : { person: subjectId };
    const tokens = await Promise.allSettled(
      partyIds.map((partyId) => this.commands.execute(new EraseVendorToken({ partyId, context, ...person }))),
    );
    const erased = await this.commands.execute(new ErasePerson(sessionId, context));
    for (const token of tokens) if (token.status === 'rejected') throw token.reason;
    return erased;
  }
}

@SubCommand({
  name: 'erase-income',
  arguments: '<session>',
  description: 'Do the same for an income session that belongs to no screening session',
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

@SubCommand({
  name: 'erase-party',
  arguments: '<account> <environment> <kind> <id>',
  description:
    'Do the same for the stored token of a renter, agent or organization of the direct API, by the id in its path',
})
export class ErasePartyCommand extends ConsentedCommand {
  constructor(
    private readonly commands: CommandBus,
    private readonly consent: Consent,
  ) {
    super();
  }

  override async run(
    [account = '', where = '', what = '', id = '']: string[],
    values: ConsentValues = {},
  ): Promise<void> {
    const accountId = idIn(account, 'account');
    const environment = oneOf(where, ENVIRONMENTS, 'The environment');
    const kind = oneOf(what, KINDS, 'The kind');
    const consented = await this.consent.given(values, `erase the stored token of that ${kind} for good`);
    const context = { ...consented, accountId, environment };
    await printErasure(this.commands.execute(new EraseVendorToken({ named: { kind, id }, context })));
  }
}

/** A key is destroyed even if the log accepts no writes, because the person must not have to wait for the log. */
async function printErasure(erasure: Promise<Erased>): Promise<void> {
  try {
    print({ erasedSubject: (await erasure).subjectId });
  } catch (error) {
    if (!(error instanceof LogRefused)) throw error;
    throw new WrongInput(
      `The data key is destroyed, but the log does not record it yet. ${error.message} Run this command again after that.`,
    );
  }
}

@SubCommand({
  name: 'unblock',
  arguments: '<session>',
  description: 'End the block of the person behind a screening session after wrong answers',
})
export class UnblockPersonCommand extends ConsentedCommand {
  constructor(
    private readonly commands: CommandBus,
    private readonly consent: Consent,
  ) {
    super();
  }

  override async run([sessionId = '']: string[], values: ConsentValues = {}): Promise<void> {
    const context = await this.consent.given(values, `end the block of the person behind the session ${sessionId}`);
    const { changed, partyIds } = await this.commands.execute(new UnblockPerson(sessionId, context));
    let unblocked = changed;
    for (const partyId of partyIds)
      if (await this.commands.execute(new UnblockParty(partyId, context))) unblocked = true;
    print({ session: sessionId, unblocked });
  }
}

@Command({
  name: 'person',
  description: 'Personal data in the vault, and blocks of persons',
  subCommands: [ErasePersonCommand, EraseIncomePersonCommand, ErasePartyCommand, UnblockPersonCommand],
})
export class PersonCommand extends CommandGroup {}
