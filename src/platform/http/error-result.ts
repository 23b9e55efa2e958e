// The error envelope in the generated API description.
import { applyDecorators } from '@nestjs/common';
import { ApiDefaultResponse, ApiHeader, ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { STRING_CODES } from '../../errors/string-codes.js';

class ErrorDetail {
  @ApiProperty() readonly field!: string;
  @ApiProperty() readonly message!: string;
}

class ErrorContent {
  @ApiProperty({ enum: [...new Set(Object.values(STRING_CODES).map(({ code }) => code))].sort() })
  readonly code!: string;
  @ApiProperty({ description: 'For developers; says the rule of the field at fault' }) readonly message!: string;
  @ApiPropertyOptional({ description: 'The first field at fault, in documented order' }) readonly field?: string;
  @ApiPropertyOptional({ type: [ErrorDetail], description: 'Every field at fault' })
  readonly details?: readonly ErrorDetail[];
  @ApiProperty() readonly recoverable!: boolean;
}

class ErrorResult {
  @ApiProperty({ type: ErrorContent }) readonly error!: ErrorContent;
  @ApiPropertyOptional({ format: 'uuid', description: 'The screening session that the refused submission has opened' })
  readonly sessionId?: string;
}

/** Every error of a string-code door looks like this; which code goes with which status is in docs/errors.md. */
export function ApiErrors(): ClassDecorator & MethodDecorator {
  return applyDecorators(ApiDefaultResponse({ type: ErrorResult, description: 'Any error' }));
}

/** For routes whose replies are kept under an idempotency key (docs/contract/general.md#idempotency-keys). */
export function ApiIdempotent(): MethodDecorator {
  return applyDecorators(
    ApiHeader({
      name: 'Idempotency-Key',
      required: false,
      description: 'The same key and body within 24 hours replays the first reply',
    }),
  );
}
