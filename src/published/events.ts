// The events that account holders are told of (docs/contract/webhooks.md#event-types), and how modules translate their own into them.
import type { Environment } from '../kernel/environment.js';
import type { RecordedEvent } from '../kernel/domain-event.js';
import { derivedId } from '../kernel/ids.js';
import type { RefundReason } from '../kernel/refund-reason.js';
import type { UserType } from './accounts.js';

export interface EventData {
  'screening.completed': {
    readonly session_id: string;
    readonly user_type: UserType;
    readonly transaction_id?: string;
    readonly report_url?: string;
  };
  'screening.blocked': { readonly session_id: string; readonly user_type: UserType; readonly reason_code: string };
  'screening.step_up_required': {
    readonly session_id: string;
    readonly user_type: UserType;
    readonly methods: readonly ('OTP' | 'KBA')[];
  };
  'payment.succeeded': {
    readonly session_id: string;
    readonly stripe_payment_intent_id: string;
    readonly amount_cents: number;
    readonly currency: string;
  };
  'payment.refunded': {
    readonly session_id: string;
    readonly transaction_id: string;
    readonly amount_cents: number;
    readonly currency: string;
    readonly reason_code: RefundReason;
  };
  'report.shared': {
    readonly report_id: string;
    readonly session_id: string;
    readonly recipient_account_id: string;
    readonly shared_at: string;
  };
  'report.revoked': {
    readonly report_id: string;
    readonly session_id: string;
    readonly recipient_account_id: string;
    readonly revoked_at: string;
  };
  'report.unavailable': {
    readonly session_id: string;
    readonly reason_code:
      | 'FILE_FROZEN'
      | 'FILE_BLOCKED'
      | 'NO_RECORD'
      | 'MINOR'
      | 'FILE_CONDITION'
      | 'VENDOR_SESSION_OVER'
      | 'PERSON_ERASED';
  };
  'income_report.completed': {
    readonly income_session_id: string;
    readonly route: 'PAYROLL' | 'BANKING';
    readonly screening_session_id?: string;
    readonly report_url?: string;
  };
  'income_report.failed': {
    readonly income_session_id: string;
    readonly route: 'PAYROLL' | 'BANKING';
    readonly screening_session_id?: string;
    readonly reason_code: string;
  };
}

export type EventType = keyof EventData;

interface FieldRule {
  readonly type: 'string' | 'integer' | 'array of strings';
  readonly optional?: true;
  readonly meaning: string;
}

interface EventRule<Type extends EventType> {
  readonly firesWhen: string;
  readonly fields: { readonly [Field in keyof Required<EventData[Type]>]: FieldRule };
}

const SESSION: FieldRule = { type: 'string', meaning: 'Id of the screening session.' };
const USER_TYPE: FieldRule = { type: 'string', meaning: '`AGENT`, `PMC` or `CONSUMER`.' };
const REPORT: FieldRule = { type: 'string', meaning: 'Id of the report.' };
const RECIPIENT: FieldRule = { type: 'string', meaning: 'Account that may or might read it.' };
const INCOME_SESSION: FieldRule = { type: 'string', meaning: 'Id of the income session.' };
const ROUTE: FieldRule = { type: 'string', meaning: '`PAYROLL` or `BANKING`: the route that decided.' };
const SCREENING_OF_INCOME: FieldRule = {
  type: 'string',
  optional: true,
  meaning: 'Id of the linked screening session.',
};
const REPORT_URL: FieldRule = {
  type: 'string',
  optional: true,
  meaning: 'Where a server reads the report; absent when the service has no public address.',
};

