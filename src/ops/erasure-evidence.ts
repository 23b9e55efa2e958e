// What the log of a restored copy lacks of erasures that came after the backup: the same facts that `ops person` records.
import { UPCASTING } from '../app.module.js';
import { SystemClock } from '../kernel/clock.js';
import type { ActionContext } from '../kernel/context.js';
import type { RecordedEvent } from '../kernel/fact.js';
import { incomeSession } from '../modules/income/domain/income-session.js';
import type { IncomeEvent } from '../modules/income/domain/income.js';
import { screenedPerson, type PersonEvent } from '../modules/screening/domain/screened-person.js';
import { screeningSession } from '../modules/screening/domain/screening-session.js';
import { Handling } from '../platform/handling/handling.js';
import { UpcastingEventStore } from '../platform/upcasting/upcasting-event-store.js';
import type { EventStore } from '../ports/event-store.js';

const PAGE = 1_000;

/** Without it the log would say that an erased person's data is there, and the person could never be screened again. Safe to repeat. */
export async function recordErasures(log: EventStore, erased: ReadonlySet<string>, by: Pick<ActionContext, 'actor' | 'correlationId' | 'causationId'>): Promise<void> {
  if (erased.size === 0) return;
  const store = new UpcastingEventStore(log, UPCASTING);
  const handling = new Handling(store, { applyNow: async () => undefined }, new SystemClock(), { appendConflict: () => undefined });
  const last = await store.head();
  for (let after: string | null = null; last !== null && (after === null || after < last); ) {
    const page: RecordedEvent[] = await store.readAll(after, PAGE);
    for (const event of page) await recordErasureOf(event as OpeningEvent, erased, handling, by);
    after = page.at(-1)?.position ?? last;
  }
}

type OpeningEvent = RecordedEvent<Extract<PersonEvent, { type: 'ScreeningOpened' }> | Extract<IncomeEvent, { type: 'IncomeSessionOpened' }>>;

async function recordErasureOf({ type, data, stream, metadata }: OpeningEvent, erased: ReadonlySet<string>, handling: Handling, by: Pick<ActionContext, 'actor' | 'correlationId' | 'causationId'>): Promise<void> {
  if ((type !== 'ScreeningOpened' && type !== 'IncomeSessionOpened') || !erased.has(data.subjectId)) return;
  const id = stream.slice(stream.indexOf('-') + 1);
  const { subjectId } = data;
  const context = { ...by, accountId: metadata.accountId, environment: metadata.environment };
  if (type === 'ScreeningOpened') {
    const { state } = await handling.handle(screenedPerson, id, { kind: 'record-erasure', subjectId }, context);
    for (const sessionId of state.sessionIds) await handling.handle(screeningSession, sessionId, { kind: 'end-erased', subjectId }, context);
  } else if ('screeningSessionId' in data && data.screeningSessionId === null) {
    await handling.handle(incomeSession, id, { kind: 'record-erasure' }, context);
  }
}
