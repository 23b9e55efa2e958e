import { Controller, Get, Header, Param, Query } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiSecurity, ApiTags } from '@nestjs/swagger';
import { Clock } from '../../../../kernel/clock.js';
import { DomainError } from '../../../../kernel/domain-error.js';
import { Limited, ReadsOnly } from '../../../../platform/http/limited.js';
import { CurrentPrincipal, type Principal } from '../../../../platform/http/principal.js';
import { AccountLists } from '../../../../published/account-lists.js';
import { Operation } from '../../../../surfaces/openapi/operation.js';
import { askedPage, PageQuery } from '../../../../surfaces/server/list-query.js';
import { ExpireSession } from '../../application/expire-session.js';
import { ScreeningLists } from '../../read/screening-lists.js';
import { ScreeningStatusReader } from '../../read/screening-status.js';
import { Timelines } from '../../read/timeline.js';
import {
  ScreeningListResult,
  ScreeningsQuery,
  ServerStatusResult,
  TimelineResult,
  timelineStepResult,
} from './screening-results.js';

type Found = NonNullable<Awaited<ReturnType<ScreeningStatusReader['findReadable']>>>;

/** Reads screenings of the account and its direct children, for servers with a secret key (docs/contract/server.md#readable-sessions). */
@ApiTags('screening')
@ApiSecurity('secret-key')
@Controller('v1/screenings')
export class ServerScreeningController {
  constructor(
    private readonly commands: CommandBus,
    private readonly statuses: ScreeningStatusReader,
    private readonly screenings: ScreeningLists,
    private readonly timelines: Timelines,
    private readonly lists: AccountLists,
    private readonly clock: Clock,
  ) {}

  @Get()
  @ReadsOnly()
  @Header('cache-control', 'no-store')
  @Operation({
    id: 'listScreenings',
    summary: 'List the sessions of the account or of a direct child, the newest first',
    description: 'Each entry is as the status of the session. `next_cursor` leads to the next page.',
    query: ScreeningsQuery,
    replies: { 200: ScreeningListResult },
    errors: ['request.not_found'],
  })
  async list(@Query() query: ScreeningsQuery, @CurrentPrincipal() principal: Principal): Promise<ScreeningListResult> {
    const { status, overall_status: overallStatus, user_type: userType, external_id: externalId } = query;
    return this.lists.page(
      askedPage(query, principal, 'screenings'),
      ({ owner, part }) => this.screenings.page({ ...owner, status, overallStatus, userType, externalId }, part),
      (found) => this.resultOf(found, principal),
    );
  }

  @Get(':session_id/status')
  @Limited({ not: 'it reads; the end of an overdue session is recorded once' })
  @Header('cache-control', 'no-store')
  @Operation({
    id: 'readScreeningStatusOnServer',
    summary: 'Read the status of a session and its payment',
    description: 'Sessions of the account and of its direct children.',
    replies: { 200: ServerStatusResult },
    errors: ['screening.not_found'],
  })
  async status(@Param('session_id') id: string, @CurrentPrincipal() principal: Principal): Promise<ServerStatusResult> {
    let found = await this.statuses.findReadable(id, principal);
    if (found && this.statuses.isOverdue(found.doc, await this.clock.of(found.doc))) {
      await this.commands.execute(new ExpireSession(id));
      found = await this.statuses.findReadable(id, principal);
    }
    if (!found) throw new DomainError('screening.not_found');
    return this.resultOf(found, principal);
  }

  @Get(':session_id/timeline')
  @ReadsOnly()
  @Header('cache-control', 'no-store')
  @Operation({
    id: 'readScreeningTimeline',
    summary: 'Read what happened in a session, the newest first',
    description: 'The steps of the session, of its payment and of its report. They contain no personal data.',
    query: PageQuery,
    replies: { 200: TimelineResult },
    errors: ['screening.not_found'],
  })
  async timeline(
    @Param('session_id') id: string,
    @Query() query: PageQuery,
    @CurrentPrincipal() principal: Principal,
  ): Promise<TimelineResult> {
    if (!(await this.statuses.findReadable(id, principal))) throw new DomainError('screening.not_found');
    const { total: _, ...page } = await this.lists.page(
      askedPage(query, principal, `timeline ${id}`),
      ({ part }) => this.timelines.page(id, part),
      timelineStepResult,
    );
    return page;
  }

  private async resultOf({ id, doc }: Found, principal: Principal): Promise<ServerStatusResult> {
    const { accountId, session, paymentStatus, overallStatus, createdAt, updatedAt } = doc;
    const reportExpiresAt = await this.statuses.reportExpiryOf(id);
    // A parent account does not see the unit addresses of its children.
    const unitAddress = accountId === principal.accountId ? await this.statuses.unitAddressOf(id, session) : null;
    return {
      session_id: id,
      status: session.status,
      verification_status: session.status,
      payment_status: paymentStatus,
      overall_status: overallStatus,
      user_type: session.userType,
      created_at: createdAt,
      updated_at: updatedAt,
      ...('review' in session && session.review !== null && { review_until: session.review.until }),
      ...(reportExpiresAt !== null && { report_expires_at: reportExpiresAt }),
      ...(unitAddress !== null && { unit_address: unitAddress }),
    };
  }
}
