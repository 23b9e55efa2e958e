import { Body, Controller, Get, Header, Param, Post, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
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
import { Operation } from '../../../../surfaces/openapi/operation.js';
import { AnswerStepUp } from '../../application/answer-step-up.js';
import { ExpireSession } from '../../application/expire-session.js';
import { SubmitScreening } from '../../application/submit-screening.js';
import { ScreeningStatusReader } from '../../read/screening-status.js';
import type { SessionSummary } from '../../read/session-summary.js';
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
  @Operation({
    id: 'submitScreening',
    summary: 'Submit a person for identity verification',
    description:
      'Opens a screening session and asks the identity vendor. The status of the reply says what comes next. A grant opens one session.',
    body: SubmitBody,
    replies: { 200: SessionResult },
    errors: [
      'screening.field_format',
      'screening.ssn_missing',
      'screening.ssn_malformed',
      'screening.birth_date_impossible',
      'screening.minor',
      'screening.address_refused',
      'screening.person_blocked',
      'screening.already_registered',
      'screening.attempt_in_progress',
      'screening.session_spent',
      'screening.report_expired',
      'screening.identity_not_found',
      'screening.product_not_enabled',
      'account.not_live',
      'report.purpose_not_certified',
      'request.forbidden',
    ],
  })
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
  @Operation({
    id: 'answerScreeningCode',
    summary: 'Answer with the one-time code from the SMS',
    description:
      'A wrong code is no error: the reply has the attempts that remain. The last wrong one blocks the person.',
    body: OtpBody,
    replies: { 200: SessionResult },
    errors: [
      'screening.not_found',
      'screening.otp_unusable',
      'screening.attempt_in_progress',
      'screening.session_spent',
    ],
  })
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
  @Operation({
    id: 'resendScreeningCode',
    summary: 'Have another SMS code sent',
    description: 'The code before it is void. A session has a number of codes, with a wait between two of them.',
    replies: { 200: SessionResult },
    errors: [
      'screening.not_found',
      'screening.otp_unusable',
      'screening.attempt_in_progress',
      'screening.session_spent',
      'screening.person_blocked',
      'screening.too_many_resends',
      'screening.resend_too_early',
    ],
  })
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
  @Operation({
    id: 'answerScreeningQuestions',
    summary: 'Answer the knowledge questions',
    description:
      'One answer to each question of the session. A wrong set is no error: the reply has the attempts that remain.',
    body: KbaBody,
    replies: { 200: SessionResult },
    errors: [
      'screening.not_found',
      'screening.kba_unusable',
      'screening.attempt_in_progress',
      'screening.session_spent',
    ],
  })
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
  @Header('cache-control', 'no-store')
  @Operation({
    id: 'readScreeningStatus',
    summary: 'Read the status of the session and its payment',
    description: 'Reads only. Poll it, or let webhooks tell of the end.',
    replies: { 200: StatusResult },
    errors: ['screening.not_found'],
  })
  async status(@Param('id') id: string, @CurrentPrincipal() principal: Principal): Promise<StatusResult> {
    let found = await this.statuses.find(id, principal);
    if (found && this.statuses.isOverdue(found.doc, await this.clock.of(found.doc))) {
      await this.commands.execute(new ExpireSession(id));
      found = await this.statuses.find(id, principal);
    }
    if (!found) throw new DomainError('screening.not_found');
    return statusResult(id, found.doc, await this.statuses.keptSecrets(id, found.doc.session));
  }

  private async present(id: string, request: FastifyRequest, session: SessionSummary): Promise<SessionResult> {
    request.dataSubject = session.subjectId;
    return sessionResult(id, session, await this.statuses.keptSecrets(id, session));
  }
}
