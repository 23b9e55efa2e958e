// Registration of renters, agents and organizations on the direct API (docs/contract/direct.md#registration).
import { Body, Controller, Get, Injectable, Post, Put, Query } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiQuery, ApiSecurity, ApiTags } from '@nestjs/swagger';
import type { Applicant } from '../../../../kernel/applicant.js';
import { DomainError } from '../../../../kernel/domain-error.js';
import { ChangesState } from '../../../../platform/http/changes-state.js';
import { Limited } from '../../../../platform/http/limited.js';
import { CurrentContext, type RequestContext } from '../../../../platform/http/principal.js';
import { success } from '../../../../surfaces/direct/envelope.js';
import { ofParty, unknownIn } from '../../../../surfaces/direct/operations.js';
import type { GivenToParty } from '../../../../published/verifications.js';
import { Operation } from '../../../../surfaces/openapi/operation.js';
import { AnswerRegistration } from '../../application/answer-registration.js';
import type { NamedParty } from '../../application/party-access.js';
import { RegisterParty } from '../../application/register-party.js';
import { StoreVendorToken } from '../../application/store-vendor-token.js';
import { codeIn, PartyKbaBody, PartyOtpBody, positionsIn } from './answer-bodies.js';
import { CurrentCall, IdIn, type PartyCall } from './party-call.js';
import { IdentityResult, StoredResult } from './party-result.js';
import { applicantOf, RegistrationBody } from './registration-body.js';

@Injectable()
abstract class RegistrationController {
  protected abstract readonly kind: NamedParty['kind'];
  protected abstract readonly userType: Applicant['userType'];

  constructor(protected readonly commands: CommandBus) {}

  @Post()
  @Limited({ by: ['submitsPerMinute', 'submitsPerHourPerPerson', 'smsPerHour', 'smsPerDay', 'vendorShare'] })
  @Operation({
    id: ofParty('register'),
    summary: 'Register the party; an organization by its contact person',
    description: 'Asks the identity vendor, and passes its answer on. A code or questions may follow.',
    body: RegistrationBody,
    replies: { 200: IdentityResult },
    errors: (path) => [
      unknownIn(path),
      'party.locked',
      'party.already_confirmed',
      'screening.attempt_in_progress',
      'account.not_live',
    ],
  })
  async register(id: string, @Body() body: RegistrationBody, @CurrentCall() call: PartyCall): Promise<string> {
    const applicant = applicantOf(this.userType, body);
    const named = { kind: this.kind, id };
    const request = { named, applicant, body: JSON.stringify(body), sessionId: call.name };
    return call.answered(await this.commands.execute(new RegisterParty(request, call.context)));
  }

  @Post('kba')
  @Limited({ by: ['stepUpAttempts', 'vendorShare'] })
  @Operation({
    id: ofParty('answerQuestionsOf'),
    summary: 'Answer the questions',
    description: 'A wrong set has the body of a success and the status 422.',
    body: PartyKbaBody,
    replies: { 200: IdentityResult, 422: IdentityResult },
    errors: (path) => [
      unknownIn(path),
      'party.no_challenge',
      'party.locked',
      'screening.attempt_in_progress',
      'account.not_live',
      'screening.kba_unusable',
    ],
  })
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
  @Operation({
    id: ofParty('answerCodeOf'),
    summary: 'Answer with the code from the SMS',
    description: 'A wrong code has the body of a success and the status 422.',
    body: PartyOtpBody,
    replies: { 200: IdentityResult, 422: IdentityResult },
    errors: (path) => [
      unknownIn(path),
      'party.no_challenge',
      'party.locked',
      'screening.attempt_in_progress',
      'account.not_live',
      'screening.otp_unusable',
    ],
  })
  otp(id: string, @Body() body: PartyOtpBody, @CurrentCall() call: PartyCall): Promise<string> {
    return this.answer(id, codeIn(body), call);
  }

  @Get('otp/resend')
  @Limited({ by: ['otpResendInterval', 'smsPerHour', 'smsPerDay', 'vendorShare'] })
  @ChangesState()
  @Operation({
    id: ofParty('resendCodeOf'),
    summary: 'Have another code sent',
    description: 'This GET sends an SMS. The code before it is void.',
    replies: { 200: IdentityResult },
    errors: (path) => [
      unknownIn(path),
      'party.no_challenge',
      'party.locked',
      'screening.attempt_in_progress',
      'account.not_live',
      'screening.otp_unusable',
      'screening.too_many_resends',
      'screening.resend_too_early',
    ],
  })
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

  /** This route has been deprecated since the first version of the API, which explains the date. */
  @Put()
  @Limited({ not: 'only a server of the account stores it, once for each organization' })
  @ApiQuery({ name: 'token', schema: { type: 'string', minLength: 1 }, required: true })
  @Operation({
    id: 'storeVendorToken',
    summary: 'Store a token of the vendor. This does not confirm the organization',
    description: 'Kept for older callers. A registration stores the token by itself.',
    replies: { 200: StoredResult },
    deprecated: { since: '2025-01-01', goneAfter: '2027-12-31' },
    errors: ['party.locked', 'party.already_confirmed', 'screening.attempt_in_progress', 'account.not_live'],
  })
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
