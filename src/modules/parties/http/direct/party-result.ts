// Descriptions of replies about parties. The replies contain the identity vendor's answers unchanged (docs/contract/direct.md#passthrough).
import { applyDecorators, HttpCode } from '@nestjs/common';
import { ApiOkResponse, ApiProperty, ApiPropertyOptional, ApiResponse } from '@nestjs/swagger';
import { ApiRefusals } from '../../../../surfaces/direct/refusals.js';

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
  @ApiPropertyOptional() readonly success?: boolean;
  @ApiPropertyOptional({ description: 'Whether the identity is confirmed' }) readonly userAuthenticated?: boolean;
  @ApiPropertyOptional({ description: 'Once the identity is confirmed' }) readonly UserToken?: string;
  @ApiPropertyOptional() readonly authSession?: string;
  @ApiPropertyOptional({ description: 'A code was sent' }) readonly otpEnabled?: boolean;
  @ApiPropertyOptional({ description: 'Questions are asked' }) readonly kiqEnabled?: boolean;
  @ApiPropertyOptional() readonly clientReferenceId?: string;
  @ApiPropertyOptional({ type: KbaQuestionSet, nullable: true }) readonly kba?: KbaQuestionSet | null;
  @ApiPropertyOptional({ type: Object, nullable: true }) readonly crossCoreFullResponse?: object | null;
}

class StandingPayload {
  @ApiPropertyOptional() readonly authenticated?: boolean;
  @ApiPropertyOptional({ type: String, format: 'date-time', nullable: true }) readonly authenticatedAt?: string | null;
  @ApiPropertyOptional({ type: String, format: 'date-time', nullable: true }) readonly expiresAt?: string | null;
}

const NO_ERRORS = { type: 'array', maxItems: 0, items: {} } as const;

class IdentityResult {
  @ApiProperty({ type: IdentityPayload, nullable: true, description: "The vendor's own answer" })
  readonly payload!: IdentityPayload | null;
  @ApiProperty(NO_ERRORS) readonly errors!: readonly never[];
}

class StandingResult {
  @ApiProperty({ type: StandingPayload, nullable: true, description: "The vendor's own answer" })
  readonly payload!: StandingPayload | null;
  @ApiProperty(NO_ERRORS) readonly errors!: readonly never[];
}

class ExpiryResult {
  @ApiProperty({ type: Object, nullable: true, description: "The vendor's own answer: null, text or an object" })
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

/** The refusals of each route that calls the vendor about a party. */
const refusals = ApiRefusals(401, 409, 413, 422, 423, 502, 504);

/** A step that leads to a challenge or a confirmation. */
export const ApiIdentityStep = (): MethodDecorator =>
  applyDecorators(HttpCode(200), refusals, ApiOkResponse({ type: IdentityResult }));

/** An answer to a challenge. The reply to a wrong answer has the body of a success, with status 422. */
export const ApiAnswer = (): MethodDecorator =>
  applyDecorators(
    ApiIdentityStep(),
    ApiResponse({ status: 422, description: 'Wrong; another answer may follow', type: IdentityResult }),
  );

export const ApiStanding = (): MethodDecorator => applyDecorators(refusals, ApiOkResponse({ type: StandingResult }));
export const ApiExpiry = (): MethodDecorator => applyDecorators(refusals, ApiOkResponse({ type: ExpiryResult }));
