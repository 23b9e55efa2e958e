// The wire form of a session on the platform API (docs/contract/platform.md#screening-session).
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  REASONS_FOR_BROWSERS,
  reasonForBrowsers,
  type KbaQuestion,
  type ReasonForBrowsers,
  type ScreeningStatus,
  type SessionSummary,
} from '../../read/screening-status.js';

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

export class SessionResult {
  @ApiProperty({ format: 'uuid' }) readonly id!: string;
  @ApiProperty({
    enum: ['SUBMITTED', 'STEP_UP_REQUIRED', 'OTP_PENDING', 'KBA_PENDING', 'VERIFIED', 'BLOCKED', 'EXPIRED', 'ERROR'],
  })
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
}

export class StatusResult extends SessionResult {
  @ApiProperty({ type: String }) readonly verificationStatus!: SessionSummary['status'];
  @ApiProperty({
    enum: ['NOT_REQUIRED', 'PENDING', 'PROCESSING', 'REQUIRES_ACTION', 'SUCCEEDED', 'FAILED', 'REFUNDED'],
  })
  readonly paymentStatus!: ScreeningStatus['paymentStatus'];
  @ApiProperty({ type: String, description: 'COMPLETED, PAYMENT_PENDING, PAYMENT_FAILED or the raw status' })
  readonly overallStatus!: ScreeningStatus['overallStatus'];
  @ApiPropertyOptional({ description: 'Id of the newest payment: `txn_` and a UUID' })
  readonly transactionId?: string;
  @ApiPropertyOptional({
    format: 'date-time',
    description: 'Time of the refund; absent once the screening is paid again',
  })
  readonly refundedAt?: string;
  @ApiProperty({ enum: ['CONSUMER', 'AGENT', 'PMC'] }) readonly userType!: SessionSummary['userType'];
}

type SessionFields = Pick<SessionResult, keyof SessionResult>;

/** The result has `questions` only while they are open. */
export function sessionResult(
  id: string,
  session: SessionSummary,
  questions: readonly KbaQuestion[] | null,
): SessionFields {
  if (session.status === 'BLOCKED') {
    const reasonCode = reasonForBrowsers(session.reasonCode);
    return { id, status: session.status, blockedUntil: session.blockedUntil, ...(reasonCode && { reasonCode }) };
  }
  if (!('stepUp' in session)) return { id, status: session.status };
  const { otp, kba, answeredWrong, attemptsRemaining } = session.stepUp;
  return {
    id,
    status: session.status,
    stepUp: {
      type: otp && kba ? 'CHOICE' : otp ? 'OTP' : 'KBA',
      otpEnabled: otp,
      kbaEnabled: kba,
      ...(kba && questions ? { kbaQuestions: questions } : {}),
    },
    ...(answeredWrong && session.status !== 'STEP_UP_REQUIRED' ? { attemptsRemaining } : {}),
  };
}

export function statusResult(
  id: string,
  { session, paymentStatus, overallStatus, transactionId, refundedAt }: ScreeningStatus,
  questions: readonly KbaQuestion[] | null,
): StatusResult {
  return {
    ...sessionResult(id, session, questions),
    verificationStatus: session.status,
    paymentStatus,
    overallStatus,
    ...(transactionId !== null && { transactionId }),
    ...(refundedAt !== null && { refundedAt }),
    userType: session.userType,
  };
}
