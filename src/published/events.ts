// The events that are sent to account holders (docs/contract/webhooks.md#event-types). Each module translates its stored events into these events.
import type { Environment } from '../kernel/environment.js';
import type { RecordedEvent } from '../kernel/domain-event.js';
import { derivedId } from '../kernel/ids.js';
import { REFUND_REASONS, type RefundReason } from '../kernel/refund-reason.js';
import { USER_TYPES, type UserType } from './accounts.js';

/** Why a session has no report. */
const NO_REPORT_REASONS = [
  'FILE_FROZEN',
  'FILE_BLOCKED',
  'NO_RECORD',
  'MINOR',
  'FILE_CONDITION',
  'VENDOR_SESSION_OVER',
  'PERSON_ERASED',
] as const;

/** Why a screening is blocked. There may be new reasons. */
export const BLOCK_REASONS = [
  'IDENTITY_NOT_FOUND',
  'TOO_MANY_ATTEMPTS',
  'FRAUD_REPORTED',
  'SANCTIONS_MATCH',
  'ALERT_LIST_MATCH',
  'DECEASED',
  'MINOR_CONSUMER',
] as const;

export interface EventData {
  'screening.completed': {
    readonly session_id: string;
    readonly user_type: UserType;
    readonly transaction_id?: string;
    readonly report_url?: string;
  };
  'screening.blocked': { readonly session_id: string; readonly user_type: UserType; readonly reason_code: string };
  'screening.under_review': {
    readonly session_id: string;
    readonly user_type: UserType;
    readonly review_until: string;
  };
  'screening.user_action_required': {
    readonly session_id: string;
    readonly user_type: UserType;
    readonly until: string;
  };
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
    readonly reason_code: (typeof NO_REPORT_REASONS)[number];
  };
  'income_report.completed': {
    readonly income_session_id: string;
    readonly route: 'PAYROLL' | 'BANKING';
    readonly screening_session_id?: string;
    readonly report_url?: string;
  };
  'income_report.user_action_required': {
    readonly income_session_id: string;
    readonly route: 'PAYROLL' | 'BANKING';
    readonly screening_session_id?: string;
    readonly until: string;
  };
  'income_report.failed': {
    readonly income_session_id: string;
    readonly route: 'PAYROLL' | 'BANKING';
    readonly screening_session_id?: string;
    readonly reason_code: string;
  };
  'endpoint.failing': { readonly endpoint_id: string; readonly disable_after: string };
  'endpoint.disabled': { readonly endpoint_id: string; readonly reason_code: string };
  'endpoint.recovered': { readonly endpoint_id: string };
}

export type EventType = keyof EventData;

/** A field of an event. The form is for JSON Schemas. */
export interface FieldRule {
  readonly type: 'string' | 'integer' | 'array of strings';
  readonly optional?: true;
  readonly meaning: string;
  readonly format?: 'uuid' | 'date-time' | 'uri';
  readonly pattern?: string;
  /** All words that the field may have. If `open`, these are the words of today and more may come. */
  readonly words?: readonly string[];
  readonly open?: true;
}

interface EventRule<Type extends EventType> {
  readonly firesWhen: string;
  /** Set for events that are never delivered, whatever an endpoint has chosen. */
  readonly feedOnly?: true;
  readonly fields: { readonly [Field in keyof Required<EventData[Type]>]: FieldRule };
}

const SESSION: FieldRule = { type: 'string', format: 'uuid', meaning: 'Id of the screening session.' };
const USER_TYPE: FieldRule = { type: 'string', words: USER_TYPES, meaning: '`AGENT`, `PMC` or `CONSUMER`.' };
const REPORT: FieldRule = { type: 'string', format: 'uuid', meaning: 'Id of the report.' };
const RECIPIENT: FieldRule = {
  type: 'string',
  format: 'uuid',
  meaning: 'Id of the account with which the report is or was shared.',
};
const INCOME_SESSION: FieldRule = { type: 'string', format: 'uuid', meaning: 'Id of the income session.' };
const ROUTE: FieldRule = {
  type: 'string',
  words: ['PAYROLL', 'BANKING'],
  meaning: '`PAYROLL` or `BANKING`: the route by which the session succeeded or failed.',
};
const SCREENING_OF_INCOME: FieldRule = {
  type: 'string',
  format: 'uuid',
  optional: true,
  meaning: 'Id of the linked screening session.',
};
const ENDPOINT: FieldRule = { type: 'string', format: 'uuid', meaning: 'Id of the webhook endpoint.' };
const REPORT_URL: FieldRule = {
  type: 'string',
  format: 'uri',
  optional: true,
  meaning: 'Address at which a server can read the report. Absent if the service has no public address.',
};

