// The events of the log about one screening session, from all streams.
import type { RecordedEvent } from '../kernel/domain-event.js';
import { isId } from '../kernel/ids.js';
import { party } from '../modules/parties/domain/party-decider.js';
import { checkout, checkoutReference, type CheckoutEvent } from '../modules/payments/domain/checkout.js';
import { checkoutPaymentId, payment, paymentId } from '../modules/payments/domain/payment.js';
import { report } from '../modules/reports/domain/report.js';
import { reportLooks } from '../modules/reports/domain/report-view.js';
import { shareRegister } from '../modules/reports/domain/share-register.js';
import { reportShares, sharesOfSession } from '../modules/reports/read/report-shares.js';
import { reportViews, viewsOfSession } from '../modules/reports/read/report-views.js';
import { type PersonEvent, screenedPerson } from '../modules/screening/domain/screened-person.js';
import { screeningSession } from '../modules/screening/domain/screening-session.js';
import type { SessionEvent } from '../modules/screening/domain/session.js';
import type { EventStore } from '../ports/event-store.js';
import type { OperatorLists } from './operator-lists.js';

type Submitted = RecordedEvent & Extract<SessionEvent, { type: 'ScreeningSubmitted' }>;

/** The events of the session, its person, its party and the streams that followed, in log order. Empty when the session is unknown. */
export async function eventsAbout(
  sessionId: string,
  store: EventStore,
  lists: Pick<OperatorLists, 'idsIn'>,
): Promise<RecordedEvent[]> {
  const own = isId(sessionId) ? await store.readStream(`${screeningSession.category}-${sessionId}`) : [];
  const [submitted] = own;
  if (submitted === undefined) return [];
  const about = [
    ...own,
    ...(await ofPerson(sessionId, submitted as Submitted, store)),
    ...(await ofParty(submitted as Submitted, store)),
    ...(await following(sessionId, store, lists)),
  ];
  return about.sort((one, other) => (one.position < other.position ? -1 : 1));
}

/** The person's events that the session or its party's answers caused, and the erasure of the data stored for the session. A salt concerns all sessions. */
async function ofPerson(
  sessionId: string,
  { data: { personId, subjectId, partyId } }: Submitted,
  store: EventStore,
): Promise<RecordedEvent[]> {
  const events = (await store.readStream(`${screenedPerson.category}-${personId}`)) as (RecordedEvent & PersonEvent)[];
  return events.filter(({ data }) =>
    'sessionId' in data
      ? data.sessionId === sessionId || data.sessionId === partyId
      : 'subjectId' in data && data.subjectId === subjectId,
  );
}

/**
 * All events of the session's party, of the party's checkouts and of the payments made there. The party's other registrations explain this
 * registration.
 */
async function ofParty({ data: { partyId } }: Submitted, store: EventStore): Promise<readonly RecordedEvent[]> {
  if (partyId === undefined) return [];
  const read = (category: string, id: string): Promise<RecordedEvent[]> => store.readStream(`${category}-${id}`);
  const checkouts = (await read(checkout.category, partyId)) as (RecordedEvent & CheckoutEvent)[];
  const payments = checkouts.flatMap((event) =>
    event.type === 'CheckoutPaid'
      ? [read(payment.category, checkoutPaymentId(checkoutReference(partyId, event.data.ordinal)))]
      : [],
  );
  return [...(await read(party.category, partyId)), ...checkouts, ...(await Promise.all(payments)).flat()];
}

/** The session's events in other streams. */
async function following(
  sessionId: string,
  store: EventStore,
  lists: Pick<OperatorLists, 'idsIn'>,
): Promise<RecordedEvent[]> {
  const events = [
    ...(await store.readStream(`${report.category}-${sessionId}`)),
    ...(await store.readStream(`${reportLooks.category}-${sessionId}`)),
    ...(await store.readStream(`${shareRegister.category}-${sessionId}`)),
  ];
  for (let ordinal = 0; ; ordinal++) {
    const payments = await store.readStream(`${payment.category}-${paymentId(sessionId, ordinal)}`);
    if (payments.length === 0) break;
    events.push(...payments);
  }
  const listed = [
    [reportViews, viewsOfSession(sessionId)],
    [reportShares, sharesOfSession(sessionId)],
  ] as const;
  for (const [projection, list] of listed) {
    for (const id of await lists.idsIn(projection, list))
      events.push(...(await store.readStream(`${projection.category}-${id}`)));
  }
  return events;
}
