// The read model of the status call: the session's state and the times of its changes.
import { Injectable } from '@nestjs/common';
import { isOpenTo, type ActionContext, type Owner } from '../../../kernel/context.js';
import { machineTimeOf } from '../../../kernel/domain-event.js';
import type { Environment } from '../../../kernel/environment.js';
import { isId } from '../../../kernel/ids.js';
import { exhaustiveEvents, listOf, openCall, openCallsIn, type Projection } from '../../../kernel/projection.js';
import { ReadModels, type View } from '../../../ports/read-models.js';
import { Vault } from '../../../ports/vault.js';
import { readEntry } from '../../../ports/vault-entry.js';
import { Accounts } from '../../../published/accounts.js';
import { Reports } from '../../../published/reports.js';
import { overallStatusOf, paymentStatusOf, type OverallStatus, type PaymentStatus } from '../domain/overall-status.js';
import {
  attemptOf,
  expiresAt,
  holdsApplicant,
  holdsReply,
  isOver,
  screeningSession,
} from '../domain/screening-session.js';
import {
  unitAddressEntry,
  type KbaQuestion,
  type Session,
  type SessionEvent,
  type UnitAddressContent,
} from '../domain/session.js';
import { listsOfSession } from './screening-list-names.js';
import { type KeptSecrets, keptSecrets } from './kept-secrets.js';
import { type SessionSummary, summaryOf } from './session-summary.js';

export type { KbaQuestion };
export type UnitAddress = UnitAddressContent['unitAddress'];

interface Followed {
  readonly accountId: string;
  readonly environment: Environment;
  readonly session: Session;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** The time when the session ended (ISO 8601 UTC); null until then. */
  readonly endedAt: string | null;
  /** The time when the session's payment was refunded (ISO 8601 UTC). Null before a refund, and when the session is paid again. */
  readonly refundedAt: string | null;
  /** Null if the session has no external id (see published/external-ids.ts). */
  readonly externalIdHash: string | null;
}

export interface ScreeningStatus extends Omit<Followed, 'session' | 'endedAt' | 'externalIdHash'> {
  readonly session: SessionSummary;
  readonly paymentStatus: PaymentStatus;
  readonly overallStatus: OverallStatus;
  /** The newest payment; null before the first. */
  readonly transactionId: string | null;
  /** The end of the time for an answer (ISO 8601 UTC); null unless the session waits for an answer. */
  readonly overdueAt: string | null;
}

function beginning(event: SessionEvent, at: string): Omit<Followed, 'accountId' | 'environment' | 'session'> {
  const externalIdHash = (event.type === 'ScreeningSubmitted' && event.data.externalIdHash) || null;
  return { createdAt: at, updatedAt: at, endedAt: null, refundedAt: null, externalIdHash };
}

/** The time of the refund after an update of the payment. */
function refundedAt({ payment }: Session, at: string, before: Pick<Followed, 'refundedAt'>): Followed['refundedAt'] {
  if (payment?.status === 'REFUNDED') return at;
  return payment?.status === 'SUCCEEDED' ? null : before.refundedAt;
}

/** Ended sessions of parties for which the vault may still keep the vendor's reply, sorted by their end. */
const REPLIES_HELD = listOf({ vendorReply: 'held' });
const DISCARDED: ReadonlySet<string> = new Set([
  'VendorReplyDiscarded',
  'ApplicantDiscarded',
] satisfies SessionEvent['type'][]);

/** Verified sessions whose person's own data the vault keeps, sorted by the verification. */
export function applicantsHeld(of: { readonly account?: string; readonly environment?: Environment }): string {
  return listOf({ ...of, applicant: 'held' });
}

export const screeningStatus: Projection<ScreeningStatus, Followed> = {
  name: 'screening_status',
  version: 20,
  category: screeningSession.category,
  toldWithoutLog: true,

  evolve(doc, recorded) {
    const event = known(recorded);
    const session = screeningSession.evolve(doc?.session ?? screeningSession.initial, event);
    const { accountId, environment, occurredAt } = event.metadata;
    if (session.status === 'NONE' || accountId === null || environment === null)
      throw new Error(`${event.stream} does not begin with a submission`);
    const before = doc ?? beginning(event, occurredAt);
    return {
      accountId,
      environment,
      session,
      createdAt: before.createdAt,
      // A removal from the vault does not count as an update of the session.
      updatedAt: DISCARDED.has(event.type) ? before.updatedAt : occurredAt,
      endedAt: before.endedAt ?? (isOver(session) ? machineTimeOf(event.metadata) : null),
      refundedAt: event.type === 'PaymentProgressed' ? refundedAt(session, occurredAt, before) : before.refundedAt,
      externalIdHash: before.externalIdHash,
    };
  },

  view: ({ accountId, environment, session, createdAt, updatedAt, refundedAt }) => ({
    accountId,
    environment,
    session: summaryOf(session),
    paymentStatus: paymentStatusOf(session),
    overallStatus: overallStatusOf(session),
    transactionId: session.payment?.transactionId ?? null,
    createdAt,
    updatedAt,
    refundedAt,
    overdueAt: expiresAt(session),
  }),
  entries: (followed) => {
    const { accountId, environment, session, createdAt, endedAt } = followed;
    const attempt = attemptOf(session);
    return [
      ...listsOfSession({ ...followed, overallStatus: overallStatusOf(session) }).map((list) => ({
        list,
        sort: createdAt,
      })),
      ...(attempt === null ? [] : [openCall(environment, attempt.settleAfter)]),
      ...(endedAt !== null && holdsReply(session) ? [{ list: REPLIES_HELD, sort: endedAt }] : []),
      ...(session.status === 'VERIFIED' && holdsApplicant(session)
        ? [{}, { account: accountId, environment }].map((of) => ({
            list: applicantsHeld(of),
            sort: session.verifiedAt,
          }))
        : []),
    ];
  },
  dueAt: ({ session }) => expiresAt(session),
};