/** All events with the exact fields of their `data`. `docs/events.md` is generated from this list. */
export const EVENT_CATALOGUE: { readonly [Type in EventType]: EventRule<Type> } = {
  'screening.completed': {
    firesWhen: 'A screening succeeds: the person is verified and, if the consumer must pay, has paid.',
    fields: {
      session_id: SESSION,
      user_type: USER_TYPE,
      transaction_id: {
        type: 'string',
        optional: true,
        meaning: 'Id of the payment that completed the screening. Absent if the screening needed no payment.',
      },
      report_url: {
        ...REPORT_URL,
        meaning: `${REPORT_URL.meaning} Also absent for agents and property managers, because they have no report.`,
      },
    },
  },
  'screening.blocked': {
    firesWhen: 'A screening ends as `BLOCKED`.',
    fields: {
      session_id: SESSION,
      user_type: USER_TYPE,
      reason_code: {
        type: 'string',
        words: BLOCK_REASONS,
        open: true,
        meaning: 'The reason of the block, such as `IDENTITY_NOT_FOUND` or `TOO_MANY_ATTEMPTS`.',
      },
    },
  },
  'screening.under_review': {
    firesWhen: 'People at the identity vendor check the person. Their decision follows within hours or days.',
    fields: {
      session_id: SESSION,
      user_type: USER_TYPE,
      review_until: {
        type: 'string',
        meaning: 'The latest end of the review (ISO 8601 UTC). Without a decision, the session expires then.',
      },
    },
  },
  'screening.user_action_required': {
    firesWhen:
      'The person must act at the identity vendor, such as show a document. A later round has an event of its own.',
    fields: {
      session_id: SESSION,
      user_type: USER_TYPE,
      until: {
        type: 'string',
        meaning: 'The end of the round (ISO 8601 UTC). Without an act of the person, the session expires then.',
      },
    },
  },
  'screening.step_up_required': {
    firesWhen: 'The person must confirm the identity by a code or by answers to questions.',
    fields: {
      session_id: SESSION,
      user_type: USER_TYPE,
      methods: {
        type: 'array of strings',
        words: ['OTP', 'KBA'],
        meaning: 'The methods that the person can use: `OTP` (a code), `KBA` (questions) or both.',
      },
    },
  },
  'payment.succeeded': {
    firesWhen: 'A payment of a screening succeeds.',
    fields: {
      session_id: SESSION,
      stripe_payment_intent_id: { type: 'string', meaning: 'Id of the intent at the payment processor.' },
      amount_cents: { type: 'integer', meaning: 'The amount paid, in cents.' },
      currency: { type: 'string', meaning: 'Lowercase ISO 4217.' },
    },
  },
  'payment.refunded': {
    firesWhen:
      'The payment processor has made a refund that this service requested. A refund returns the whole payment.',
    fields: {
      session_id: SESSION,
      transaction_id: {
        type: 'string',
        meaning: 'Id of the refunded payment: `txn_...`, or `chk_...` for a hosted checkout.',
      },
      amount_cents: { type: 'integer', meaning: 'The amount refunded, in cents.' },
      currency: { type: 'string', meaning: 'Lowercase ISO 4217.' },
      reason_code: {
        type: 'string',
        words: REFUND_REASONS,
        meaning: 'The reason for the refund: `report_unavailable`, `requested_by_consumer`, `duplicate` or `other`.',
      },
    },
  },
  'report.shared': {
    firesWhen: 'A report is shared with an account.',
    fields: {
      report_id: REPORT,
      session_id: SESSION,
      recipient_account_id: RECIPIENT,
      shared_at: { type: 'string', format: 'date-time', meaning: 'Time of the share (ISO 8601 UTC).' },
    },
  },
  'report.revoked': {
    firesWhen: 'A shared report is revoked.',
    fields: {
      report_id: REPORT,
      session_id: SESSION,
      recipient_account_id: RECIPIENT,
      revoked_at: { type: 'string', format: 'date-time', meaning: 'Time of the revocation (ISO 8601 UTC).' },
    },
  },
  'report.unavailable': {
    firesWhen:
      'The credit bureau refuses the report, or can no longer make one. The service sends this event once for each session and reason.',
    fields: {
      session_id: SESSION,
      reason_code: {
        type: 'string',
        words: NO_REPORT_REASONS,
        meaning:
          'The reason why the session has no report: `FILE_FROZEN`, `FILE_BLOCKED`, `NO_RECORD`, `MINOR`, `FILE_CONDITION`, `VENDOR_SESSION_OVER` or `PERSON_ERASED`.',
      },
    },
  },
  'income_report.completed': {
    firesWhen: 'An income session succeeds, by payroll or by banking.',
    fields: {
      income_session_id: INCOME_SESSION,
      route: ROUTE,
      screening_session_id: SCREENING_OF_INCOME,
      report_url: REPORT_URL,
    },
  },
  'income_report.user_action_required': {
    firesWhen:
      'The person must act at the vendor, such as log in at the payroll of the employer. A later round has an event of its own.',
    fields: {
      income_session_id: INCOME_SESSION,
      route: ROUTE,
      screening_session_id: SCREENING_OF_INCOME,
      until: {
        type: 'string',
        meaning:
          'The end of the round (ISO 8601 UTC). The status of the session has the address of the vendor until then.',
      },
    },
  },
  'income_report.failed': {
    firesWhen: 'An income session fails by all of its routes.',
    fields: {
      income_session_id: INCOME_SESSION,
      route: ROUTE,
      screening_session_id: SCREENING_OF_INCOME,
      reason_code: {
        type: 'string',
        words: ['NO_MATCH', 'VENDOR_ERROR'],
        open: true,
        meaning: 'The reason of the failure, such as `NO_MATCH` or `VENDOR_ERROR`.',
      },
    },
  },
  'endpoint.failing': {
    firesWhen: 'Several deliveries in a row to the webhook endpoint were exhausted.',
    feedOnly: true,
    fields: {
      endpoint_id: ENDPOINT,
      disable_after: {
        type: 'string',
        format: 'date-time',
        meaning: 'Time at which the endpoint is disabled, unless a delivery succeeds before (ISO 8601 UTC).',
      },
    },
  },
  'endpoint.disabled': {
    firesWhen: 'No delivery to a failing webhook endpoint succeeded in time, so the endpoint gets no more deliveries.',
    feedOnly: true,
    fields: {
      endpoint_id: ENDPOINT,
      reason_code: {
        type: 'string',
        words: ['NO_SUCCESSFUL_DELIVERY'],
        open: true,
        meaning: 'The reason, such as `NO_SUCCESSFUL_DELIVERY`.',
      },
    },
  },
  'endpoint.recovered': {
    firesWhen: 'A delivery to a failing webhook endpoint succeeds.',
    feedOnly: true,
    fields: { endpoint_id: ENDPOINT },
  },
};

