// ops hold place | release | list: legal holds.
import { CommandBus } from '@nestjs/cqrs';
import { Command, Option, SubCommand } from 'nest-commander';
import { Clock } from '../kernel/clock.js';
import { DomainError } from '../kernel/domain-error.js';
import { HOLD_KINDS, type HoldKind } from '../kernel/held-data.js';
import { DoDeferredErasures } from '../modules/holds/application/do-deferred-erasures.js';
import { PlaceHold } from '../modules/holds/application/place-hold.js';
import { ReleaseHold } from '../modules/holds/application/release-hold.js';
import { accountHolds, stands } from '../modules/holds/domain/account-holds.js';
import { heldAccounts } from '../modules/holds/read/held-accounts.js';
import { GroupedStream } from '../platform/aggregates/grouped-stream.js';
import { Accounts } from '../published/accounts.js';
import { CommandGroup } from './command-group.js';
import { Consent, ConsentedCommand, type ConsentValues } from './consent.js';
import { ApprovedCommand, type ApprovalValues, OperatorApprovals } from './operator-approvals.js';
import { idIn, lineIn, timeIn, WrongInput } from './operator.js';
import { OperatorCommand } from './operator-command.js';
import { OperatorLists } from './operator-lists.js';
import { print, printNone, printRow } from './output.js';

type PlaceValues = ConsentValues &
  Partial<Record<HoldKind, string>> & { readonly matter?: string; readonly by?: string; readonly until?: string };

@SubCommand({
  name: 'place',
  description:
    'Place a legal hold, which keeps the data of a session, a person or an account from erasure and disposal',
})
export class PlaceHoldCommand extends ConsentedCommand {
  constructor(
    private readonly commands: CommandBus,
    private readonly accounts: Accounts,
    private readonly consent: Consent,
  ) {
    super();
  }

  @Option({ flags: '--session <id>', description: 'a screening session, or an income session' })
  readSession(text: string): string {
    return idIn(text, 'session');
  }

  @Option({ flags: '--person <session>', description: 'the person behind this session, with all sessions' })
  readPerson(text: string): string {
    return idIn(text, 'session');
  }

  @Option({ flags: '--account <id>', description: 'all data of an account' })
  readAccount(text: string): string {
    return idIn(text, 'account');
  }

  @Option({ flags: '--matter <text>', description: 'the case of the hold, such as its file number' })
  readMatter(text: string): string {
    return lineIn(text, '--matter');
  }

  @Option({ flags: '--by <name>', description: 'who has ordered the hold' })
  readBy(text: string): string {
    return lineIn(text, '--by');
  }

  @Option({
    flags: '--until <time>',
    description: 'the end of the hold; without it, the hold stands until its release',
  })
  readUntil(text: string): string {
    return timeIn(text, '--until').toISOString();
  }

  override async run(_: string[], values: PlaceValues = {}): Promise<void> {
    const { matter, by, until = null } = values;
    const named = HOLD_KINDS.flatMap((kind) => (values[kind] === undefined ? [] : [{ kind, id: values[kind] }]));
    const [one, other] = named;
    if (one === undefined || other !== undefined)
      throw new WrongInput('Give one of --session <id>, --person <session> and --account <id>.');
    if (matter === undefined || by === undefined) throw new WrongInput('A hold needs --matter <text> and --by <name>.');
    const context = await this.consent.given(values, `place a legal hold on the ${one.kind} ${one.id}`);
    if (one.kind === 'account' && (await this.accounts.find(one.id)) === null)
      throw new DomainError('request.not_found', { field: 'account' });
    print(await this.commands.execute(new PlaceHold({ ...one, matter, orderedBy: by, until }, context)));
  }
}

@SubCommand({
  name: 'release',
  arguments: '<account> <hold>',
  description: 'End a legal hold, and do the erasures that it has deferred',
})
export class ReleaseHoldCommand extends ApprovedCommand {
  constructor(
    private readonly commands: CommandBus,
    private readonly streams: GroupedStream,
    private readonly consent: Consent,
    private readonly approvals: OperatorApprovals,
  ) {
    super();
  }

  override async run([account, hold]: string[], values: ApprovalValues = {}): Promise<void> {
    const accountId = idIn(account, 'account');
    const holdId = idIn(hold, 'hold');
    const context = await this.consent.given(
      values,
      `end the legal hold ${holdId}, and do the erasures it has deferred`,
    );
    const { holds } = (await this.streams.load(accountHolds, accountId)).state;
    // A repeated release only does the erasures that are left.
    if (holds.some(({ holdId: id, releasedAt }) => id === holdId && releasedAt === null))
      await this.approvals.use({ act: 'hold release', subject: holdId }, values, context);
    await this.commands.execute(new ReleaseHold({ accountId, holdId }, context));
    const { done, deferred } = await this.commands.execute(new DoDeferredErasures(accountId, context));
    print({ released: holdId, erasuresDone: done, erasuresDeferred: deferred });
  }
}

@SubCommand({
  name: 'list',
  arguments: '[account]',
  description: 'List the legal holds, and the erasures that they defer',
})
export class ListHoldsCommand extends OperatorCommand {
  constructor(
    private readonly lists: OperatorLists,
    private readonly streams: GroupedStream,
    private readonly clock: Clock,
  ) {
    super();
  }

  override async run([account]: string[]): Promise<void> {
    const accountIds = account === undefined ? await this.lists.idsIn(heldAccounts, 'all') : [idIn(account, 'account')];
    const now = this.clock.now();
    let none = true;
    for (const accountId of accountIds) {
      const { holds, deferred } = (await this.streams.load(accountHolds, accountId)).state;
      for (const hold of holds) {
        none = false;
        const { covers, ...told } = hold;
        const state = stands(hold, now) ? 'stands' : hold.releasedAt === null ? 'over' : 'released';
        const erasures = deferred.filter(({ holdIds }) => holdIds.includes(hold.holdId));
        printRow(
          { accountId, ...told, covers, state, deferredErasures: erasures.map(({ kind, id }) => ({ kind, id })) },
          { ...told, covers: `${covers.kind} ${covers.id}`, state, deferredErasures: erasures.length },
        );
      }
    }
    if (none) printNone('holds');
  }
}

@Command({
  name: 'hold',
  description: 'Legal holds, which keep data from erasure and disposal',
  subCommands: [PlaceHoldCommand, ReleaseHoldCommand, ListHoldsCommand],
})
export class HoldCommand extends CommandGroup {}
