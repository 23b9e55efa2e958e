// Descriptions of replies about parties. A reply has the identity vendor's answer unchanged (docs/contract/direct.md#passthrough), or an answer that
// the service writes from the vendor's decision (docs/contract/direct.md#answers-in-the-services-words).
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { NO_ERRORS } from '../../../../surfaces/direct/numeric-codes.js';

class KbaAnswerOption {
  @ApiProperty({ type: 'integer' }) readonly id!: number;
  @ApiProperty() readonly text!: string;
}

class KbaQuestion {
  @ApiProperty({ type: 'integer' }) readonly id!: number;
  @ApiProperty() readonly text!: string;
  @ApiProperty({ type: [KbaAnswerOption] }) readonly answers!: readonly KbaAnswerOption[];
}

class KbaQuestionSet {
  @ApiProperty() readonly sessionId!: string;
  @ApiProperty({ type: [KbaQuestion] }) readonly questions!: readonly KbaQuestion[];
}

class IdentityPayload {
  @ApiPropertyOptional({ description: 'False after a wrong answer' }) readonly success?: boolean;
  @ApiPropertyOptional({ description: 'Whether the identity is confirmed' }) readonly userAuthenticated?: boolean;
  @ApiPropertyOptional({
    description:
      "Once the identity is confirmed: the vendor's token, or a reference of the service that no call accepts",
  })
  readonly UserToken?: string;
  @ApiPropertyOptional({ description: 'The session or challenge' }) readonly authSession?: string;
  @ApiPropertyOptional({ description: 'A code was sent' }) readonly otpEnabled?: boolean;
  @ApiPropertyOptional({ description: 'Questions are asked' }) readonly kiqEnabled?: boolean;
  @ApiPropertyOptional() readonly clientReferenceId?: string;
  @ApiPropertyOptional({ type: KbaQuestionSet, nullable: true }) readonly kba?: KbaQuestionSet | null;
  @ApiPropertyOptional({ type: 'integer', description: 'After a wrong code or answer, while another may follow' })
  readonly attemptsRemaining?: number;
  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    description: 'The person must act at the vendor: `until`, and `url` or `sdk` with `token`',
  })
  readonly userAction?: object;
  @ApiPropertyOptional({ description: 'People at the vendor check the person' }) readonly underReview?: boolean;
  @ApiPropertyOptional({ format: 'date-time', description: 'The latest end of their review' })
  readonly reviewUntil?: string;
  @ApiPropertyOptional({ type: 'object', additionalProperties: true, nullable: true })
  readonly crossCoreFullResponse?: object | null;
}

class StandingPayload {
  @ApiPropertyOptional() readonly authenticated?: boolean;
  @ApiPropertyOptional({ type: String, format: 'date-time', nullable: true }) readonly authenticatedAt?: string | null;
  @ApiPropertyOptional({ type: String, format: 'date-time', nullable: true }) readonly expiresAt?: string | null;
}

export class IdentityResult {
  @ApiProperty({
    type: IdentityPayload,
    nullable: true,
    description: "The vendor's own answer, or the vendor's decision in the same form",
  })
  readonly payload!: IdentityPayload | null;
  @ApiProperty(NO_ERRORS) readonly errors!: readonly never[];
}

export class StandingResult {
  @ApiProperty({
    type: StandingPayload,
    nullable: true,
    description: "The vendor's own answer, or the vendor's decision in the same form",
  })
  readonly payload!: StandingPayload | null;
  @ApiProperty(NO_ERRORS) readonly errors!: readonly never[];
}

export class ExpiryResult {
  @ApiProperty({
    oneOf: [{ type: 'string' }, { type: 'object', additionalProperties: true }],
    nullable: true,
    description: "The vendor's own answer: null, text or an object. Or `EXPIRED`",
    example: 'EXPIRED',
  })
  readonly payload!: unknown;
  @ApiProperty(NO_ERRORS) readonly errors!: readonly never[];
}

class StoredPayload {
  @ApiProperty() readonly success!: true;
}

export class StoredResult {
  @ApiProperty({ type: StoredPayload }) readonly payload!: StoredPayload;
  @ApiProperty(NO_ERRORS) readonly errors!: readonly never[];
}
