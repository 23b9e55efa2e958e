import { Body, Controller, Get, Header, Param, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiBody, ApiOperation, ApiSecurity, ApiTags } from '@nestjs/swagger';
import { ChangesState } from '../../../../platform/http/changes-state.js';
import { Limited } from '../../../../platform/http/limited.js';
import { AnswerReauthentication } from '../../application/answer-reauthentication.js';
import { AnswerRegistration } from '../../application/answer-registration.js';
import { LookAfterAuthentication } from '../../application/look-after-authentication.js';
import { RegisterParty } from '../../application/register-party.js';
import { StartReauthentication } from '../../application/start-reauthentication.js';
import { codeIn, PartyKbaBody, PartyOtpBody, positionsIn } from './answer-bodies.js';
import { CurrentCall, type PartyCall } from './party-call.js';
import { ApiAnswer, ApiExpiry, ApiIdentityStep, ApiStanding } from './party-result.js';
import { applicantOf, DeviceBody, deviceOf, RegistrationBody } from './registration-body.js';

/** Registration and authentication of agents on the direct API (docs/contract/direct.md#registration, #re-authentication). */
@ApiTags('agents')
@ApiSecurity('api-key')
@Controller('api/idv/agents/:agentId')
export class AgentsController {
  constructor(private readonly commands: CommandBus) {}

  @Post()
  @Limited({ by: ['submitsPerMinute', 'submitsPerHourPerPerson', 'smsPerHour', 'smsPerDay', 'vendorShare'] })
  @ApiOperation({ summary: 'Register an agent' })
  @ApiBody({ type: RegistrationBody })
  @ApiIdentityStep()
  async register(
    @Param('agentId') id: string,
    @Body() body: RegistrationBody,
    @CurrentCall() call: PartyCall,
  ): Promise<string> {
    const applicant = applicantOf('AGENT', body);
    const registering = new RegisterParty(
      { named: { kind: 'agent', id }, applicant, body: JSON.stringify(body), sessionId: call.name },
      call.context,
    );
    return call.answered(await this.commands.execute(registering));
  }

  @Post('otp')
  @Limited({ by: ['stepUpAttempts', 'vendorShare'] })
  @ApiOperation({ summary: 'Answer with the code from the SMS' })
  @ApiBody({ type: PartyOtpBody })
  @ApiAnswer()
  async otp(@Param('agentId') id: string, @Body() body: PartyOtpBody, @CurrentCall() call: PartyCall): Promise<string> {
    const answering = new AnswerRegistration(
      { named: { kind: 'agent', id }, attemptId: call.name, given: codeIn(body) },
      call.context,
    );
    return call.answered(await this.commands.execute(answering));
  }

  @Get('otp/resend')
  @Limited({ by: ['otpResendInterval', 'smsPerHour', 'smsPerDay', 'vendorShare'] })
  @ChangesState()
  @ApiOperation({ summary: 'Have another code sent' })
  @ApiIdentityStep()
  async resend(@Param('agentId') id: string, @CurrentCall() call: PartyCall): Promise<string> {
    const resending = new AnswerRegistration(
      { named: { kind: 'agent', id }, attemptId: call.name, given: { method: 'resend' } },
      call.context,
    );
    return call.answered(await this.commands.execute(resending));
  }

  @Post('kba')
  @Limited({ by: ['stepUpAttempts', 'vendorShare'] })
  @ApiOperation({ summary: 'Answer the questions' })
  @ApiBody({ type: PartyKbaBody })
  @ApiAnswer()
  async kba(@Param('agentId') id: string, @Body() body: PartyKbaBody, @CurrentCall() call: PartyCall): Promise<string> {
    const answering = new AnswerRegistration(
      { named: { kind: 'agent', id }, attemptId: call.name, given: positionsIn(body) },
      call.context,
    );
    return call.answered(await this.commands.execute(answering));
  }

  @Get('auth/status')
  @Limited({ by: ['vendorShare'] })
  @Header('cache-control', 'no-store')
  @ApiOperation({ summary: 'Ask the vendor whether the authentication is still valid' })
  @ApiStanding()
  async status(@Param('agentId') id: string, @CurrentCall() call: PartyCall): Promise<string> {
    const asking = new LookAfterAuthentication(
      { named: { kind: 'agent', id }, asked: 'status', attemptId: call.name },
      call.context,
    );
    return call.answered(await this.commands.execute(asking));
  }

  @Get('auth/expire')
  @Limited({ by: ['vendorShare'] })
  @ChangesState()
  @ApiOperation({ summary: 'End the authentication at once' })
  @ApiExpiry()
  async expire(@Param('agentId') id: string, @CurrentCall() call: PartyCall): Promise<string> {
    const ending = new LookAfterAuthentication(
      { named: { kind: 'agent', id }, asked: 'expiry', attemptId: call.name },
      call.context,
    );
    return call.answered(await this.commands.execute(ending));
  }

  @Post('auth')
  @Limited({ by: ['smsPerHour', 'smsPerDay', 'vendorShare'] })
  @ApiOperation({ summary: 'Authenticate again: ask for a challenge' })
  @ApiBody({ type: DeviceBody })
  @ApiIdentityStep()
  async authenticate(
    @Param('agentId') id: string,
    @Body() body: DeviceBody,
    @CurrentCall() call: PartyCall,
  ): Promise<string> {
    const starting = new StartReauthentication(
      { named: { kind: 'agent', id }, attemptId: call.name, device: deviceOf(body) },
      call.context,
    );
    return call.answered(await this.commands.execute(starting));
  }

  @Post('auth/otp')
  @Limited({ by: ['stepUpAttempts', 'vendorShare'] })
  @ApiOperation({ summary: 'Answer the challenge with the code from the SMS' })
  @ApiBody({ type: PartyOtpBody })
  @ApiAnswer()
  async authOtp(
    @Param('agentId') id: string,
    @Body() body: PartyOtpBody,
    @CurrentCall() call: PartyCall,
  ): Promise<string> {
    const answering = new AnswerReauthentication(
      { named: { kind: 'agent', id }, attemptId: call.name, given: codeIn(body) },
      call.context,
    );
    return call.answered(await this.commands.execute(answering));
  }

  @Get('auth/otp/resend')
  @Limited({ by: ['smsPerHour', 'smsPerDay', 'vendorShare'] })
  @ChangesState()
  @ApiOperation({ summary: 'Have another code of the challenge sent' })
  @ApiIdentityStep()
  async authResend(@Param('agentId') id: string, @CurrentCall() call: PartyCall): Promise<string> {
    const resending = new AnswerReauthentication(
      { named: { kind: 'agent', id }, attemptId: call.name, given: { method: 'resend' } },
      call.context,
    );
    return call.answered(await this.commands.execute(resending));
  }

  @Post('auth/kba')
  @Limited({ by: ['stepUpAttempts', 'vendorShare'] })
  @ApiOperation({ summary: 'Answer the questions of the challenge' })
  @ApiBody({ type: PartyKbaBody })
  @ApiAnswer()
  async authKba(
    @Param('agentId') id: string,
    @Body() body: PartyKbaBody,
    @CurrentCall() call: PartyCall,
  ): Promise<string> {
    const answering = new AnswerReauthentication(
      { named: { kind: 'agent', id }, attemptId: call.name, given: positionsIn(body) },
      call.context,
    );
    return call.answered(await this.commands.execute(answering));
  }
}
