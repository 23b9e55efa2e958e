import { Body, Controller, Get, Header, HttpCode, Param, Post, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiBearerAuth, ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { Clock } from '../../../../kernel/clock.js';
import { DomainError } from '../../../../kernel/domain-error.js';
import { nameFor } from '../../../../platform/http/idempotency.js';
import { clientAddressOf } from '../../../../platform/http/client-address.js';
import { Limited } from '../../../../platform/http/limited.js';
import {
  CurrentContext,
  CurrentPrincipal,
  type Principal,
  type RequestContext,
} from '../../../../platform/http/principal.js';
import { AnswerStepUp } from '../../application/answer-step-up.js';
import { ExpireSession } from '../../application/expire-session.js';
import { SubmitScreening } from '../../application/submit-screening.js';
import { ScreeningStatusReader, type SessionSummary } from '../../read/screening-status.js';
import { codeIn, KbaBody, OtpBody } from './answer-bodies.js';
import { SessionResult, sessionResult, StatusResult, statusResult } from './session-result.js';
import { applicantOf, saidIn, SubmitBody } from './submit-body.js';

/** Identity screening on the platform API (docs/contract/platform.md#screening-session). */
@ApiTags('screening')
@ApiBearerAuth('platform-token')
@Controller('screening')
export class ScreeningController {
  constructor(
    private readonly commands: CommandBus,
    private readonly statuses: ScreeningStatusReader,
    private readonly clock: Clock,
  ) {}

  @Post('submit')
  @Limited({
    by: [
      'submitsPerMinutePerAddress',
      'submitsPerMinute',
      'submitsPerHourPerPerson',
      'smsPerHour',
      'smsPerDay',
      'vendorShare',
    ],
  })
  @ApiOperation({ summary: 'Submit a person for identity verification' })
  @HttpCode(200)
  @ApiBody({ type: SubmitBody })
  @ApiOkResponse({ type: SessionResult })
  async submit(
    @Body() body: SubmitBody,
    @CurrentContext() context: RequestContext,
    @Req() request: FastifyRequest,
  ): Promise<SessionResult> {
    const command = new SubmitScreening(
      {
        sessionId: nameFor(request),
        applicant: applicantOf(body),
        grantId: request.principal?.grantId ?? null,
        clientAddress: clientAddressOf(request),
        partyId: null,
        said: saidIn(body),
      },
      context,
    );
    const { sessionId, session } = await this.commands.execute(command);
    return this.present(sessionId, request, session);
  }

  @Post(':id/otp')
  @Limited({ by: ['stepUpAttempts', 'wrongAnswersPerHourPerAddress', 'vendorShare'] })
  @ApiOperation({ summary: 'Answer with the one-time code from the SMS' })
  @HttpCode(200)
  @ApiBody({ type: OtpBody })
  @ApiOkResponse({ type: SessionResult })
  async otp(
    @Param('id') id: string,
    @Body() body: OtpBody,
    @CurrentContext() context: RequestContext,
    @Req() request: FastifyRequest,
  ): Promise<SessionResult> {
    const given = { method: 'otp', code: codeIn(body) } as const;
    const answer = new AnswerStepUp(
      { sessionId: id, attemptId: nameFor(request), given, clientAddress: clientAddressOf(request) },
      context,
    );
    return this.present(id, request, await this.commands.execute(answer));
  }

  @Post(':id/otp/resend')
  @Limited({ by: ['otpResendInterval', 'smsPerHour', 'smsPerDay', 'vendorShare'] })
  @ApiOperation({ summary: 'Have another SMS code sent' })
  @HttpCode(200)
  @ApiOkResponse({ type: SessionResult })
  async resend(
    @Param('id') id: string,
    @CurrentContext() context: RequestContext,
    @Req() request: FastifyRequest,
  ): Promise<SessionResult> {
    const resend = new AnswerStepUp(
      { sessionId: id, attemptId: nameFor(request), given: { method: 'resend' }, clientAddress: null },
      context,
    );
    return this.present(id, request, await this.commands.execute(resend));
  }

  @Post(':id/kba')
  @Limited({ by: ['stepUpAttempts', 'wrongAnswersPerHourPerAddress', 'vendorShare'] })
  @ApiOperation({ summary: 'Answer the knowledge questions' })
  @HttpCode(200)
  @ApiBody({ type: KbaBody })
  @ApiOkResponse({ type: SessionResult })
  async kba(
    @Param('id') id: string,
    @Body() body: KbaBody,
    @CurrentContext() context: RequestContext,
    @Req() request: FastifyRequest,
  ): Promise<SessionResult> {
    const given = { method: 'kba', answers: body.answers } as const;
    const answer = new AnswerStepUp(
      { sessionId: id, attemptId: nameFor(request), given, clientAddress: clientAddressOf(request) },
      context,
    );
    return this.present(id, request, await this.commands.execute(answer));
  }

  @Get(':id/status')
  @Limited({ not: 'it reads; the end of an overdue session is recorded once' })
  @ApiOperation({ summary: 'Read the status of the session and its payment' })
  @Header('cache-control', 'no-store')
  @ApiOkResponse({ type: StatusResult })
  async status(@Param('id') id: string, @CurrentPrincipal() principal: Principal): Promise<StatusResult> {
    let found = await this.statuses.find(id, principal);
    if (found && this.statuses.isOverdue(found.doc, this.clock.now())) {
      await this.commands.execute(new ExpireSession(id));
      found = await this.statuses.find(id, principal);
    }
    if (!found) throw new DomainError('screening.not_found');
    return statusResult(id, found.doc, await this.statuses.openQuestions(id, found.doc.session));
  }

  private async present(id: string, request: FastifyRequest, session: SessionSummary): Promise<SessionResult> {
    request.dataSubject = session.subjectId;
    return sessionResult(id, session, await this.statuses.openQuestions(id, session));
  }
}
