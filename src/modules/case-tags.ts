// Finds the screening to which an event belongs, and the salt of the screening's person.
import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { SystemClock } from '../kernel/clock.js';
import { categoryOf, idOf, type RecordedEvent } from '../kernel/domain-event.js';
import { newId, newSalt } from '../kernel/ids.js';
import { AggregateStore } from '../platform/aggregates/aggregate-store.js';
import { NO_CASE, type TagOf } from '../ports/case-tags.js';
import type { EventStore } from '../ports/event-store.js';
import { incomeReportView } from './income/domain/income-report-view.js';
import { incomeSession } from './income/domain/income-session.js';
import { payment } from './payments/domain/payment.js';
import { report } from './reports/domain/report.js';
import { reportLooks, reportView } from './reports/domain/report-view.js';
import { share } from './reports/domain/share.js';
import { shareRegister } from './reports/domain/share-register.js';
import { saltOf, screenedPerson, type PersonEvent } from './screening/domain/screened-person.js';
import { screeningSession } from './screening/domain/screening-session.js';
import type { SessionEvent } from './screening/domain/session.js';

/** Categories whose streams have the id of their screening. */
const OF_SCREENINGS: ReadonlySet<string> = new Set(
  [screeningSession, report, reportLooks, shareRegister].map(({ category }) => category),
);
/** Categories whose streams name their screening, or the income session of their screening, in their first event. */
const NAMING_SCREENINGS: ReadonlySet<string> = new Set(
  [payment, reportView, share, incomeSession, incomeReportView].map(({ category }) => category),
);
/** Most events belong to cases that are younger than an hour. */
const REMEMBERED = 10_000;

interface Named {
  readonly sessionId?: string;
  readonly screeningSessionId?: string | null;
  readonly incomeSessionId?: string;
}

interface Case {
  /** The position of the screening's first event. An earlier event of another stream has no case, because its case did not exist yet. */
  readonly since: string;
  readonly tag: Buffer;
}

export function caseTagsOf(store: EventStore, { records }: { readonly records: boolean }): TagOf {
  const cases = new LRUCache<string, Case>({ max: REMEMBERED });
  const screenings = new LRUCache<string, { readonly id: string | null }>({ max: REMEMBERED });
  const salts = records ? savedSalts(store) : null;

  const screeningOf = async (event: RecordedEvent): Promise<string | null> => {
    const { stream } = event;
    const category = categoryOf(stream);
    if (OF_SCREENINGS.has(category)) return idOf(stream);
    if (!NAMING_SCREENINGS.has(category)) return null;
    const known = screenings.get(stream);
    if (known !== undefined) return known.id;
    const first = event.revision === 0 ? event : (await store.readStream(stream, { limit: 1 }))[0];
    const { sessionId, screeningSessionId, incomeSessionId } = (first?.data ?? {}) as Named;
    const [opened] = incomeSessionId
      ? await store.readStream(`${incomeSession.category}-${incomeSessionId}`, { limit: 1 })
      : [];
    const id = sessionId ?? screeningSessionId ?? (opened && (await screeningOf(opened))) ?? null;
    screenings.set(stream, { id });
    return id;
  };

  const caseOf = async (id: string): Promise<Case | null> => {
    const [submitted] = await store.readStream(`${screeningSession.category}-${id}`, { limit: 1 });
    if (submitted === undefined) return null;
    const { personId } = (submitted as RecordedEvent & Extract<SessionEvent, { type: 'ScreeningSubmitted' }>).data;
    const events = (await store.readStream(`${screenedPerson.category}-${personId}`)) as (RecordedEvent &
      PersonEvent)[];
    const salt = saltOf(events) ?? (await salts?.(personId, submitted)) ?? null;
    if (salt === null) return null;
    return {
      since: submitted.position,
      tag: hash('sha256', Buffer.concat([Buffer.from(salt, 'base64'), Buffer.from(id)]), 'buffer'),
    };
  };

  return async (event) => {
    const id = await screeningOf(event);
    if (id === null) return NO_CASE;
    const found = cases.get(id) ?? (await caseOf(id));
    // An unknown screening may still be opened, so its absence is not remembered.
    if (found === null) return NO_CASE;
    cases.set(id, found);
    return event.position >= found.since ? found.tag : NO_CASE;
  };
}

/** Stores a salt for a person whose screenings are older than the salts. */
function savedSalts(store: EventStore): (personId: string, submitted: RecordedEvent) => Promise<string | null> {
  const aggregates = new AggregateStore(store, { applyNow: async () => undefined }, new SystemClock(), {
    appendConflict: () => undefined,
  });
  return async (personId, { metadata: { accountId, environment } }) => {
    const correlationId = newId();
    const by = { actor: { kind: 'system', id: 'sealer' }, correlationId, causationId: correlationId } as const;
    const command = { kind: 'store-salt', salt: newSalt() } as const;
    const { state } = await aggregates.execute(screenedPerson, personId, command, { ...by, accountId, environment });
    return state.salt;
  };
}
