// The wire form of a session on the platform API (docs/contract/platform.md#screening-session).
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { USER_TYPES } from '../../../../published/accounts.js';
import { OVERALL_STATUSES, PAYMENT_STATUSES, VERIFICATION_STATUSES } from '../../../../published/screenings.js';
import type { KeptSecrets } from '../../read/kept-secrets.js';
import type { KbaQuestion, ScreeningStatus } from '../../read/screening-status.js';
import {
  REASONS_FOR_BROWSERS,
  reasonForBrowsers,
  type ReasonForBrowsers,
  type SessionSummary,
} from '../../read/session-summary.js';

class KbaAnswerOption {
  @ApiProperty({ type: 'integer' }) readonly id!: number;
  @ApiProperty() readonly text!: string;
}

class KbaQuestionResult {
  @ApiProperty({ type: 'integer' }) readonly id!: number;
  @ApiProperty() readonly text!: string;
  @ApiProperty({ type: [KbaAnswerOption] }) readonly answers!: readonly KbaAnswerOption[];
}

class StepUpResult {
  @ApiProperty({ enum: ['OTP', 'KBA', 'CHOICE'] }) readonly type!: 'OTP' | 'KBA' | 'CHOICE';
  @ApiProperty() readonly otpEnabled!: boolean;
  @ApiProperty() readonly kbaEnabled!: boolean;
  @ApiPropertyOptional({ type: [KbaQuestionResult], description: 'Present while questions may be answered' })
  readonly kbaQuestions?: readonly KbaQuestionResult[];
}

export class UserActionOfScreening {
  @ApiProperty({ format: 'date-time', description: 'The end of the round' }) readonly until!: string;
  @ApiPropertyOptional({ format: 'uri', description: "The vendor's page, to be opened in a window of its own" })
  readonly url?: string;
  @ApiPropertyOptional({ description: "The vendor's SDK that the page must run; absent if there is a `url`" })
  readonly sdk?: string;
  @ApiPropertyOptional({ description: 'The token for the SDK' }) readonly token?: string;
}

export class SessionResult {
  @ApiProperty({ format: 'uuid' }) readonly id!: string;
  @ApiProperty({ enum: VERIFICATION_STATUSES })
  readonly status!: SessionSummary['status'];
  @ApiPropertyOptional({ type: StepUpResult }) readonly stepUp?: StepUpResult;
  @ApiPropertyOptional({ type: 'integer', description: 'After a wrong code or answer, while another may follow' })
  readonly attemptsRemaining?: number;
  @ApiPropertyOptional({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'Present when BLOCKED; null: the block does not end by itself',
  })
  readonly blockedUntil?: string | null;
  @ApiPropertyOptional({
    enum: REASONS_FOR_BROWSERS,
    description: 'Present when BLOCKED for one of these reasons. Only the webhook tells other reasons',
  })
  readonly reasonCode?: ReasonForBrowsers;
  @ApiPropertyOptional({
    format: 'date-time',
    description:
      'Present when SUBMITTED while people at the identity vendor check the person: the latest end of their review',
  })
  readonly reviewUntil?: string;
  @ApiPropertyOptional({
    type: UserActionOfScreening,
    description: 'Present when SUBMITTED while the person must act at the identity vendor',
  })
  readonly userAction?: UserActionOfScreening;
}

export class StatusResult extends SessionResult {
  @ApiProperty({ enum: VERIFICATION_STATUSES, description: 'The same as `status`' })
  readonly verificationStatus!: SessionSummary['status'];
  @ApiProperty({ enum: PAYMENT_STATUSES })
  readonly paymentStatus!: ScreeningStatus['paymentStatus'];
  @ApiProperty({ enum: OVERALL_STATUSES, description: 'What to branch on: verification and payment together' })
  readonly overallStatus!: ScreeningStatus['overallStatus'];
  @ApiPropertyOptional({ pattern: '^(txn|chk)_[0-9a-f-]{36}$', description: 'Id of the newest payment' })
  readonly transactionId?: string;
  @ApiPropertyOptional({
    format: 'date-time',
    description: 'Time of the refund; absent once the screening is paid again',
  })
  readonly refundedAt?: string;
  @ApiProperty({ enum: USER_TYPES }) readonly userType!: SessionSummary['userType'];
}

type SessionFields = Pick<SessionResult, keyof SessionResult>;

export function sessionResult(
  id: string,
  session: SessionSummary,
  { questions, userAction }: KeptSecrets,
): SessionFields {
  if (session.status === 'BLOCKED') {
    const reasonCode = reasonForBrowsers(session.reasonCode);
    return { id, status: session.status, blockedUntil: session.blockedUntil, ...(reasonCode && { reasonCode }) };
  }
  if (userAction !== null)
    return { id, status: session.status, userAction: { until: userAction.until, ...userAction.open } };
  if (session.status === 'SUBMITTED' && session.review !== null && !session.review.userActs)
    return { id, status: session.status, reviewUntil: session.review.until };
  if (!('stepUp' in session)) return { id, status: session.status };
  const { answeredWrong, attemptsRemaining } = session.stepUp;
  return {
    id,
    status: session.status,
    stepUp: stepUpResult(session.stepUp, questions),
    ...(answeredWrong && session.status !== 'STEP_UP_REQUIRED' ? { attemptsRemaining } : {}),
  };
}

function stepUpResult(
  { otp, kba }: Extract<SessionSummary, { stepUp: object }>['stepUp'],
  questions: readonly KbaQuestion[] | null,
): StepUpResult {
  return {
    type: otp && kba ? 'CHOICE' : otp ? 'OTP' : 'KBA',
    otpEnabled: otp,
    kbaEnabled: kba,
    ...(kba && questions ? { kbaQuestions: questions } : {}),
  };
}

export function statusResult(
  id: string,
  { session, paymentStatus, overallStatus, transactionId, refundedAt }: ScreeningStatus,
  kept: KeptSecrets,
): StatusResult {
  return {
    ...sessionResult(id, session, kept),
    verificationStatus: session.status,
    paymentStatus,
    overallStatus,
    ...(transactionId !== null && { transactionId }),
    ...(refundedAt !== null && { refundedAt }),
    userType: session.userType,
  };
}
