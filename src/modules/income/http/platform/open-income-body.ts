// The body of POST /voie/sessions (docs/contract/platform.md#income-sessions). The body may be absent.
import { ApiPropertyOptional } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsIn,
  IsInt,
  IsISO8601,
  IsOptional,
  IsString,
  Matches,
  Max,
  Min,
} from 'class-validator';
import { DomainError } from '../../../../kernel/domain-error.js';
import { derivedId } from '../../../../kernel/ids.js';
import { type Language, TERMS_VERSION } from '../../../../kernel/terms.js';
import type { GivenConsent } from '../../../../published/consents.js';
import type { IncomeInquiry } from '../../application/open-income-session.js';

type Routes = IncomeInquiry['routes'];
const ROUTES: Routes = ['PAYROLL', 'BANKING'];
const MAX_ATTEMPT = 100;
const attemptRule = { message: `must be a whole number from 1 to ${MAX_ATTEMPT}` };
const timeRule = { message: 'must be an ISO 8601 time with a zone' };
const rule = { message: 'must list PAYROLL, BANKING or both, each once' };

export class OpenIncomeBody {
  @ApiPropertyOptional({
    format: 'uuid',
    description: 'A verified screening session of the account. The income is that of its person',
  })
  @IsOptional()
  @IsString({ message: 'must be a string' })
  readonly screening_session_id?: string;

  @ApiPropertyOptional({
    enum: ROUTES,
    isArray: true,
    default: ROUTES,
    description: 'The routes, in the order in which they are tried',
  })
  @IsOptional()
  @IsIn(ROUTES, { each: true, ...rule })
  @ArrayUnique(rule)
  @ArrayMinSize(1, rule)
  @ArrayMaxSize(ROUTES.length, rule)
  @IsArray(rule)
  readonly routes?: Routes;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: MAX_ATTEMPT,
    description:
      'Number of the income session within its screening. A session with a known number is returned, not opened again',
  })
  @IsOptional()
  @Max(MAX_ATTEMPT, attemptRule)
  @Min(1, attemptRule)
  @IsInt(attemptRule)
  readonly attempt?: number;

  @ApiPropertyOptional({
    format: 'date-time',
    description: 'When the person agreed to the inquiry. Absent: you assert that you have the consent of the person',
  })
  @IsOptional()
  @Matches(/(?:Z|[+-]\d\d:\d\d)$/, timeRule)
  @IsISO8601({ strict: true }, timeRule)
  @IsString(timeRule)
  readonly terms_accepted_at?: string;

  @ApiPropertyOptional({ description: 'Version of the text that the person agreed to' })
  @IsOptional()
  @Matches(TERMS_VERSION, { message: 'must have 1 to 40 letters, digits, dots, dashes and underscores' })
  @IsString({ message: 'must be a string' })
  readonly terms_version?: string;

  @ApiPropertyOptional({ enum: ['en', 'es'], description: 'Language of that text' })
  @IsOptional()
  @IsIn(['en', 'es'], { message: 'must be en or es' })
  @IsString({ message: 'must be a string' })
  readonly terms_language?: Language;
}

/**
 * The id of a session with a number, so that a later request finds the same session. Null: the caller wants a new session. The sessions of a grant
 * have numbers of their own, because only that grant may read them.
 */
export function numbered(body: OpenIncomeBody, grantId: string | null): string | null {
  const { screening_session_id: screening = null, attempt = null } = body;
  if (attempt === null) return null;
  if (screening === null) {
    const field = 'attempt';
    throw new DomainError('request.invalid', { field, details: [{ field, message: 'needs a screening session' }] });
  }
  return derivedId('income-attempt', screening, grantId ?? '', String(attempt));
}

/** The consent to the inquiry, as the page gave it. */
export function consentIn({
  terms_accepted_at: acceptedAt,
  terms_version: termsVersion,
  terms_language: termsLanguage,
}: OpenIncomeBody): GivenConsent {
  return {
    ...(acceptedAt !== undefined && { acceptedAt: new Date(acceptedAt).toISOString() }),
    ...(termsVersion !== undefined && { termsVersion }),
    ...(termsLanguage !== undefined && { termsLanguage }),
  };
}

export function inquiryOf(body: OpenIncomeBody): IncomeInquiry {
  return { screeningSessionId: body.screening_session_id ?? null, routes: body.routes ?? ROUTES };
}
