// The wire form of the event feed (docs/contract/server.md#the-event-feed).
import { ApiProperty } from '@nestjs/swagger';
import type { Environment } from '../../../../kernel/environment.js';
import { EVENT_CATALOGUE } from '../../../../published/events.js';
import { FEED_EVENT } from '../../../../surfaces/openapi/webhooks.js';
import type { FeedHead, FeedPage } from '../../read/feed.js';

const DIGEST = { description: 'SHA-256, lowercase hex', example: '0'.repeat(64) };
const CHILD_OR_NULL = { type: String, format: 'uuid', nullable: true } as const;
const EVENT_ID_OR_NULL = { type: String, nullable: true, description: 'Null when the feed has no event' } as const;

export class EventResult {
  @ApiProperty({ example: 'evt_01890000-0000-8000-8000-000000000000' }) readonly id!: string;
  @ApiProperty({ enum: Object.keys(EVENT_CATALOGUE) }) readonly type!: string;
  @ApiProperty({ type: 'integer', enum: [1] }) readonly schema_version!: 1;
  @ApiProperty({ format: 'date-time' }) readonly occurred_at!: string;
  @ApiProperty({ enum: ['live', 'test'] }) readonly environment!: Environment;
  @ApiProperty({ format: 'uuid' }) readonly account_id!: string;
  @ApiProperty({ type: Object, additionalProperties: true, description: 'The fields of the type, see docs/events.md' })
  readonly data!: object;
}

class FeedEntryResult {
  @ApiProperty({ type: 'integer', description: 'The place in the feed: 1, 2, 3 and so on' }) readonly sequence!: number;
  @ApiProperty({ ...DIGEST, description: 'SHA-256 over the digest before and the body of the event, lowercase hex' })
  readonly digest!: string;
  @ApiProperty({ ...FEED_EVENT, description: 'See docs/events.md' })
  readonly event!: FeedPage['entries'][number]['event'];
}

class HeadResult {
  @ApiProperty({ type: 'integer', description: '0 when the feed has no event' }) readonly sequence!: number;
  @ApiProperty(EVENT_ID_OR_NULL) readonly event_id!: string | null;
  @ApiProperty(DIGEST) readonly digest!: string;
}

export class EventPageResult {
  @ApiProperty({ enum: ['list'] }) readonly object!: 'list';
  @ApiProperty({ type: [FeedEntryResult], description: 'Oldest first' }) readonly data!: readonly FeedEntryResult[];
  @ApiProperty({ type: HeadResult, description: 'The newest event of the feed' }) readonly head!: HeadResult;
  @ApiProperty({ description: 'Whether another page follows' }) readonly has_more!: boolean;
  @ApiProperty({
    type: 'integer',
    description: 'The `after` of the next page: the sequence up to which this page has looked',
  })
  readonly next_after!: number;
}

export class FeedHeadResult extends HeadResult {
  @ApiProperty({ format: 'uuid' }) readonly account_id!: string;
  @ApiProperty({ enum: ['live', 'test'] }) readonly environment!: Environment;
}

export class FeedHeadsResult {
  @ApiProperty({ enum: ['list'] }) readonly object!: 'list';
  @ApiProperty({ type: [FeedHeadResult], description: 'The account first, then its direct children' })
  readonly data!: readonly FeedHeadResult[];
  @ApiProperty({ description: 'Whether another page follows' }) readonly has_more!: boolean;
  @ApiProperty({ ...CHILD_OR_NULL, description: 'The `after` of the next page; null at the end' })
  readonly next_after!: string | null;
}

type Fields<Result> = Pick<Result, keyof Result>;

function headResult({ sequence, eventId, digest }: FeedHead): Fields<HeadResult> {
  return { sequence, event_id: eventId, digest };
}

export function eventPageResult({ entries, head, hasMore, through }: FeedPage): EventPageResult {
  return { object: 'list', data: entries, head: headResult(head), has_more: hasMore, next_after: through };
}

export function feedHeadResult(accountId: string, environment: Environment, head: FeedHead): FeedHeadResult {
  return { account_id: accountId, environment, ...headResult(head) };
}
