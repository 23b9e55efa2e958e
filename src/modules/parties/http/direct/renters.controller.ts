import { Body, Controller, Get, Param, Post, Req, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiBody, ApiOperation, ApiSecurity, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ChangesState } from '../../../../platform/http/changes-state.js';
import { CurrentContext, type RequestContext } from '../../../../platform/http/principal.js';
import { AnswerRegistration } from '../../application/answer-registration.js';
import { RegisterParty } from '../../application/register-party.js';
import { codeIn, KbaBody, OtpBody, positionsIn } from './answer-bodies.js';
import { answered, ApiAnswer, ApiIdentityStep, nameFor } from './party-result.js';
import { applicantOf, RegistrationBody } from './registration-body.js';

/** Registration of renters on the direct API (docs/contract/direct.md#registration). A renter whose confirmation is over registers anew. */
@ApiTags('renters')
@ApiSecurity('api-key')
@Controller('api/idv/renters/:renterId')
export class RentersController {
  constructor(private readonly commands: CommandBus) {}

  @Post()
  @ApiOperation({ summary: 'Register a renter' })
  @ApiBody({ type: RegistrationBody })
  @ApiIdentityStep()
  async register(
    @Param('renterId') id: string,
    @Body() body: RegistrationBody,
    @CurrentContext() context: RequestContext,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const applicant = applicantOf('CONSUMER', body);
    const registering = new RegisterParty(
      { kind: 'renter', id },
      applicant,
      JSON.stringify(body),
      nameFor(request),
      context,
    );
    return answered(request, reply, await this.commands.execute(registering));
  }

  @Post('otp')
  @ApiOperation({ summary: 'Answer with the code from the SMS' })
  @ApiBody({ type: OtpBody })
  @ApiAnswer()
  async otp(
    @Param('renterId') id: string,
    @Body() body: OtpBody,
    @CurrentContext() context: RequestContext,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const answering = new AnswerRegistration({ kind: 'renter', id }, nameFor(request), codeIn(body), context);
    return answered(request, reply, await this.commands.execute(answering));
  }

  @Get('otp/resend')
  @ChangesState()
  @ApiOperation({ summary: 'Have another code sent' })
  @ApiIdentityStep()
  async resend(
    @Param('renterId') id: string,
    @CurrentContext() context: RequestContext,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const resending = new AnswerRegistration({ kind: 'renter', id }, nameFor(request), { method: 'resend' }, context);
    return answered(request, reply, await this.commands.execute(resending));
  }

  @Post('kba')
  @ApiOperation({ summary: 'Answer the questions' })
  @ApiBody({ type: KbaBody })
  @ApiAnswer()
  async kba(
    @Param('renterId') id: string,
    @Body() body: KbaBody,
    @CurrentContext() context: RequestContext,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const answering = new AnswerRegistration({ kind: 'renter', id }, nameFor(request), positionsIn(body), context);
    return answered(request, reply, await this.commands.execute(answering));
  }
}