/** The types that an endpoint can choose. The other ones are in the feed only. */
export const DELIVERED_TYPES = (Object.keys(EVENT_CATALOGUE) as EventType[]).filter(
  (type) => EVENT_CATALOGUE[type].feedOnly !== true,
);

/** Whether an endpoint with this choice of types (null: all) gets events of the type. */
export function isDelivered(type: string, chosen: readonly string[] | null): boolean {
  return (chosen ?? DELIVERED_TYPES).includes(type);
}

/** The envelope that receivers get. The envelope contains identifiers, enums and times, never personal data. */
export interface PublishedEvent<Type extends EventType = EventType> {
  /** `evt_` and a UUID derived from the stored event, so that a second translation gives the same id. */
  readonly id: string;
  readonly type: Type;
  readonly schema_version: 1;
  /** The time when the state changed (ISO 8601 UTC). */
  readonly occurred_at: string;
  readonly environment: Environment;
  readonly account_id: string;
  readonly data: EventData[Type];
}

/** The addresses in events; null if the service's public address is not configured. */
export interface Links {
  readonly reportUrl: ((sessionId: string) => string) | null;
  readonly incomeReportUrl: ((incomeSessionId: string) => string) | null;
}

/** A module's translation of its stored events into published events. */
export interface Publisher {
  /** The category of the streams that the publisher reads. */
  readonly category: string;
  /** The stored types that are published. All other types are skipped. */
  readonly types: ReadonlySet<string>;
  /** If set, `history` contains only the event to translate. Use this setting for streams with many events. */
  readonly alone?: true;
  /** If set, the events concern the account in both environments, so both of its feeds get them. */
  readonly everyEnvironment?: true;
  /** Pure. `history` is the stream up to the event to translate, which is the last event. */
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

/** All publishers, for the parts that send their events. This class is also the injection token. */
export abstract class PublishedEvents {
  abstract readonly publishers: readonly Publisher[];
  abstract readonly links: Links;
}

/** `publicUrl` is the public address of the service. With null, events contain no addresses. */
export function publishedLinks(publicUrl: string | null): Links {
  if (publicUrl === null) return { reportUrl: null, incomeReportUrl: null };
  return {
    reportUrl: (sessionId) => `${publicUrl}/v1/reports/${sessionId}`,
    incomeReportUrl: (incomeSessionId) => `${publicUrl}/v1/income-sessions/${incomeSessionId}/report`,
  };
}
