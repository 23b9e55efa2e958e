// Authentication of agents and organizations that are registered on the direct API (docs/contract/direct.md#re-authentication).
import { Body, Controller, Get, Header, Injectable, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiBody, ApiOperation, ApiSecurity, ApiTags } from '@nestjs/swagger';
import { ChangesState } from '../../../../platform/http/changes-state.js';
import { Limited } from '../../../../platform/http/limited.js';
import { LookAfterAuthentication } from '../../application/look-after-authentication.js';
import type { NamedParty } from '../../application/party-access.js';
import { Reauthenticate } from '../../application/reauthenticate.js';
import { codeIn, PartyKbaBody, PartyOtpBody, positionsIn } from './answer-bodies.js';
import { CurrentCall, IdIn, type PartyCall } from './party-call.js';
import { ApiAnswer, ApiExpiry, ApiIdentityStep, ApiStanding } from './party-result.js';
import { DeviceBody, deviceOf } from './registration-body.js';

@Injectable()
abstract class AuthenticationController {
  protected abstract readonly kind: NamedParty['kind'];

  constructor(private readonly commands: CommandBus) {}

  @Get('status')
  @Limited({ by: ['vendorShare'] })
  @Header('cache-control', 'no-store')
  @ApiOperation({ summary: 'Ask the vendor whether the authentication is still valid' })
  @ApiStanding()
  status(id: string, @CurrentCall() call: PartyCall): Promise<string> {
    return this.lookAfter(id, 'status', call);
  }

  @Get('expire')
  @Limited({ by: ['vendorShare'] })
  @ChangesState()
  @ApiOperation({ summary: 'End the authentication at once' })
  @ApiExpiry()
  expire(id: string, @CurrentCall() call: PartyCall): Promise<string> {
    return this.lookAfter(id, 'expiry', call);
  }

  @Post('kba')
  @Limited({ by: ['stepUpAttempts', 'vendorShare'] })
  @ApiOperation({ summary: 'Answer the questions of the challenge' })
  @ApiBody({ type: PartyKbaBody })
  @ApiAnswer()
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
  @ApiOperation({ summary: 'Authenticate again: ask for a challenge' })
  @ApiBody({ type: DeviceBody })
  @ApiIdentityStep()
  authenticate(id: string, @Body() body: DeviceBody, @CurrentCall() call: PartyCall): Promise<string> {
    return this.reauthenticate(id, { method: 'start', device: deviceOf(body) }, call);
  }

  @Post('otp')
  @Limited({ by: ['stepUpAttempts', 'vendorShare'] })
  @ApiOperation({ summary: 'Answer the challenge with the code from the SMS' })
  @ApiBody({ type: PartyOtpBody })
  @ApiAnswer()
  otp(id: string, @Body() body: PartyOtpBody, @CurrentCall() call: PartyCall): Promise<string> {
    return this.reauthenticate(id, codeIn(body), call);
  }

  @Get('otp/resend')
  @Limited({ by: ['smsPerHour', 'smsPerDay', 'vendorShare'] })
  @ChangesState()
  @ApiOperation({ summary: 'Have another code of the challenge sent' })
  @ApiIdentityStep()
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
  @ApiOperation({ summary: 'Authenticate again: ask for a challenge' })
  @ApiIdentityStep()
  authenticate(id: string, @CurrentCall() call: PartyCall): Promise<string> {
    return this.reauthenticate(id, { method: 'start', device: {} }, call);
  }
}
