import { Controller, Get, Header, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiQuery, ApiTags } from '@nestjs/swagger';
import { DomainError } from '../../../../kernel/domain-error.js';
import { ReadsOnly } from '../../../../platform/http/limited.js';
import { CurrentPrincipal, type Principal } from '../../../../platform/http/principal.js';
import { Operation } from '../../../../surfaces/openapi/operation.js';
import { ScreeningPolicy } from '../../application/screening-policy.js';
import { ScreeningOptionsReader } from '../../read/screening-options.js';
import { OptionsResult, optionsResult } from './options-result.js';

/** Gives a page the facts that it needs before a person types anything (docs/contract/platform.md#options). */
@ApiTags('screening')
@ApiBearerAuth('platform-token')
@Controller('screening/options')
export class OptionsController {
  constructor(
    private readonly options: ScreeningOptionsReader,
    private readonly policy: ScreeningPolicy,
  ) {}

  @Get()
  @ReadsOnly()
  @ApiQuery({
    name: 'language',
    required: false,
    enum: ['en', 'es'],
    description: 'Language of the terms. Default: English',
  })
  @Header('cache-control', 'no-store')
  @Operation({
    id: 'readOptions',
    summary: 'Read the choices of a page, the price and the terms',
    description: 'Everything that a page needs before it asks a person for anything.',
    replies: { 200: OptionsResult },
    errors: [],
  })
  async read(
    @Query('language') language: unknown,
    @CurrentPrincipal() { accountId, environment, grantId }: Principal,
  ): Promise<OptionsResult> {
    const options = await this.options.of(accountId, grantId ?? null, language === 'es' ? 'es' : 'en');
    if (options === null) throw new DomainError('request.unauthenticated');
    return optionsResult(options, environment, this.policy.limits.otpResendIntervalSeconds);
  }
}
