import { Body, Controller, Get, Header, Param, Post, Put, Query } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiBody, ApiOkResponse, ApiOperation, ApiQuery, ApiSecurity, ApiTags } from '@nestjs/swagger';
import { DomainError } from '../../../../kernel/domain-error.js';
import { ChangesState } from '../../../../platform/http/changes-state.js';
import { Limited } from '../../../../platform/http/limited.js';
import { CurrentContext, type RequestContext } from '../../../../platform/http/principal.js';
import { success } from '../../../../surfaces/direct/envelope.js';
import { ApiRefusals } from '../../../../surfaces/direct/refusals.js';
import { AnswerReauthentication } from '../../application/answer-reauthentication.js';
import { AnswerRegistration } from '../../application/answer-registration.js';
import { LookAfterAuthentication } from '../../application/look-after-authentication.js';
import { RegisterParty } from '../../application/register-party.js';
import { StartReauthentication } from '../../application/start-reauthentication.js';
import { StoreVendorToken } from '../../application/store-vendor-token.js';
import { PartyKbaBody, positionsIn } from './answer-bodies.js';
import { CurrentCall, type PartyCall } from './party-call.js';
import { ApiAnswer, ApiExpiry, ApiIdentityStep, ApiStanding, StoredResult } from './party-result.js';
import { applicantOf, RegistrationBody } from './registration-body.js';

/** Registration and authentication of organizations on the direct API (docs/contract/direct.md#registration, #re-authentication). */
@ApiTags('organizations')
@ApiSecurity('api-key')
@Controller('api/idv/organizations/:organizationId')
export class OrganizationsController {
  constructor(private readonly commands: CommandBus) {}

  @Post()
  @Limited({ by: ['submitsPerMinute', 'submitsPerHourPerPerson', 'smsPerHour', 'smsPerDay', 'vendorShare'] })
  @ApiOperation({ summary: 'Register an organization by its contact person' })
  @ApiBody({ type: RegistrationBody })
  @ApiIdentityStep()
  async register(
    @Param('organizationId') id: string,
    @Body() body: RegistrationBody,
    @CurrentCall() call: PartyCall,
  ): Promise<string> {
    const applicant = applicantOf('PMC', body);
    const named = { kind: 'organization', id } as const;
    const registering = new RegisterParty(
      { named, applicant, body: JSON.stringify(body), sessionId: call.name },
      call.context,
    );
    return call.answered(await this.commands.execute(registering));
  }

  @Post('kba')
  @Limited({ by: ['stepUpAttempts', 'vendorShare'] })
  @ApiOperation({ summary: 'Answer the questions' })
  @ApiBody({ type: PartyKbaBody })
  @ApiAnswer()
  async kba(
    @Param('organizationId') id: string,
    @Body() body: PartyKbaBody,
    @CurrentCall() call: PartyCall,
  ): Promise<string> {
    const answering = new AnswerRegistration(
      { named: { kind: 'organization', id }, attemptId: call.name, given: positionsIn(body) },
      call.context,
    );
    return call.answered(await this.commands.execute(answering));
  }

  /** This route is deprecated since the first version of the API, which explains the date (RFC 9745). */
  @Put()
  @Limited({ not: 'only a server of the account stores it, once for each organization' })
  @Header('deprecation', '@1735689600')
  @ApiOperation({ summary: 'Store a token of the vendor. This does not confirm the organization', deprecated: true })
  @ApiQuery({ name: 'token', type: String, required: true })
  @ApiRefusals(409, 423)
  @ApiOkResponse({ type: StoredResult })
  async store(
    @Param('organizationId') id: string,
    @Query('token') token: unknown,
    @CurrentContext() context: RequestContext,
  ): Promise<StoredResult> {
    if (typeof token !== 'string' || token === '')
      throw new DomainError('request.invalid', {
        field: 'token',
        details: [{ field: 'token', message: 'must be given once and must not be empty' }],
      });
    await this.commands.execute(new StoreVendorToken({ kind: 'organization', id }, token, context));
    return success({ success: true as const });
  }

  @Get('auth/status')
  @Limited({ by: ['vendorShare'] })
  @Header('cache-control', 'no-store')
  @ApiOperation({ summary: 'Ask the vendor whether the authentication is still valid' })
  @ApiStanding()
  async status(@Param('organizationId') id: string, @CurrentCall() call: PartyCall): Promise<string> {
    const asking = new LookAfterAuthentication(
      { named: { kind: 'organization', id }, asked: 'status', attemptId: call.name },
      call.context,
    );
    return call.answered(await this.commands.execute(asking));
  }

  @Get('auth/expire')
  @Limited({ by: ['vendorShare'] })
  @ChangesState()
  @ApiOperation({ summary: 'End the authentication at once' })
  @ApiExpiry()
  async expire(@Param('organizationId') id: string, @CurrentCall() call: PartyCall): Promise<string> {
    const ending = new LookAfterAuthentication(
      { named: { kind: 'organization', id }, asked: 'expiry', attemptId: call.name },
      call.context,
    );
    return call.answered(await this.commands.execute(ending));
  }

  /** A GET has no body, so the vendor gets no data of the device. */
  @Get('auth')
  @Limited({ by: ['smsPerHour', 'smsPerDay', 'vendorShare'] })
  @ChangesState()
  @ApiOperation({ summary: 'Authenticate again: ask for a challenge' })
  @ApiIdentityStep()
  async authenticate(@Param('organizationId') id: string, @CurrentCall() call: PartyCall): Promise<string> {
    const starting = new StartReauthentication(
      { named: { kind: 'organization', id }, attemptId: call.name, device: {} },
      call.context,
    );
    return call.answered(await this.commands.execute(starting));
  }

  @Post('auth/kba')
  @Limited({ by: ['stepUpAttempts', 'vendorShare'] })
  @ApiOperation({ summary: 'Answer the questions of the challenge' })
  @ApiBody({ type: PartyKbaBody })
  @ApiAnswer()
  async authKba(
    @Param('organizationId') id: string,
    @Body() body: PartyKbaBody,
    @CurrentCall() call: PartyCall,
  ): Promise<string> {
    const named = { kind: 'organization', id } as const;
    const answering = new AnswerReauthentication(
      { named, attemptId: call.name, given: positionsIn(body) },
      call.context,
    );
    return call.answered(await this.commands.execute(answering));
  }
}
