// The events of the log about one screening session, from all streams.
import { type EventMetadata, machineTimeOf, type RecordedEvent } from '../kernel/domain-event.js';
import { isId } from '../kernel/ids.js';
import { credit, type CreditEvent } from '../modules/accounts/domain/credit.js';
import { party } from '../modules/parties/domain/party-decider.js';
import { checkout, checkoutReference, type CheckoutEvent } from '../modules/payments/domain/checkout.js';
import { checkoutPaymentId, payment, paymentId } from '../modules/payments/domain/payment.js';
import { report, type ReportEvent } from '../modules/reports/domain/report.js';
import { reportLooks } from '../modules/reports/domain/report-view.js';
import { shareRegister } from '../modules/reports/domain/share-register.js';
import { reportShares, sharesOfSession } from '../modules/reports/read/report-shares.js';
import { reportViews, viewsOfSession } from '../modules/reports/read/report-views.js';
import { type PersonEvent, screenedPerson } from '../modules/screening/domain/screened-person.js';
import { consent } from '../modules/screening/domain/consent.js';
import { screeningSession } from '../modules/screening/domain/screening-session.js';
import type { SessionEvent } from '../modules/screening/domain/session.js';
import { delivery, deliveryIdOf } from '../modules/webhooks/domain/delivery.js';
import { webhookEndpoint, type EndpointEvent } from '../modules/webhooks/domain/endpoint.js';
import type { EventStore } from '../ports/event-store.js';
import { DELIVERED_TYPES } from '../published/events.js';
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
    ...(await store.readStream(`${consent.category}-${sessionId}`)),
    ...(await ofPerson(sessionId, submitted as Submitted, store)),
    ...(await ofParty(submitted as Submitted, store)),
    ...(await following(sessionId, store, lists)),
  ];
  about.push(...(await debitsOf(submitted, about, store)), ...(await deliveriesOf(submitted, about, store)));
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

const PAGE = 1_000;

/** The credit that the session's pulls reserved, debited and released. The stream of the account is read back to the begin of the session. */
async function debitsOf(
  { metadata }: RecordedEvent,
  about: readonly RecordedEvent[],
  store: EventStore,
): Promise<RecordedEvent[]> {
  const pulls = new Set(
    (about as readonly (RecordedEvent & ReportEvent)[]).flatMap((event) =>
      event.type === 'ReportRequested' ? [event.data.attemptId] : [],
    ),
  );
  const found: RecordedEvent[] = [];
  if (pulls.size === 0) return found;
  for await (const event of readBack(`${credit.category}-${metadata.accountId}`, metadata, store)) {
    const { data } = event as RecordedEvent & CreditEvent;
    if ('reservationId' in data && pulls.has(data.reservationId)) found.push(event);
  }
  return found;
}

/** The events of a stream that many cases share, the newest first, at least back to the time of `since`. */
export async function* readBack(
  stream: string,
  since: EventMetadata,
  store: EventStore,
): AsyncGenerator<RecordedEvent, void> {
  for (let from: number | undefined; ;) {
    const page: RecordedEvent[] = await store.readStream(stream, {
      direction: 'backwards',
      limit: PAGE,
      ...(from !== undefined && { from }),
    });
    yield* page;
    const oldest = page.at(-1);
    if (oldest === undefined || oldest.revision === 0 || machineTimeOf(oldest.metadata) < machineTimeOf(since)) return;
    from = oldest.revision - 1;
  }
}

/** The deliveries of the events to the endpoints of the account. The id of a delivery follows from the event, the endpoint and the type. */
async function deliveriesOf(
  { metadata: { accountId } }: RecordedEvent,
  about: readonly RecordedEvent[],
  store: EventStore,
): Promise<RecordedEvent[]> {
  const changes = await store.readStream(`${webhookEndpoint.category}-${accountId}`);
  const endpoints = new Set(
    (changes as (RecordedEvent & EndpointEvent)[]).flatMap(({ data }) =>
      'endpointId' in data ? [data.endpointId] : [],
    ),
  );
  const ids = [...endpoints].flatMap((endpointId) =>
    about.flatMap(({ id }) => DELIVERED_TYPES.map((type) => deliveryIdOf(id, endpointId, type))),
  );
  return (await Promise.all(ids.map((id) => store.readStream(`${delivery.category}-${id}`)))).flat();
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
