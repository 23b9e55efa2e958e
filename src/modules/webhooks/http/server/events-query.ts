// The query of a page of the event feed (docs/contract/server.md#the-event-feed).
import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, Matches, ValidateBy } from 'class-validator';
import type { ChildrenPage } from '../../../../published/accounts.js';
import { EVENT_CATALOGUE, type EventType } from '../../../../published/events.js';
import type { FeedQuery } from '../../read/feed.js';

export const EVENT_TYPES = Object.keys(EVENT_CATALOGUE) as readonly EventType[];
const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000;
const MAX_WAIT_SECONDS = 30;
const LIMIT_RULE = { message: 'must be a whole number from 1, given once' };

/** A repeated parameter arrives as a list and is refused. */
export class EventsQuery {
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    default: 0,
    description: 'The sequence of the last event that the caller has. The page has the events after it',
  })
  @IsOptional()
  @Matches(/^\d{1,15}$/, { message: 'must be a whole number from 0, given once' })
  readonly after?: string;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    default: DEFAULT_LIMIT,
    description: `More than ${MAX_LIMIT} counts as ${MAX_LIMIT}`,
  })
  @IsOptional()
  @Matches(/^0*[1-9]\d{0,14}$/, LIMIT_RULE)
  readonly limit?: string;

  @ApiPropertyOptional({
    type: String,
    description: 'Event types with commas between them. Absent: all types',
    example: 'screening.completed,screening.blocked',
  })
  @IsOptional()
  @ValidateBy({
    name: 'isTypeList',
    validator: {
      validate: (value) => typeof value === 'string' && value.split(',').every(isEventType),
      defaultMessage: () => `must be event types with commas between them, given once: ${EVENT_TYPES.join(', ')}`,
    },
  })
  readonly types?: string;

  @ApiPropertyOptional({
    format: 'uuid',
    description: 'The account, or a direct child account, whose events are read. Any other id is 404',
  })
  @IsOptional()
  @Matches(/^[^]+$/, { message: 'must be the id of an account, given once' })
  readonly account_id?: string;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    default: 0,
    description: `An empty page is answered only after this number of seconds. More than ${MAX_WAIT_SECONDS} counts as ${MAX_WAIT_SECONDS}`,
  })
  @IsOptional()
  @Matches(/^\d{1,15}$/, { message: 'must be a whole number of seconds from 0, given once' })
  readonly wait?: string;
}

/** A page of the heads of children. */
export class HeadsQuery {
  @ApiPropertyOptional({ format: 'uuid', description: 'The `next_after` of the page before' })
  @IsOptional()
  @Matches(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, { message: 'must be the id of an account, given once' })
  readonly after?: string;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    default: MAX_LIMIT,
    description: `The most children of a page. More than ${MAX_LIMIT} counts as ${MAX_LIMIT}`,
  })
  @IsOptional()
  @Matches(/^0*[1-9]\d{0,14}$/, LIMIT_RULE)
  readonly limit?: string;
}

export function childrenPageOf({ after, limit = String(MAX_LIMIT) }: HeadsQuery): ChildrenPage {
  return { after: after ?? null, limit: Math.min(Number(limit), MAX_LIMIT) };
}

function isEventType(type: string): boolean {
  return (EVENT_TYPES as readonly string[]).includes(type);
}

export function feedQueryOf({ after = '0', limit, types }: EventsQuery): FeedQuery {
  return {
    after: Number(after),
    limit: limit === undefined ? DEFAULT_LIMIT : Math.min(Number(limit), MAX_LIMIT),
    types: types === undefined ? null : types.split(','),
  };
}

export function waitMsOf({ wait = '0' }: EventsQuery): number {
  return Math.min(Number(wait), MAX_WAIT_SECONDS) * 1_000;
}
