// ops cases find
import { Command, Option, SubCommand } from 'nest-commander';
import { isId } from '../kernel/ids.js';
import { BLOCK_REASONS, type BlockReason } from '../modules/screening/domain/session.js';
import type { ScreeningFilter } from '../modules/screening/read/screening-lists.js';
import type { ScreeningStatus } from '../modules/screening/read/screening-status.js';
import type { Cursor, View } from '../ports/read-models.js';
import { type CaseFilter, CaseSearch } from './case-search.js';
import { CommandGroup } from './command-group.js';
import { type ListingValues, listPart, tellNext } from './listing.js';
import { idIn, lineIn, oneOf, ticketIn, WrongInput } from './operator.js';
import { OperatorRecord, PURPOSE, type PurposeValues } from './operator-record.js';
import { printNone, printRow } from './output.js';
import { personDetails } from './person-input.js';
import { ScreeningListing } from './screening-listing.js';

interface FindValues extends ListingValues, PurposeValues, Pick<ScreeningFilter, 'status' | 'overallStatus'> {
  readonly reason?: BlockReason;
  readonly externalId?: string;
  readonly partyId?: string;
  readonly samePersonAs?: string;
  /** A file, or true for the prompt. */
  readonly person?: string | true;
}

/** The options that name a person. Only one of them is given, and the log does not record its value. */
const NAMING = ['person', 'samePersonAs', 'partyId', 'externalId'] as const;

@SubCommand({
  name: 'find',
  description: 'Find screenings by their facts, by a person or by an id of the integrator, the newest first',
})
export class FindCasesCommand extends ScreeningListing {
  constructor(
    private readonly search: CaseSearch,
    private readonly record: OperatorRecord,
  ) {
    super();
  }

  @Option({ flags: '--reason <code>', description: `of a block: ${BLOCK_REASONS.join(', ')}` })
  readReason(text: string): BlockReason {
    return oneOf(text, BLOCK_REASONS, '--reason');
  }

  @Option({
    flags: '--party-id <id>',
    description: "the account's own id of a renter, agent or organization, with --account",
  })
  readPartyId(text: string): string {
    return text;
  }

  @Option({
    flags: '--same-person-as <session>',
    description: 'the screenings of the person of this one, in its account',
  })
  readSamePersonAs(text: string): string {
    return idIn(text, 'session');
  }

  @Option({
    flags: '--person [file]',
    description:
      'asks for the details of a person without showing them, or reads them from a JSON file; - for standard input',
  })
  readPerson(text: string): string {
    return text;
  }

  @Option(PURPOSE)
  readPurpose(text: string): string {
    return lineIn(text, '--purpose');
  }

  @Option({ flags: '--ticket <id>', description: 'the ticket that asked for this, recorded in the log' })
  readTicket(text: string): string {
    return ticketIn(text);
  }

  override async run(_: string[], values: FindValues = {}): Promise<void> {
    this.record.purposeIn(values);
    const naming = NAMING.filter((name) => values[name] !== undefined);
    if (naming.length > 1) throw new WrongInput(`Give only one of ${naming.map(flagOf).join(' and ')}.`);
    if (values.account === undefined && (values.externalId ?? values.partyId) !== undefined)
      throw new WrongInput(`Give --account with ${naming.map(flagOf).join()}.`);
    const { items, next } = await this.found(values);
    await this.record.look({ tool: 'cases find', subject: subjectOf(values), options: optionsIn(values) }, values);
    for (const item of items) printRow(shown(item), shown(item));
    if (items.length === 0) printNone('cases');
    tellNext(next);
  }

  private async found(
    values: FindValues,
  ): Promise<{ readonly items: readonly View<ScreeningStatus>[]; readonly next: Cursor | null }> {
    const filter = filterIn(values);
    const part = listPart(values);
    const named = await this.named(values, filter);
    if (named === null) return this.search.listed(filter, part);
    const within = named.filter(
      ({ doc: { createdAt } }) =>
        (part.from === null || createdAt >= part.from) && (part.to === null || createdAt < part.to),
    );
    return { items: within, next: null };
  }

  /** The screenings of one person or party; null if the operator named none. */
  private async named(
    { samePersonAs, partyId, person }: FindValues,
    filter: CaseFilter,
  ): Promise<readonly View<ScreeningStatus>[] | null> {
    if (person !== undefined) return this.search.ofPerson(await personDetails(person === true ? null : person), filter);
    if (partyId !== undefined && filter.account !== undefined) return this.search.ofParty(partyId, filter);
    if (samePersonAs === undefined) return null;
    const found = isId(samePersonAs) ? await this.search.ofSamePerson(samePersonAs, filter) : null;
    if (found === null) throw new WrongInput(`There is no screening session ${samePersonAs}.`);
    return found;
  }
}

function filterIn({ account, environment, status, overallStatus, reason, externalId }: FindValues): CaseFilter {
  if (reason !== undefined && (status ?? 'BLOCKED') !== 'BLOCKED')
    throw new WrongInput('--reason goes with --status BLOCKED.');
  const common = { environment, status: reason === undefined ? status : ('BLOCKED' as const), overallStatus, reason };
  return account === undefined ? common : { ...common, account, externalId };
}

function subjectOf({ account, samePersonAs }: FindValues): Parameters<OperatorRecord['look']>[0]['subject'] {
  if (samePersonAs !== undefined) return { kind: 'screening', id: samePersonAs };
  return account === undefined ? null : { kind: 'account', id: account };
}

/** The options of the search. An id of the integrator and the details of a person may be personal, so they have no values. */
function optionsIn(values: FindValues): string[] {
  const { environment, status, overallStatus, reason, from, to } = values;
  const facts = { environment, status, overallStatus, reason, from: from?.toISOString(), to: to?.toISOString() };
  return [
    ...Object.entries(facts).flatMap(([name, value]) => (value === undefined ? [] : [`${flagOf(name)} ${value}`])),
    ...NAMING.filter((name) => values[name] !== undefined).map(flagOf),
  ];
}

/** `--same-person-as` of `samePersonAs`. */
function flagOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

function shown({ id, doc }: View<ScreeningStatus>) {
  const { accountId, environment, session, overallStatus, createdAt } = doc;
  const { status } = session;
  return {
    session: id,
    accountId,
    environment,
    status,
    overallStatus,
    reason: 'reasonCode' in session ? session.reasonCode : null,
    createdAt,
  };
}

@Command({ name: 'cases', description: 'Screenings as cases of an investigation', subCommands: [FindCasesCommand] })
export class CasesCommand extends CommandGroup {}
