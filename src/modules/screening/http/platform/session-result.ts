// What the views look like on the wire, for the generated API description.
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { SessionView, StatusView } from '../../read/session-view.js';

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

export class SessionResult implements SessionView {
  @ApiProperty({ format: 'uuid' }) readonly id!: string;
  @ApiProperty({
    enum: ['SUBMITTED', 'STEP_UP_REQUIRED', 'OTP_PENDING', 'KBA_PENDING', 'VERIFIED', 'BLOCKED', 'EXPIRED', 'ERROR'],
  })
  readonly status!: SessionView['status'];
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
}

export class StatusResult extends SessionResult implements StatusView {
  @ApiProperty({ type: String }) readonly verificationStatus!: StatusView['verificationStatus'];
  @ApiProperty({ enum: ['NOT_REQUIRED', 'PENDING', 'PROCESSING', 'REQUIRES_ACTION', 'SUCCEEDED', 'FAILED'] })
  readonly paymentStatus!: StatusView['paymentStatus'];
  @ApiProperty({ type: String, description: 'COMPLETED, PAYMENT_PENDING, PAYMENT_FAILED or the raw status' })
  readonly overallStatus!: StatusView['overallStatus'];
}
