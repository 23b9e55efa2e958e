import { Body, Controller, Get, Param, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiBody, ApiOperation, ApiSecurity, ApiTags } from '@nestjs/swagger';
import { ChangesState } from '../../../../platform/http/changes-state.js';
import { Limited } from '../../../../platform/http/limited.js';
import { AnswerRegistration } from '../../application/answer-registration.js';
import { RegisterParty } from '../../application/register-party.js';
import { codeIn, PartyKbaBody, PartyOtpBody, positionsIn } from './answer-bodies.js';
import { CurrentCall, type PartyCall } from './party-call.js';
import { ApiAnswer, ApiIdentityStep } from './party-result.js';
import { applicantOf, RegistrationBody } from './registration-body.js';

/** Registration of renters on the direct API (docs/contract/direct.md#registration). A renter registers again once the confirmation is over. */
@ApiTags('renters')
@ApiSecurity('api-key')
@Controller('api/idv/renters/:renterId')
export class RentersController {
  constructor(private readonly commands: CommandBus) {}

  @Post()
  @Limited({ by: ['submitsPerMinute', 'submitsPerHourPerPerson', 'smsPerHour', 'smsPerDay', 'vendorShare'] })
  @ApiOperation({ summary: 'Register a renter' })
  @ApiBody({ type: RegistrationBody })
  @ApiIdentityStep()
  async register(
    @Param('renterId') id: string,
    @Body() body: RegistrationBody,
    @CurrentCall() call: PartyCall,
  ): Promise<string> {
    const applicant = applicantOf('CONSUMER', body);
    const registering = new RegisterParty(
      { named: { kind: 'renter', id }, applicant, body: JSON.stringify(body), sessionId: call.name },
      call.context,
    );
    return call.answered(await this.commands.execute(registering));
  }

  @Post('otp')
  @Limited({ by: ['stepUpAttempts', 'vendorShare'] })
  @ApiOperation({ summary: 'Answer with the code from the SMS' })
  @ApiBody({ type: PartyOtpBody })
  @ApiAnswer()
  async otp(
    @Param('renterId') id: string,
    @Body() body: PartyOtpBody,
    @CurrentCall() call: PartyCall,
  ): Promise<string> {
    const answering = new AnswerRegistration(
      { named: { kind: 'renter', id }, attemptId: call.name, given: codeIn(body) },
      call.context,
    );
    return call.answered(await this.commands.execute(answering));
  }

  @Get('otp/resend')
  @Limited({ by: ['otpResendInterval', 'smsPerHour', 'smsPerDay', 'vendorShare'] })
  @ChangesState()
  @ApiOperation({ summary: 'Have another code sent' })
  @ApiIdentityStep()
  async resend(@Param('renterId') id: string, @CurrentCall() call: PartyCall): Promise<string> {
    const resending = new AnswerRegistration(
      { named: { kind: 'renter', id }, attemptId: call.name, given: { method: 'resend' } },
      call.context,
    );
    return call.answered(await this.commands.execute(resending));
  }

  @Post('kba')
  @Limited({ by: ['stepUpAttempts', 'vendorShare'] })
  @ApiOperation({ summary: 'Answer the questions' })
  @ApiBody({ type: PartyKbaBody })
  @ApiAnswer()
  async kba(
    @Param('renterId') id: string,
    @Body() body: PartyKbaBody,
    @CurrentCall() call: PartyCall,
  ): Promise<string> {
    const answering = new AnswerRegistration(
      { named: { kind: 'renter', id }, attemptId: call.name, given: positionsIn(body) },
      call.context,
    );
    return call.answered(await this.commands.execute(answering));
  }
}
