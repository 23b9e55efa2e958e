import { Controller, Get, Header, Query, Req } from '@nestjs/common';
import { ApiSecurity, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { DomainError } from '../../../../kernel/domain-error.js';
import { together } from '../../../../kernel/together.js';
import { ReadsOnly } from '../../../../platform/http/limited.js';
import { CurrentPrincipal, type Principal } from '../../../../platform/http/principal.js';
import { Accounts } from '../../../../published/accounts.js';
import { Operation } from '../../../../surfaces/openapi/operation.js';
import { FeedReader } from '../../read/feed.js';
import {
  EventPageResult,
  eventPageResult,
  type FeedHeadResult,
  feedHeadResult,
  FeedHeadsResult,
} from './event-results.js';
import { childrenPageOf, EventsQuery, feedQueryOf, HeadsQuery, waitMsOf } from './events-query.js';

/** The number of heads that are read at the same time. */
const HEADS_TOGETHER = 16;

/** The event feeds of the account and its direct children (docs/contract/server.md#the-event-feed). */
@ApiTags('events')
@ApiSecurity('secret-key')
@Controller('v1/events')
export class EventsController {
  constructor(
    private readonly feeds: FeedReader,
    private readonly accounts: Accounts,
  ) {}

  @Get()
  @ReadsOnly({ unnoted: true })
  @Operation({
    id: 'listEvents',
    summary: 'Read published events in their order, or wait for the next one',
    description: 'Reads only. The digests prove that no event is missing, when all types are read.',
    query: EventsQuery,
    replies: { 200: EventPageResult },
    errors: ['request.not_found'],
  })
  @Header('cache-control', 'no-store')
  async page(
    @Query() query: EventsQuery,
    @CurrentPrincipal() { accountId, environment }: Principal,
    @Req() request: FastifyRequest,
  ): Promise<EventPageResult> {
    const { account_id: owner = accountId } = query;
    if (!(await this.accounts.mayRead(accountId, owner))) throw new DomainError('request.not_found');
    const left = new AbortController();
    const leave = (): void => left.abort();
    request.raw.socket.once('close', leave);
    try {
      const feed = { accountId: owner, environment };
      const patience = { readerId: accountId, waitMs: waitMsOf(query), signal: left.signal };
      return eventPageResult(await this.feeds.pageWithin(feed, feedQueryOf(query), patience));
    } finally {
      request.raw.socket.off('close', leave);
    }
  }

  @Get('heads')
  @ReadsOnly({ unnoted: true })
  @Operation({
    id: 'listEventHeads',
    summary: 'The newest event of the account and of each direct child',
    description: 'Reads only. The first page begins with the account.',
    query: HeadsQuery,
    replies: { 200: FeedHeadsResult },
    errors: [],
  })
  @Header('cache-control', 'no-store')
  async heads(
    @Query() query: HeadsQuery,
    @CurrentPrincipal() { accountId, environment }: Principal,
  ): Promise<FeedHeadsResult> {
    const { ids, next } = await this.accounts.childrenOf(accountId, childrenPageOf(query));
    const data: FeedHeadResult[] = [];
    const owners = [...(query.after === undefined ? [accountId] : []), ...ids];
    await together([...owners.entries()], HEADS_TOGETHER, async ([place, id]) => {
      data[place] = feedHeadResult(id, environment, await this.feeds.head({ accountId: id, environment }));
    });
    return { object: 'list', data, has_more: next !== null, next_after: next };
  }
}