/** Every event there is, with the exact fields of its `data`. `docs/events.md` is generated from it. */
export const EVENT_CATALOGUE: { readonly [Type in EventType]: EventRule<Type> } = {
  'screening.completed': {
    firesWhen: 'A screening reaches its end with success: verified, and paid where the consumer pays.',
    fields: {
      session_id: SESSION,
      user_type: USER_TYPE,
      transaction_id: { type: 'string', optional: true, meaning: 'The payment that completed it, if one was needed.' },
      report_url: {
        ...REPORT_URL,
        meaning: `${REPORT_URL.meaning} Agents and property managers have no report, and no address of one.`,
      },
    },
  },
  'screening.blocked': {
    firesWhen: 'A screening ends blocked.',
    fields: {
      session_id: SESSION,
      user_type: USER_TYPE,
      reason_code: { type: 'string', meaning: 'Why, such as `IDENTITY_NOT_FOUND` or `TOO_MANY_ATTEMPTS`.' },
    },
  },
  'screening.step_up_required': {
    firesWhen: 'A second factor is needed.',
    fields: {
      session_id: SESSION,
      user_type: USER_TYPE,
      methods: { type: 'array of strings', meaning: '`OTP`, `KBA` or both.' },
    },
  },
  'payment.succeeded': {
    firesWhen: 'A payment intent of a screening succeeds.',
    fields: {
      session_id: SESSION,
      stripe_payment_intent_id: { type: 'string', meaning: 'The intent at the payment processor.' },
      amount_cents: { type: 'integer', meaning: 'What was paid, in cents.' },
      currency: { type: 'string', meaning: 'Lowercase ISO 4217.' },
    },
  },
  'payment.refunded': {
    firesWhen: 'A refund that was requested here is made: the whole payment is given back.',
    fields: {
      session_id: SESSION,
      transaction_id: {
        type: 'string',
        meaning: 'The payment that is given back: `txn_...`, or `chk_...` of a hosted checkout.',
      },
      amount_cents: { type: 'integer', meaning: 'What was given back, in cents.' },
      currency: { type: 'string', meaning: 'Lowercase ISO 4217.' },
      reason_code: {
        type: 'string',
        meaning: '`report_unavailable`, `requested_by_consumer`, `duplicate` or `other`: the reason of the request.',
      },
    },
  },
  'report.shared': {
    firesWhen: 'A report is shared with an account.',
    fields: {
      report_id: REPORT,
      session_id: SESSION,
      recipient_account_id: RECIPIENT,
      shared_at: { type: 'string', meaning: 'ISO 8601 UTC.' },
    },
  },
  'report.revoked': {
    firesWhen: 'A shared report is revoked.',
    fields: {
      report_id: REPORT,
      session_id: SESSION,
      recipient_account_id: RECIPIENT,
      revoked_at: { type: 'string', meaning: 'ISO 8601 UTC.' },
    },
  },
  'report.unavailable': {
    firesWhen:
      'The credit bureau refuses a report, or cannot be asked for it any more: once for each reason in a session.',
    fields: {
      session_id: SESSION,
      reason_code: {
        type: 'string',
        meaning:
          'Why: `FILE_FROZEN`, `FILE_BLOCKED`, `NO_RECORD`, `MINOR`, `FILE_CONDITION`, `VENDOR_SESSION_OVER` or `PERSON_ERASED`.',
      },
    },
  },
  'income_report.completed': {
    firesWhen: 'An income session succeeds, on whichever route.',
    fields: {
      income_session_id: INCOME_SESSION,
      route: ROUTE,
      screening_session_id: SCREENING_OF_INCOME,
      report_url: REPORT_URL,
    },
  },
  'income_report.failed': {
    firesWhen: 'An income session fails with no route left.',
    fields: {
      income_session_id: INCOME_SESSION,
      route: ROUTE,
      screening_session_id: SCREENING_OF_INCOME,
      reason_code: { type: 'string', meaning: 'Why, such as `NO_MATCH` or `VENDOR_ERROR`.' },
    },
  },
};

/** The envelope as it is delivered. Thin: identifiers, enums and times; never personal data. */
export interface PublishedEvent<Type extends EventType = EventType> {
  /** `evt_` and a UUID derived from the stored event, so that translating twice names it once. */
  readonly id: string;
  readonly type: Type;
  readonly schema_version: 1;
  /** ISO 8601 UTC: when the state changed. */
  readonly occurred_at: string;
  readonly environment: Environment;
  readonly account_id: string;
  readonly data: EventData[Type];
}

/** Addresses that events name; null when the service does not know how the outside calls it. */
export interface Links {
  readonly reportUrl: ((sessionId: string) => string) | null;
  readonly incomeReportUrl: ((incomeSessionId: string) => string) | null;
}

/** A module's translation of its stored events into published ones. */
export interface Publisher {
  /** Streams it looks at. */
  readonly category: string;
  /** Stored types that are published; all others are not looked at. */
  readonly types: ReadonlySet<string>;
  /** Looks at the event to translate and at no other, so that `history` is that event: for streams that have many of them. */
  readonly alone?: true;
  /** Pure. `history` is the stream up to and including the event to translate. */
  publish(history: readonly RecordedEvent[], links: Links): PublishedEvent | null;
}

export function publishedAs<Type extends EventType>(
  event: RecordedEvent,
  type: Type,
  data: EventData[Type],
): PublishedEvent<Type> {
  const { accountId, environment, occurredAt } = event.metadata;
  if (accountId === null || environment === null)
    throw new Error(`${event.type} of ${event.stream} belongs to no account`);
  return {
    id: `evt_${derivedId('published-event', event.id, type)}`,
    type,
    schema_version: 1,
    occurred_at: occurredAt,
    environment,
    account_id: accountId,
    data,
  };
}

/** Everything that is published, for those who pass it on; also the injection token. */
export abstract class PublishedEvents {
  abstract readonly publishers: readonly Publisher[];
  abstract readonly links: Links;
}

/** `publicUrl`: how the outside calls the service; null where that is not known, and events name no addresses. */
export function publishedLinks(publicUrl: string | null): Links {
  if (publicUrl === null) return { reportUrl: null, incomeReportUrl: null };
  return {
    reportUrl: (sessionId) => `${publicUrl}/v1/reports/${sessionId}`,
    incomeReportUrl: (incomeSessionId) => `${publicUrl}/v1/income-sessions/${incomeSessionId}/report`,
  };
}
