// Records the erasures that the vault has and the log lacks, with the same events as `ops person`.
import { SystemClock } from '../kernel/clock.js';
import type { ActionContext } from '../kernel/context.js';
import { idOf, type RecordedEvent } from '../kernel/domain-event.js';
import { sessionGrant, type SessionGrantEvent } from './accounts/domain/session-grant.js';
import { incomeSession } from './income/domain/income-session.js';
import type { IncomeEvent } from './income/domain/income.js';
import type { PartyEvent } from './parties/domain/party.js';
import { party } from './parties/domain/party-decider.js';
import { screenedPerson, type PersonEvent } from './screening/domain/screened-person.js';
import { screeningSession } from './screening/domain/screening-session.js';
import { AggregateStore } from '../platform/aggregates/aggregate-store.js';
import type { EventStore } from '../ports/event-store.js';

const PAGE = 1_000;

type By = Pick<ActionContext, 'actor' | 'correlationId' | 'causationId'>;

/** Without these events the log would say that an erased person's data still exists, and the person could never be screened again. Safe to repeat. */
export async function recordErasures(store: EventStore, isErased: (subject: string) => boolean, by: By): Promise<void> {
  const aggregates = new AggregateStore(store, { applyNow: async () => undefined }, new SystemClock(), {
    appendConflict: () => undefined,
  });
  const last = await store.head();
  for (let after: string | null = null; last !== null && (after === null || after < last);) {
    const page: RecordedEvent[] = await store.readAll(after, PAGE);
    for (const event of page) await recordErasureOf(event as OpeningEvent, isErased, aggregates, by);
    after = page.at(-1)?.position ?? last;
  }
}

type OpeningEvent = RecordedEvent &
  (
    | Extract<PersonEvent, { type: 'ScreeningOpened' }>
    | Extract<IncomeEvent, { type: 'IncomeSessionOpened' }>
    | Extract<SessionGrantEvent, { type: 'GrantMinted' }>
    | Extract<PartyEvent, { type: 'VendorTokenStored' }>
  );

async function recordErasureOf(
  event: OpeningEvent,
  isErased: (subject: string) => boolean,
  aggregates: AggregateStore,
  by: By,
): Promise<void> {
  const { accountId, environment } = event.metadata;
  const context = { ...by, accountId, environment };
  const id = idOf(event.stream);
  switch (event.type) {
    case 'ScreeningOpened': {
      const { subjectId } = event.data;
      if (!isErased(subjectId)) return;
      const { state } = await aggregates.execute(screenedPerson, id, { kind: 'record-erasure', subjectId }, context);
      for (const sessionId of state.sessionIds)
        await aggregates.execute(screeningSession, sessionId, { kind: 'end-erased', subjectId }, context);
      return;
    }
    case 'IncomeSessionOpened':
      if (event.data.screeningSessionId === null && isErased(event.data.subjectId))
        await aggregates.execute(incomeSession, id, { kind: 'record-erasure' }, context);
      return;
    case 'GrantMinted':
      if (event.data.detailsSubject && isErased(event.data.detailsSubject))
        await aggregates.execute(sessionGrant, id, { kind: 'record-erased' }, context);
      return;
    case 'VendorTokenStored': {
      const { subjectId } = event.data;
      if (isErased(subjectId))
        await aggregates.execute(party, id, { kind: 'record-token-erasure', subjectId }, context);
      return;
    }
    default:
      // The log also has other events, which record no erasure of the vault.
      event satisfies never;
  }
}