const known = exhaustiveEvents<SessionEvent>('screening_status', {
  ScreeningSubmitted: true,
  VerificationRequested: true,
  VendorFellBack: true,
  ApplicantSealed: true,
  ApplicantDiscarded: true,
  ReviewStarted: true,
  ReviewContinued: true,
  PersonSentToVendor: true,
  StepUpRequired: true,
  IdentityVerified: true,
  OtpAnswerReceived: true,
  OtpRejected: true,
  OtpResendRequested: true,
  OtpResent: true,
  KbaAnswersReceived: true,
  KbaRejected: true,
  AttemptAbandoned: true,
  SessionBlocked: true,
  BlockLifted: true,
  SessionExpired: true,
  SessionErrored: true,
  PaymentProgressed: true,
  ScreeningCompleted: true,
  VendorReplyDiscarded: true,
});

@Injectable()
export class ScreeningStatusReader {
  constructor(
    private readonly readModels: ReadModels,
    private readonly vault: Vault,
    private readonly accounts: Accounts,
    private readonly reports: Reports,
  ) {}

  /** The session, if the caller has access to it (see `isOpenTo`). Unknown, malformed and foreign ids all give null. */
  async find(
    sessionId: string,
    caller: Owner & Pick<ActionContext, 'grantId' | 'actor'>,
  ): Promise<View<ScreeningStatus> | null> {
    const view = await this.read(sessionId);
    return view && isOpenTo(view.doc, view.doc.session, caller) ? view : null;
  }

  /** A session of the caller or of a direct child; null for all others (docs/contract/server.md#readable-sessions). */
  async findReadable(
    sessionId: string,
    caller: { readonly accountId: string; readonly environment: Environment },
  ): Promise<View<ScreeningStatus> | null> {
    const view = await this.read(sessionId);
    return view &&
      view.doc.environment === caller.environment &&
      (await this.accounts.mayRead(caller.accountId, view.doc.accountId))
      ? view
      : null;
  }

  /** ISO 8601 UTC; null until a report is released. */
  reportExpiryOf(sessionId: string): Promise<string | null> {
    return this.reports.expiryOf(sessionId);
  }

  private async read(sessionId: string): Promise<View<ScreeningStatus> | null> {
    return isId(sessionId) ? this.readModels.get(screeningStatus, sessionId) : null;
  }

  isOverdue({ overdueAt }: ScreeningStatus, now: Date): boolean {
    return overdueAt !== null && now >= new Date(overdueAt);
  }

  keptSecrets(sessionId: string, session: SessionSummary): Promise<KeptSecrets> {
    return keptSecrets(this.vault, sessionId, session);
  }

  /** Null if the page gave no address, and if the person was erased. */
  async unitAddressOf(sessionId: string, session: SessionSummary): Promise<UnitAddress | null> {
    if (!session.unitAddressKept) return null;
    const kept = await readEntry<UnitAddressContent>(this.vault, session.subjectId, unitAddressEntry(sessionId));
    return kept === null || kept === 'erased' ? null : kept.unitAddress;
  }

  /** Sessions whose step-up was not answered in time. */
  overdue(at: Date, limit: number): Promise<string[]> {
    return this.readModels.due(screeningStatus, at, limit);
  }

  /** Sessions that were verified at `verifiedBy` and whose person's own data the vault keeps. */
  holdingApplicants(verifiedBy: Date, limit: number): Promise<string[]> {
    return this.readModels.due(screeningStatus, verifiedBy, limit, { list: applicantsHeld({}) });
  }

  /** Sessions that had ended at `overBy` and for which the vault may still keep the vendor's reply. */
  holdingReplies(overBy: Date, limit: number): Promise<string[]> {
    return this.readModels.due(screeningStatus, overBy, limit, { list: REPLIES_HELD });
  }

  /** Sessions whose vendor call got no verdict in time. */
  unsettled(environment: Environment, at: Date, limit: number): Promise<string[]> {
    return this.readModels.due(screeningStatus, at, limit, { list: openCallsIn(environment) });
  }
}
