// Replies of the report routes, for the API description.
import { applyDecorators } from '@nestjs/common';
import {
  ApiExtraModels,
  ApiOkResponse,
  ApiProperty,
  ApiPropertyOptional,
  ApiQuery,
  getSchemaPath,
} from '@nestjs/swagger';
import type { Sharing } from '../../application/read-sharing.js';
import { PAGE_LANGUAGES } from './report-page/wording.js';

class ScoreResult {
  @ApiProperty({ type: 'integer' }) readonly value!: number;
  @ApiProperty() readonly model!: string;
  @ApiProperty({ type: 'integer' }) readonly min!: number;
  @ApiProperty({ type: 'integer' }) readonly max!: number;
  @ApiProperty({ type: [String], description: 'The factors with the most weight, the most important first' })
  readonly factors!: readonly string[];
  @ApiProperty({ format: 'date' }) readonly date!: string;
}

class ReportResult {
  @ApiProperty({ format: 'uuid' }) readonly id!: string;
  @ApiProperty({ format: 'uuid' }) readonly sessionId!: string;
  @ApiProperty({ type: ScoreResult, nullable: true, description: 'Null for a file that is too thin for one' })
  readonly score!: ScoreResult | null;
  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description: 'The vendor report: consumer, tradeLines, publicRecords, inquiries, background, housingCourt',
  })
  readonly report!: object;
  @ApiProperty({ format: 'date-time' }) readonly generatedAt!: string;
  @ApiProperty({ format: 'date-time', description: 'End of the time in which the caller may see it' })
  readonly expiresAt!: string;
}

export function ApiPageLanguage(): MethodDecorator {
  return ApiQuery({
    name: 'language',
    required: false,
    enum: PAGE_LANGUAGES,
    description: 'Language of the page. Default: English',
  });
}

/** JSON, or the same data as a page. */
export function ApiReport(): MethodDecorator {
  return applyDecorators(
    ApiExtraModels(ReportResult),
    ApiPageLanguage(),
    ApiOkResponse({
      content: {
        'application/json': { schema: { $ref: getSchemaPath(ReportResult) } },
        'text/html': { schema: { type: 'string' } },
      },
    }),
  );
}

class ShareFacts {
  @ApiProperty({ format: 'uuid' }) readonly reportId!: string;
  @ApiProperty({ format: 'uuid' }) readonly sessionId!: string;
  @ApiProperty({ format: 'uuid' }) readonly recipientAccountId!: string;
}

export class ShareResult extends ShareFacts {
  @ApiProperty({ enum: ['SHARED'] }) readonly status!: 'SHARED';
  @ApiProperty({ format: 'date-time' }) readonly sharedAt!: string;
  @ApiProperty({ format: 'date-time', description: 'End of the time in which the recipient may see the report' })
  readonly expiresAt!: string;
}

export class RevokeResult extends ShareFacts {
  @ApiProperty({ enum: ['REVOKED'] }) readonly status!: 'REVOKED';
  @ApiProperty({ format: 'date-time' }) readonly revokedAt!: string;
  @ApiPropertyOptional({
    type: [String],
    format: 'uuid',
    description:
      'Where no account was named: all from which it was taken back, of which the fields above tell the first',
  })
  readonly recipientAccountIds?: readonly string[];
}

export class SharingResult {
  @ApiProperty({ enum: ['NOT_SHARED', 'SHARED', 'REVOKED', 'EXPIRED'] }) readonly status!: Sharing['status'];
  @ApiProperty({ type: String, format: 'uuid', nullable: true, description: 'Null until the report is shared' })
  readonly reportId!: string | null;
  @ApiProperty({ format: 'uuid', description: 'The recipient of a consent that names none' })
  readonly recipientAccountId!: string;
  @ApiProperty({ type: String, nullable: true, description: 'Name of that recipient, for people' })
  readonly recipientName!: string | null;
  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: "End of the recipient's time",
  })
  readonly expiresAt!: string | null;
  @ApiPropertyOptional({ format: 'date-time' }) readonly sharedAt?: string;
  @ApiPropertyOptional({ format: 'date-time' }) readonly revokedAt?: string;
}

export function sharingResult(sharing: Sharing): SharingResult {
  const { status, recipientAccountId, recipientName } = sharing;
  const recipient = { recipientAccountId, recipientName };
  if (sharing.status === 'NOT_SHARED') return { status, reportId: null, ...recipient, expiresAt: null };
  const { reportId, expiresAt, sharedAt } = sharing;
  const revoked = sharing.status === 'REVOKED' && { revokedAt: sharing.revokedAt };
  return { status, reportId, ...recipient, expiresAt, sharedAt, ...revoked };
}

export class PdfResult {
  @ApiProperty({ format: 'uri', description: 'Needs no token; valid until `expiresAt`' }) readonly url!: string;
  @ApiProperty({ format: 'date-time' }) readonly expiresAt!: string;
}
