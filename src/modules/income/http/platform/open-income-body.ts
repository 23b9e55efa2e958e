// The body of POST /voie/sessions (docs/contract/platform.md#income-sessions). The body may be absent.
import { ApiPropertyOptional } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Max,
  Min,
} from 'class-validator';
import { DomainError } from '../../../../kernel/domain-error.js';
import { derivedId } from '../../../../kernel/ids.js';
import type { IncomeInquiry } from '../../application/open-income-session.js';

type Routes = IncomeInquiry['routes'];
const ROUTES: Routes = ['PAYROLL', 'BANKING'];
const MAX_ATTEMPT = 100;
const attemptRule = { message: `must be a whole number from 1 to ${MAX_ATTEMPT}` };
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

export function inquiryOf(body: OpenIncomeBody): IncomeInquiry {
  return { screeningSessionId: body.screening_session_id ?? null, routes: body.routes ?? ROUTES };
}
