import { Body, Controller, Get, Header, Param, Post, Req, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiBody, ApiOperation, ApiSecurity, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ChangesState } from '../../../../platform/http/changes-state.js';
import { CurrentContext, type RequestContext } from '../../../../platform/http/principal.js';
import { AnswerReauthentication } from '../../application/answer-reauthentication.js';
import { AnswerRegistration } from '../../application/answer-registration.js';
import { LookAfterAuthentication } from '../../application/look-after-authentication.js';
import { RegisterParty } from '../../application/register-party.js';
import { StartReauthentication } from '../../application/start-reauthentication.js';
import { codeIn, KbaBody, OtpBody, positionsIn } from './answer-bodies.js';
import { answered, ApiAnswer, ApiExpiry, ApiIdentityStep, ApiStanding, nameFor } from './party-result.js';
import { applicantOf, DeviceBody, deviceOf, RegistrationBody } from './registration-body.js';

/** Registration and authentication of agents on the direct API (docs/contract/direct.md#registration, #re-authentication). */
@ApiTags('agents')
@ApiSecurity('api-key')
@Controller('api/idv/agents/:agentId')
export class AgentsController {
  constructor(private readonly commands: CommandBus) {}

  @Post()
  @ApiOperation({ summary: 'Register an agent' })
  @ApiBody({ type: RegistrationBody })
  @ApiIdentityStep()
  async register(
    @Param('agentId') id: string,
    @Body() body: RegistrationBody,
    @CurrentContext() context: RequestContext,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const applicant = applicantOf('AGENT', body);
    const registering = new RegisterParty(
      { kind: 'agent', id },
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
    @Param('agentId') id: string,
    @Body() body: OtpBody,
    @CurrentContext() context: RequestContext,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const answering = new AnswerRegistration({ kind: 'agent', id }, nameFor(request), codeIn(body), context);
    return answered(request, reply, await this.commands.execute(answering));
  }

  @Get('otp/resend')
  @ChangesState()
  @ApiOperation({ summary: 'Have another code sent' })
  @ApiIdentityStep()
  async resend(
    @Param('agentId') id: string,
    @CurrentContext() context: RequestContext,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const resending = new AnswerRegistration({ kind: 'agent', id }, nameFor(request), { method: 'resend' }, context);
    return answered(request, reply, await this.commands.execute(resending));
  }

  @Post('kba')
  @ApiOperation({ summary: 'Answer the questions' })
  @ApiBody({ type: KbaBody })
  @ApiAnswer()
  async kba(
    @Param('agentId') id: string,
    @Body() body: KbaBody,
    @CurrentContext() context: RequestContext,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const answering = new AnswerRegistration({ kind: 'agent', id }, nameFor(request), positionsIn(body), context);
    return answered(request, reply, await this.commands.execute(answering));
  }

  @Get('auth/status')
  @Header('cache-control', 'no-store')
  @ApiOperation({ summary: 'Whether the authentication holds, as the vendor says' })
  @ApiStanding()
  async status(
    @Param('agentId') id: string,
    @CurrentContext() context: RequestContext,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const asking = new LookAfterAuthentication({ kind: 'agent', id }, 'status', nameFor(request), context);
    return answered(request, reply, await this.commands.execute(asking));
  }

  @Get('auth/expire')
  @ChangesState()
  @ApiOperation({ summary: 'End the authentication at once' })
  @ApiExpiry()
  async expire(
    @Param('agentId') id: string,
    @CurrentContext() context: RequestContext,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const ending = new LookAfterAuthentication({ kind: 'agent', id }, 'expiry', nameFor(request), context);
    return answered(request, reply, await this.commands.execute(ending));
  }

  @Post('auth')
  @ApiOperation({ summary: 'Authenticate again: ask for a challenge' })
  @ApiBody({ type: DeviceBody })
  @ApiIdentityStep()
  async authenticate(
    @Param('agentId') id: string,
    @Body() body: DeviceBody,
    @CurrentContext() context: RequestContext,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const starting = new StartReauthentication({ kind: 'agent', id }, nameFor(request), deviceOf(body), context);
    return answered(request, reply, await this.commands.execute(starting));
  }

  @Post('auth/otp')
  @ApiOperation({ summary: 'Answer the challenge with the code from the SMS' })
  @ApiBody({ type: OtpBody })
  @ApiAnswer()
  async authOtp(
    @Param('agentId') id: string,
    @Body() body: OtpBody,
    @CurrentContext() context: RequestContext,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const answering = new AnswerReauthentication({ kind: 'agent', id }, nameFor(request), codeIn(body), context);
    return answered(request, reply, await this.commands.execute(answering));
  }

  @Get('auth/otp/resend')
  @ChangesState()
  @ApiOperation({ summary: 'Have another code of the challenge sent' })
  @ApiIdentityStep()
  async authResend(
    @Param('agentId') id: string,
    @CurrentContext() context: RequestContext,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const resending = new AnswerReauthentication(
      { kind: 'agent', id },
      nameFor(request),
      { method: 'resend' },
      context,
    );
    return answered(request, reply, await this.commands.execute(resending));
  }

  @Post('auth/kba')
  @ApiOperation({ summary: 'Answer the questions of the challenge' })
  @ApiBody({ type: KbaBody })
  @ApiAnswer()
  async authKba(
    @Param('agentId') id: string,
    @Body() body: KbaBody,
    @CurrentContext() context: RequestContext,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const answering = new AnswerReauthentication({ kind: 'agent', id }, nameFor(request), positionsIn(body), context);
    return answered(request, reply, await this.commands.execute(answering));
  }
}
