// The body of POST /voie/sessions (docs/contract/platform.md#income-sessions); it may be left out altogether.
import { ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, ArrayMinSize, ArrayUnique, IsArray, IsIn, IsOptional, IsString } from 'class-validator';
import type { IncomeInquiry } from '../../application/open-income-session.js';

type Routes = IncomeInquiry['routes'];
const ROUTES: Routes = ['PAYROLL', 'BANKING'];
const rule = { message: 'must list PAYROLL, BANKING or both, each once' };

export class OpenIncomeBody {
  @ApiPropertyOptional({
    format: 'uuid',
    description: 'A verified screening session of the account: whose income it is',
  })
  @IsOptional()
  @IsString({ message: 'must be a string' })
  readonly screening_session_id?: string;

  @ApiPropertyOptional({
    enum: ROUTES,
    isArray: true,
    default: ROUTES,
    description: 'Ways to ask, in the order in which they are tried',
  })
  @IsOptional()
  @IsIn(ROUTES, { each: true, ...rule })
  @ArrayUnique(rule)
  @ArrayMinSize(1, rule)
  @ArrayMaxSize(ROUTES.length, rule)
  @IsArray(rule)
  readonly routes?: Routes;
}

export function inquiryOf(body: OpenIncomeBody): IncomeInquiry {
  return { screeningSessionId: body.screening_session_id ?? null, routes: body.routes ?? ROUTES };
}
