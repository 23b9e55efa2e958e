// Authentication of agents and organizations that are registered on the direct API (docs/contract/direct.md#re-authentication).
import { Body, Controller, Get, Header, Injectable, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiSecurity, ApiTags } from '@nestjs/swagger';
import { ChangesState } from '../../../../platform/http/changes-state.js';
import { Limited } from '../../../../platform/http/limited.js';
import { ofParty, unknownIn } from '../../../../surfaces/direct/operations.js';
import { Operation } from '../../../../surfaces/openapi/operation.js';
import { LookAfterAuthentication } from '../../application/look-after-authentication.js';
import type { NamedParty } from '../../application/party-access.js';
import { Reauthenticate } from '../../application/reauthenticate.js';
import { codeIn, PartyKbaBody, PartyOtpBody, positionsIn } from './answer-bodies.js';
import { CurrentCall, IdIn, type PartyCall } from './party-call.js';
import { ExpiryResult, IdentityResult, StandingResult } from './party-result.js';
import { DeviceBody, deviceOf } from './registration-body.js';

@Injectable()
abstract class AuthenticationController {
  protected abstract readonly kind: NamedParty['kind'];

  constructor(private readonly commands: CommandBus) {}

  @Get('status')
  @Limited({ by: ['vendorShare'] })
  @Header('cache-control', 'no-store')
  @Operation({
    id: ofParty('readAuthenticationOf'),
    summary: 'Ask the vendor whether the authentication is still valid',
    description: "The vendor's own answer, or its decision in the same form.",
    replies: { 200: StandingResult },
    errors: (path) => [unknownIn(path), 'party.token_missing', 'party.locked', 'account.not_live'],
  })
  status(id: string, @CurrentCall() call: PartyCall): Promise<string> {
    return this.lookAfter(id, 'status', call);
  }

  @Get('expire')
  @Limited({ by: ['vendorShare'] })
  @ChangesState()
  @Operation({
    id: ofParty('expireAuthenticationOf'),
    summary: 'End the authentication at once',
    description: "This GET changes the authentication. The reply has the vendor's own answer, or `EXPIRED`.",
    replies: { 200: ExpiryResult },
    errors: (path) => [unknownIn(path), 'party.token_missing', 'party.locked', 'account.not_live'],
  })
  expire(id: string, @CurrentCall() call: PartyCall): Promise<string> {
    return this.lookAfter(id, 'expiry', call);
  }

  @Post('kba')
  @Limited({ by: ['stepUpAttempts', 'vendorShare'] })
  @Operation({
    id: ofParty('answerAuthenticationQuestionsOf'),
    summary: 'Answer the questions of the challenge',
    description: 'A wrong set has the body of a success and the status 422.',
    body: PartyKbaBody,
    replies: { 200: IdentityResult, 422: IdentityResult },
    errors: (path) => [
      unknownIn(path),
      'party.no_challenge',
      'party.locked',
      'screening.attempt_in_progress',
      'account.not_live',
      'party.token_missing',
      'screening.kba_unusable',
    ],
  })
  kba(id: string, @Body() body: PartyKbaBody, @CurrentCall() call: PartyCall): Promise<string> {
    return this.reauthenticate(id, positionsIn(body), call);
  }

  private async lookAfter(id: string, asked: 'status' | 'expiry', call: PartyCall): Promise<string> {
    const request = { named: { kind: this.kind, id }, asked, attemptId: call.name };
    return call.answered(await this.commands.execute(new LookAfterAuthentication(request, call.context)));
  }

  protected async reauthenticate(
    id: string,
    step: Reauthenticate['request']['step'],
    call: PartyCall,
  ): Promise<string> {
    const request = { named: { kind: this.kind, id }, attemptId: call.name, step };
    return call.answered(await this.commands.execute(new Reauthenticate(request, call.context)));
  }
}

@ApiTags('agents')
@ApiSecurity('api-key')
@IdIn('agentId')
@Controller('api/idv/agents/:agentId/auth')
export class AgentAuthenticationController extends AuthenticationController {
  protected override readonly kind = 'agent';

  @Post()
  @Limited({ by: ['smsPerHour', 'smsPerDay', 'vendorShare'] })
  @Operation({
    id: ofParty('authenticate'),
    summary: 'Authenticate again: ask for a challenge',
    description: 'A party that was confirmed before proves again who it is.',
    body: DeviceBody,
    replies: { 200: IdentityResult },
    errors: (path) => [
      unknownIn(path),
      'party.no_challenge',
      'party.locked',
      'screening.attempt_in_progress',
      'account.not_live',
      'party.token_missing',
    ],
  })
  authenticate(id: string, @Body() body: DeviceBody, @CurrentCall() call: PartyCall): Promise<string> {
    return this.reauthenticate(id, { method: 'start', device: deviceOf(body) }, call);
  }

  @Post('otp')
  @Limited({ by: ['stepUpAttempts', 'vendorShare'] })
  @Operation({
    id: ofParty('answerAuthenticationCodeOf'),
    summary: 'Answer the challenge with the code from the SMS',
    description: 'A wrong code has the body of a success and the status 422.',
    body: PartyOtpBody,
    replies: { 200: IdentityResult, 422: IdentityResult },
    errors: (path) => [
      unknownIn(path),
      'party.no_challenge',
      'party.locked',
      'screening.attempt_in_progress',
      'account.not_live',
      'party.token_missing',
      'screening.otp_unusable',
    ],
  })
  otp(id: string, @Body() body: PartyOtpBody, @CurrentCall() call: PartyCall): Promise<string> {
    return this.reauthenticate(id, codeIn(body), call);
  }

  @Get('otp/resend')
  @Limited({ by: ['smsPerHour', 'smsPerDay', 'vendorShare'] })
  @ChangesState()
  @Operation({
    id: ofParty('resendAuthenticationCodeOf'),
    summary: 'Have another code of the challenge sent',
    description: 'This GET sends an SMS. The code before it is void.',
    replies: { 200: IdentityResult },
    errors: (path) => [
      unknownIn(path),
      'party.no_challenge',
      'party.locked',
      'screening.attempt_in_progress',
      'account.not_live',
      'party.token_missing',
      'screening.otp_unusable',
      'screening.too_many_resends',
      'screening.resend_too_early',
    ],
  })
  resend(id: string, @CurrentCall() call: PartyCall): Promise<string> {
    return this.reauthenticate(id, { method: 'resend' }, call);
  }
}

@ApiTags('organizations')
@ApiSecurity('api-key')
@IdIn('organizationId')
@Controller('api/idv/organizations/:organizationId/auth')
export class OrganizationAuthenticationController extends AuthenticationController {
  protected override readonly kind = 'organization';

  /** A GET has no body, so the vendor receives no data of the device. */
  @Get()
  @Limited({ by: ['smsPerHour', 'smsPerDay', 'vendorShare'] })
  @ChangesState()
  @Operation({
    id: ofParty('authenticate'),
    summary: 'Authenticate again: ask for a challenge',
    description: 'This GET begins a challenge of the contact person.',
    replies: { 200: IdentityResult },
    errors: (path) => [
      unknownIn(path),
      'party.no_challenge',
      'party.locked',
      'screening.attempt_in_progress',
      'account.not_live',
      'party.token_missing',
    ],
  })
  authenticate(id: string, @CurrentCall() call: PartyCall): Promise<string> {
    return this.reauthenticate(id, { method: 'start', device: {} }, call);
  }
}
