// ops screenings list | show
import { Command, Option, SubCommand } from 'nest-commander';
import { isId } from '../kernel/ids.js';
import { type ScreeningFilter, ScreeningLists, USER_TYPES } from '../modules/screening/read/screening-lists.js';
import { screeningStatus, type ScreeningStatus } from '../modules/screening/read/screening-status.js';
import { ReadModels, type View } from '../ports/read-models.js';
import { CommandGroup } from './command-group.js';
import { type ListingValues, listPart, tellNext } from './listing.js';
import { oneOf, WrongInput } from './operator.js';
import { OperatorLists } from './operator-lists.js';
import { OperatorRecord, PurposedCommand, type PurposeValues } from './operator-record.js';
import { print, printNone, printRow } from './output.js';
import { ScreeningListing } from './screening-listing.js';

type ScreeningsValues = ListingValues & Omit<ScreeningFilter, 'account' | 'environment'>;

@SubCommand({ name: 'list', description: 'List screening sessions, the newest first, of one account or of all' })
export class ListScreeningsCommand extends ScreeningListing {
  constructor(
    private readonly lists: OperatorLists,
    private readonly screenings: ScreeningLists,
  ) {
    super();
  }

  @Option({ flags: '--user-type <type>', description: `${USER_TYPES.join(', ')}, with --account` })
  readUserType(text: string): ScreeningFilter['userType'] {
    return oneOf(text, USER_TYPES, '--user-type');
  }

  override async run(_: string[], values: ScreeningsValues = {}): Promise<void> {
    const { account, environment, status, overallStatus, userType, externalId } = values;
    if (account === undefined && (userType ?? externalId) !== undefined)
      throw new WrongInput(`Give --account with ${userType === undefined ? '--external-id' : '--user-type'}.`);
    const common = { environment, status, overallStatus };
    const filter = account === undefined ? common : { ...common, account, userType, externalId };
    const { items, next, total } = await this.lists.complete(screeningStatus, () =>
      this.screenings.page(filter, listPart(values)),
    );
    for (const view of items) {
      const { session, accountId, environment: of, userType: type, status: state, ...rest } = shown(view);
      const { overallStatus: overall, createdAt } = rest;
      printRow(shown(view), {
        session,
        accountId,
        environment: of,
        userType: type,
        status: state,
        overallStatus: overall,
        createdAt,
      });
    }
    if (items.length === 0) printNone('screenings');
    tellNext(next, total);
  }
}

@SubCommand({ name: 'show', arguments: '<session>', description: 'Show a screening session, without personal data' })
export class ShowScreeningCommand extends PurposedCommand {
  constructor(
    private readonly readModels: ReadModels,
    private readonly record: OperatorRecord,
  ) {
    super();
  }

  override async run([sessionId = '']: string[], values: PurposeValues = {}): Promise<void> {
    this.record.purposeIn(values);
    const view = isId(sessionId) ? await this.readModels.get(screeningStatus, sessionId) : null;
    if (view === null) throw new WrongInput(`There is no screening session ${sessionId}.`);
    await this.record.look({ tool: 'screenings show', subject: { kind: 'screening', id: sessionId } }, values);
    print(shown(view));
  }
}

function shown({ id, revision, doc }: View<ScreeningStatus>) {
  const { accountId, environment, session, paymentStatus, overallStatus, transactionId } = doc;
  const { createdAt, updatedAt, refundedAt, overdueAt } = doc;
  const { userType, status, partyId } = session;
  return {
    session: id,
    accountId,
    environment,
    userType,
    status,
    ...('reasonCode' in session && { reasonCode: session.reasonCode, blockedUntil: session.blockedUntil }),
    ...('stepUp' in session && { attemptsRemaining: session.stepUp.attemptsRemaining, overdueAt }),
    paymentStatus,
    overallStatus,
    transactionId,
    ...(partyId !== undefined && { partyId }),
    createdAt,
    updatedAt,
    refundedAt,
    revision,
  };
}

@Command({
  name: 'screenings',
  description: 'Screening sessions',
  subCommands: [ListScreeningsCommand, ShowScreeningCommand],
})
export class ScreeningsCommand extends CommandGroup {}
