// The contents that the vault must have after the modules' events; for the audit. An event that stores a value in the vault belongs in a list of its
// module. test/architecture/vault-promises.unit.test.ts checks this.
import { categoryOf, idOf, type RecordedEvent } from '../kernel/domain-event.js';
import { isId } from '../kernel/ids.js';
import { GRANT_DETAILS } from '../modules/accounts/application/grant-details.js';
import { sessionGrant, type SessionGrantEvent } from '../modules/accounts/domain/session-grant.js';
import { INCOME_SECRETS } from '../modules/income/application/income-secrets.js';
import type { IncomeEvent } from '../modules/income/domain/income.js';
import { incomeSession } from '../modules/income/domain/income-session.js';
import { PARTY_SECRETS } from '../modules/parties/application/party-secrets.js';
import type { PartyEvent } from '../modules/parties/domain/party.js';
import { party } from '../modules/parties/domain/party-decider.js';
import { CHECKOUT_PAGES } from '../modules/payments/application/checkout-page-store.js';
import { PAYMENT_SECRETS } from '../modules/payments/application/payment-secrets.js';
import { checkout, type CheckoutEvent } from '../modules/payments/domain/checkout.js';
import { payment, type PaymentEvent } from '../modules/payments/domain/payment.js';
import { REPORT_BODIES } from '../modules/reports/application/report-bodies.js';
import { report, type ReportEvent } from '../modules/reports/domain/report.js';
import { SESSION_SECRETS } from '../modules/screening/application/session-secrets.js';
import { type PersonEvent, screenedPerson } from '../modules/screening/domain/screened-person.js';
import { screeningSession } from '../modules/screening/domain/screening-session.js';
import type { SessionEvent } from '../modules/screening/domain/session.js';
import { ENDPOINT_SECRETS } from '../modules/webhooks/application/endpoint-secrets.js';
import type { VaultKnowledge } from '../platform/audit/vault-audit.js';
import type { EventStore } from '../ports/event-store.js';

type Erasure =
  | Extract<PersonEvent, { type: 'SubjectKeyDestroyed' }>
  | Extract<IncomeEvent, { type: 'IncomePersonErased' }>
  | Extract<PartyEvent, { type: 'VendorTokenErased' }>;

const ERASURES: ReadonlySet<string> = new Set([
  'SubjectKeyDestroyed',
  'IncomePersonErased',
  'VendorTokenErased',
] satisfies Erasure['type'][]);

/**
 * Events that name the subject of a value in the vault. Events of a person, and of a grant's details that moved to a person, are omitted. These
 * values exist for a session, and such an event proves nothing when the session was removed.
 */
export const NAMING: ReadonlySet<string> = new Set([
  'ScreeningSubmitted' satisfies SessionEvent['type'],
  'IncomeSessionOpened' satisfies IncomeEvent['type'],
  'PaymentOpened' satisfies PaymentEvent['type'],
  'CheckoutOpened' satisfies CheckoutEvent['type'],
  'ReportRequested' satisfies ReportEvent['type'],
  'VendorTokenStored' satisfies PartyEvent['type'],
  'GrantMinted' satisfies SessionGrantEvent['type'],
  ...ENDPOINT_SECRETS.map(({ type }) => type),
]);

/** Values that the vault stores before an event names them: a unit's address, an endpoint, a stored token, a grant by its id. */
const BEFORE_EVENT = /^(unit-address:|webhook-(secret|contact):|party\/[^/]+\/token$)/;

export function comesBeforeItsEvent(entry: string): boolean {
  return isId(entry) || BEFORE_EVENT.test(entry);
}

export function subjectsNamedBy(event: RecordedEvent): string[] {
  if (!NAMING.has(event.type)) return [];
  const { subjectId, detailsSubject } = event.data as { subjectId?: string; detailsSubject?: string | null };
  const ofEndpoint = ENDPOINT_SECRETS.filter(({ type }) => type === event.type).map(
    (promise) => promise.place(event, event)?.subject,
  );
  return [subjectId, detailsSubject, ...ofEndpoint].filter((subject) => typeof subject === 'string');
}

export const VAULT_KNOWLEDGE: VaultKnowledge = {
  promises: [
    ...SESSION_SECRETS,
    ...PAYMENT_SECRETS,
    ...CHECKOUT_PAGES,
    ...REPORT_BODIES,
    ...INCOME_SECRETS,
    ...GRANT_DETAILS,
    ...ENDPOINT_SECRETS,
    ...PARTY_SECRETS,
  ],
  erasures: ERASURES,
  erasedBefore,
  erasureRecorded: async (subject, event, first, store) => {
    // A grant's details that moved to a person are not traced to that person. The person's other values under the same subject are traced.
    if (categoryOf(event.stream) === sessionGrant.category && event.revision > 0) return true;
    const stream = await erasureStream(event, first, store);
    return stream !== null && (await store.readStream(stream)).some((recorded) => erasedBefore(recorded) === subject);
  },
};

/** Categories whose streams record erasures of their own data, when the data belongs to no screening. */
const OWN_ERASURES: ReadonlySet<string> = new Set([incomeSession.category, party.category]);

function erasedBefore(event: RecordedEvent): string | null {
  return ERASURES.has(event.type) ? (event as RecordedEvent & Erasure).data.subjectId : null;
}

/** The stream that records the erasure of the event's person; null when such a record cannot exist. */
async function erasureStream(event: RecordedEvent, first: RecordedEvent, store: EventStore): Promise<string | null> {
  const { stream } = event;
  const sessionId = screeningOf(event, first);
  if (sessionId === null) return OWN_ERASURES.has(categoryOf(stream)) ? stream : null;
  const [submitted] = await store.readStream(`${screeningSession.category}-${sessionId}`, { limit: 1 });
  return submitted
    ? `${screenedPerson.category}-${(submitted as RecordedEvent & Extract<SessionEvent, { type: 'ScreeningSubmitted' }>).data.personId}`
    : null;
}

function screeningOf(event: RecordedEvent, first: RecordedEvent): string | null {
  const { stream } = event;
  switch (categoryOf(stream)) {
    case screeningSession.category:
    case report.category:
      return idOf(stream);
    case incomeSession.category:
      return (first as RecordedEvent & Extract<IncomeEvent, { type: 'IncomeSessionOpened' }>).data.screeningSessionId;
    case payment.category:
      return (first as RecordedEvent & Extract<PaymentEvent, { type: 'PaymentOpened' }>).data.sessionId;
    case party.category:
      // A token that was stored for a party belongs to no session.
      return (
        (event as RecordedEvent & Extract<PartyEvent, { type: 'ReauthenticationChallenged' }>).data.sessionId ?? null
      );
    case checkout.category:
      // A renter may register again, so each opening names the person at that time.
      return (event as RecordedEvent & Extract<CheckoutEvent, { type: 'CheckoutOpened' }>).data.sessionId;
    default:
      return null;
  }
}
