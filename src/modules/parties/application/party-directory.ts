import { Injectable } from '@nestjs/common';
import { lockAt, latest } from '../../../challenges/domain/answer-limit.js';
import { Clock } from '../../../kernel/clock.js';
import type { CallerContext } from '../../../kernel/context.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Parties, type PartyFacts, type PartyKind } from '../../../published/parties.js';
import { Screenings, type ScreeningFacts } from '../../../published/screenings.js';
import { confirmedSince, type PartyState } from '../domain/party.js';
import { party } from '../domain/party-decider.js';
import { PartyIds } from './party-ids.js';
import { PartyPolicy } from './party-policy.js';
import { PartyReferences } from './party-references.js';

/** Parties for the other modules. The directory reads parties from the log, so that no module decides on an outdated state. */
@Injectable()
export class PartyDirectory extends Parties {
  constructor(
    private readonly ids: PartyIds,
    private readonly aggregates: AggregateStore,
    private readonly screenings: Screenings,
    private readonly references: PartyReferences,
    private readonly policy: PartyPolicy,
    private readonly clock: Clock,
  ) {
    super();
  }

  override async find(kind: PartyKind, id: string, context: CallerContext): Promise<PartyFacts | null> {
    const partyId = await this.ids.of(kind, id, context);
    if (partyId === null) return null;
    const { state } = await this.aggregates.load(party, partyId);
    if (state.kind === null) return null;
    const now = await this.clock.of(context);
    const newest = await this.openedSession(state);
    const sessionIds = state.registrations.map(({ sessionId }) => sessionId);
    return {
      partyId,
      kind,
      sessionIds: newest === null ? [] : sessionIds.slice(0, sessionIds.indexOf(newest.sessionId) + 1),
      authenticated: await this.isConfirmed(partyId, state, newest, now),
      lockedUntil: lockOf(state, newest, now),
    };
  }

  /** Whether the party's identity is confirmed at that time, and the person has not been erased since. */
  async isConfirmed(partyId: string, state: PartyState, newest: ScreeningFacts | null, now: Date): Promise<boolean> {
    const { reauthValiditySeconds } = this.policy.limits;
    if (confirmedSince(state, newest?.verifiedAt ?? null, now, reauthValiditySeconds) === null) return false;
    const { reauthenticatedAs } = state;
    const person =
      reauthenticatedAs ??
      (newest && { sessionId: newest.sessionId, subjectId: newest.subjectId, vendor: newest.vendors.identity });
    return person !== null && (await this.references.tokenOf(partyId, person)) !== null;
  }

  /** The session of the newest registration that has a session. A newer registration has none when its process died too early. */
  private async openedSession({ registrations }: PartyState): Promise<ScreeningFacts | null> {
    for (const { sessionId } of registrations.toReversed()) {
      const session = await this.screenings.find(sessionId);
      if (session !== null) return session;
    }
    return null;
  }

  /** Null if the party has no registration, or if the newest registration was given up before its session was opened. */
  async newestSession({ registrations }: PartyState): Promise<ScreeningFacts | null> {
    const newest = registrations.at(-1);
    return newest === undefined ? null : this.screenings.find(newest.sessionId);
  }
}

/** The end of the party's lock after wrong answers to its registration or a re-authentication; null if it is not locked. */
export function lockOf(state: PartyState, newest: ScreeningFacts | null, now: Date): string | null {
  return latest([lockAt(state, now), lockAt({ lockedUntil: newest?.block?.until ?? null }, now)]);
}
