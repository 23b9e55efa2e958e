// Finds the screenings of a person or of a party, by the names under which the log knows them, and screenings by their facts.
import { Injectable } from '@nestjs/common';
import type { Applicant } from '../kernel/applicant.js';
import { ENVIRONMENTS, type Environment } from '../kernel/environment.js';
import { accountProjection, accountsList } from '../modules/accounts/read/accounts.js';
import { PartyIds } from '../modules/parties/application/party-ids.js';
import type { PartyEvent, PartyKind } from '../modules/parties/domain/party.js';
import { party } from '../modules/parties/domain/party-decider.js';
import { namesOf } from '../modules/screening/application/person-names.js';
import { screenedPerson, type PersonEvent } from '../modules/screening/domain/screened-person.js';
import { screeningSession } from '../modules/screening/domain/screening-session.js';
import type { BlockReason, SessionEvent } from '../modules/screening/domain/session.js';
import { type ScreeningFilter, ScreeningLists } from '../modules/screening/read/screening-lists.js';
import { screeningStatus, type ScreeningStatus } from '../modules/screening/read/screening-status.js';
import type { ListPart } from '../ports/list-part.js';
import { type Cursor, ReadModels, type View } from '../ports/read-models.js';
import { EventStore } from '../ports/event-store.js';
import { Vault } from '../ports/vault.js';
import { OperatorLists } from './operator-lists.js';
import type { PersonDetails } from './person-input.js';

const PARTY_KINDS: readonly PartyKind[] = ['renter', 'agent', 'organization'];

export type CaseFilter = ScreeningFilter & { readonly reason?: BlockReason | undefined };
type Case = View<ScreeningStatus>;
interface Scope {
  readonly accountId: string;
  readonly environment: Environment;
}

@Injectable()
export class CaseSearch {
  private readonly parties: PartyIds;

  constructor(
    private readonly events: EventStore,
    private readonly vault: Vault,
    private readonly readModels: ReadModels,
    private readonly lists: OperatorLists,
    private readonly screenings: ScreeningLists,
  ) {
    this.parties = new PartyIds(vault);
  }

  /** A page of the lists, the newest first. No list has the reasons of blocks, so a page with a reason reads as many pages as it needs. */
  async listed(
    filter: CaseFilter,
    part: ListPart,
  ): Promise<{ readonly items: readonly Case[]; readonly next: Cursor | null }> {
    const items: Case[] = [];
    let after = part.after;
    do {
      const page = await this.lists.complete(screeningStatus, () => this.screenings.page(filter, { ...part, after }));
      items.push(...page.items.filter((view) => hasReason(view, filter.reason)));
      after = page.next;
    } while (after !== null && items.length < part.limit);
    return { items, next: after };
  }

  /** All screenings of a person in these accounts, or in all of them. Other spellings of the name do not matter. */
  async ofPerson(details: PersonDetails, filter: CaseFilter): Promise<readonly Case[]> {
    const key = await this.vault.installationKey('person');
    const applicant = details as Applicant;
    const ids = (await this.scopes(filter)).flatMap((scope) => {
      const { personId, countedAs } = namesOf(key, applicant, scope);
      return [personId, ...countedAs];
    });
    return this.cases(await this.sessionsOf(ids), filter);
  }

  /** All screenings of the person of a screening, within its account. Null if the screening does not exist. */
  async ofSamePerson(sessionId: string, filter: CaseFilter): Promise<readonly Case[] | null> {
    const [submitted] = await this.events.readStream(`${screeningSession.category}-${sessionId}`, { limit: 1 });
    if (submitted === undefined) return null;
    const { data } = submitted as typeof submitted & Extract<SessionEvent, { type: 'ScreeningSubmitted' }>;
    return this.cases(await this.sessionsOf([data.personId, ...(data.countedAs ?? [])]), filter);
  }

  /** All registrations of a renter, agent or organization, by the integrator's id. */
  async ofParty(id: string, filter: CaseFilter & { readonly account: string }): Promise<readonly Case[]> {
    const found = new Set<string>();
    for (const scope of await this.scopes(filter))
      for (const kind of PARTY_KINDS) {
        const partyId = await this.parties.of(kind, id, scope);
        const events = partyId === null ? [] : await this.events.readStream(`${party.category}-${partyId}`);
        for (const event of events as unknown as readonly PartyEvent[])
          if (event.type === 'PartyRegistered') found.add(event.data.sessionId);
      }
    return this.cases(found, filter);
  }

  private async scopes({ account, environment }: CaseFilter): Promise<readonly Scope[]> {
    const accounts = account === undefined ? await this.lists.idsIn(accountProjection, accountsList()) : [account];
    const environments = environment === undefined ? ENVIRONMENTS : [environment];
    return accounts.flatMap((accountId) => environments.map((one) => ({ accountId, environment: one })));
  }

  private async sessionsOf(personIds: readonly string[]): Promise<ReadonlySet<string>> {
    const found = new Set<string>();
    for (const id of new Set(personIds)) {
      const events = await this.events.readStream(`${screenedPerson.category}-${id}`);
      for (const event of events as unknown as readonly PersonEvent[])
        if (event.type === 'ScreeningOpened' || event.type === 'ScreeningCounted') found.add(event.data.sessionId);
    }
    return found;
  }

  /** The screenings that meet the filter, the newest first. A registration that was given up has no screening. */
  private async cases(ids: ReadonlySet<string>, filter: CaseFilter): Promise<readonly Case[]> {
    const views = await Promise.all([...ids].map((id) => this.readModels.get(screeningStatus, id)));
    return views
      .filter((view): view is Case => view !== null && meets(view, filter))
      .sort((one, other) => (one.doc.createdAt < other.doc.createdAt ? 1 : -1));
  }
}

function meets(view: Case, { account, environment, status, overallStatus, userType, reason }: CaseFilter): boolean {
  const { doc } = view;
  const pairs = [
    [account, doc.accountId],
    [environment, doc.environment],
    [status, doc.session.status],
    [overallStatus, doc.overallStatus],
    [userType, doc.session.userType],
  ];
  return pairs.every(([wanted, own]) => wanted === undefined || wanted === own) && hasReason(view, reason);
}

function hasReason({ doc: { session } }: Case, reason: BlockReason | undefined): boolean {
  return reason === undefined || ('reasonCode' in session && session.reasonCode === reason);
}
