// Registration of renters, agents and organizations on the direct API (docs/contract/direct.md#registration).
import { Body, Controller, Get, Header, Injectable, Post, Put, Query } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiBody, ApiOkResponse, ApiOperation, ApiQuery, ApiSecurity, ApiTags } from '@nestjs/swagger';
import type { Applicant } from '../../../../kernel/applicant.js';
import { DomainError } from '../../../../kernel/domain-error.js';
import { ChangesState } from '../../../../platform/http/changes-state.js';
import { Limited } from '../../../../platform/http/limited.js';
import { CurrentContext, type RequestContext } from '../../../../platform/http/principal.js';
import { success } from '../../../../surfaces/direct/envelope.js';
import { ApiRefusals } from '../../../../surfaces/direct/refusals.js';
import type { GivenToParty } from '../../../../published/verifications.js';
import { AnswerRegistration } from '../../application/answer-registration.js';
import type { NamedParty } from '../../application/party-access.js';
import { RegisterParty } from '../../application/register-party.js';
import { StoreVendorToken } from '../../application/store-vendor-token.js';
import { codeIn, PartyKbaBody, PartyOtpBody, positionsIn } from './answer-bodies.js';
import { CurrentCall, IdIn, type PartyCall } from './party-call.js';
import { ApiAnswer, ApiIdentityStep, StoredResult } from './party-result.js';
import { applicantOf, RegistrationBody } from './registration-body.js';

@Injectable()
abstract class RegistrationController {
  protected abstract readonly kind: NamedParty['kind'];
  protected abstract readonly userType: Applicant['userType'];

  constructor(protected readonly commands: CommandBus) {}

  @Post()
  @Limited({ by: ['submitsPerMinute', 'submitsPerHourPerPerson', 'smsPerHour', 'smsPerDay', 'vendorShare'] })
  @ApiOperation({ summary: 'Register the party; an organization by its contact person' })
  @ApiBody({ type: RegistrationBody })
  @ApiIdentityStep()
  async register(id: string, @Body() body: RegistrationBody, @CurrentCall() call: PartyCall): Promise<string> {
    const applicant = applicantOf(this.userType, body);
    const named = { kind: this.kind, id };
    const request = { named, applicant, body: JSON.stringify(body), sessionId: call.name };
    return call.answered(await this.commands.execute(new RegisterParty(request, call.context)));
  }

  @Post('kba')
  @Limited({ by: ['stepUpAttempts', 'vendorShare'] })
  @ApiOperation({ summary: 'Answer the questions' })
  @ApiBody({ type: PartyKbaBody })
  @ApiAnswer()
  kba(id: string, @Body() body: PartyKbaBody, @CurrentCall() call: PartyCall): Promise<string> {
    return this.answer(id, positionsIn(body), call);
  }

  protected async answer(id: string, given: GivenToParty, call: PartyCall): Promise<string> {
    const request = { named: { kind: this.kind, id }, attemptId: call.name, given };
    return call.answered(await this.commands.execute(new AnswerRegistration(request, call.context)));
  }
}

abstract class CodeRegistrationController extends RegistrationController {
  @Post('otp')
  @Limited({ by: ['stepUpAttempts', 'vendorShare'] })
  @ApiOperation({ summary: 'Answer with the code from the SMS' })
  @ApiBody({ type: PartyOtpBody })
  @ApiAnswer()
  otp(id: string, @Body() body: PartyOtpBody, @CurrentCall() call: PartyCall): Promise<string> {
    return this.answer(id, codeIn(body), call);
  }

  @Get('otp/resend')
  @Limited({ by: ['otpResendInterval', 'smsPerHour', 'smsPerDay', 'vendorShare'] })
  @ChangesState()
  @ApiOperation({ summary: 'Have another code sent' })
  @ApiIdentityStep()
  resend(id: string, @CurrentCall() call: PartyCall): Promise<string> {
    return this.answer(id, { method: 'resend' }, call);
  }
}

/** A renter registers again when the confirmation has ended. */
@ApiTags('renters')
@ApiSecurity('api-key')
@IdIn('renterId')
@Controller('api/idv/renters/:renterId')
export class RentersController extends CodeRegistrationController {
  protected override readonly kind = 'renter';
  protected override readonly userType = 'CONSUMER';
}

@ApiTags('agents')
@ApiSecurity('api-key')
@IdIn('agentId')
@Controller('api/idv/agents/:agentId')
export class AgentsController extends CodeRegistrationController {
  protected override readonly kind = 'agent';
  protected override readonly userType = 'AGENT';
}

@ApiTags('organizations')
@ApiSecurity('api-key')
@IdIn('organizationId')
@Controller('api/idv/organizations/:organizationId')
export class OrganizationsController extends RegistrationController {
  protected override readonly kind = 'organization';
  protected override readonly userType = 'PMC';

  /** This route has been deprecated since the first version of the API, which explains the date (RFC 9745). */
  @Put()
  @Limited({ not: 'only a server of the account stores it, once for each organization' })
  @Header('deprecation', '@1735689600')
  @ApiOperation({ summary: 'Store a token of the vendor. This does not confirm the organization', deprecated: true })
  @ApiQuery({ name: 'token', type: String, required: true })
  @ApiRefusals(409, 423)
  @ApiOkResponse({ type: StoredResult })
  async store(
    id: string,
    @Query('token') token: unknown,
    @CurrentContext() context: RequestContext,
  ): Promise<StoredResult> {
    if (typeof token !== 'string' || token === '')
      throw new DomainError('request.invalid', {
        field: 'token',
        details: [{ field: 'token', message: 'must be given once and must not be empty' }],
      });
    await this.commands.execute(new StoreVendorToken({ kind: this.kind, id }, token, context));
    return success({ success: true as const });
  }
}
