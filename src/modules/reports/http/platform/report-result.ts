// Replies of the report routes, for the API description.
import { ApiProperty, ApiPropertyOptional, ApiQuery } from '@nestjs/swagger';
import type { ErrorCode } from '../../../../kernel/error-codes.js';
import type { Sharing } from '../../application/read-sharing.js';
import { CreditReport, ScoreResult } from './credit-report.js';
import { PAGE_LANGUAGES } from './report-page/wording.js';

class ReportResult {
  @ApiProperty({ format: 'uuid' }) readonly id!: string;
  @ApiProperty({ format: 'uuid' }) readonly sessionId!: string;
  @ApiProperty({ type: ScoreResult, nullable: true, description: 'Null for a file that is too thin for one' })
  readonly score!: ScoreResult | null;
  @ApiProperty({ type: CreditReport, description: "The bureau's own report" }) readonly report!: CreditReport;
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
export const REPORT = { 'application/json': ReportResult, 'text/html': 'text' } as const;

/** The errors of the checks before a report, in their order (docs/contract/platform.md#checks-before-a-report). */
export const REPORT_CHECKS: readonly ErrorCode[] = [
  'screening.not_found',
  'report.access_denied',
  'sharing.not_found',
  'sharing.revoked',
  'sharing.expired',
  'screening.person_blocked',
  'report.too_many_attempts',
  'screening.identity_not_found',
  'report.not_completed',
  'report.consumer_has_not_paid',
  'report.expired',
  'account.not_live',
  'report.purpose_not_certified',
];

/** The errors of routes that may pull the report from the bureau. */
export const REPORT_PULL: readonly ErrorCode[] = [
  'report.credit_exhausted',
  'report.file_frozen',
  'report.file_blocked',
  'report.no_record',
  'report.file_condition',
];

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
