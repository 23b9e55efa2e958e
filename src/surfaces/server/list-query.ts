// The query and the reply that all lists of the server API share (docs/contract/server.md#lists).
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, isISO8601, IsOptional, Matches, MaxLength, MinLength, ValidateBy } from 'class-validator';
import type { Principal } from '../../platform/http/principal.js';
import type { AskedPage } from '../../published/account-lists.js';
import { Limit, limitIn } from '../wire/limit.js';

const SIZES = { byDefault: 20, most: 100 };
const ZONED = /(?:Z|[+-]\d\d:\d\d)$/i;
const YEAR_9999 = Date.UTC(10_000, 0) - 1;

/** A filter with a closed set of values. A repeated parameter arrives as a list and is refused, and so is an empty one. */
export function OneOf(values: readonly string[]): PropertyDecorator {
  return (target, name) => {
    ApiPropertyOptional({ type: String, enum: values })(target, name);
    IsOptional()(target, name);
    IsIn(values, { message: `must be one of ${values.join(', ')}, given once` })(target, name);
  };
}

/** The integrator's own id of a session, as the grant takes it. */
export function ExternalId(): PropertyDecorator {
  return (target, name) => {
    ApiPropertyOptional({ description: 'The `external_id` of the session grant; 1 to 255 characters' })(target, name);
    IsOptional()(target, name);
    MaxLength(255, { message: 'must have at most 255 characters' })(target, name);
    MinLength(1, { message: 'must have at least one character, given once' })(target, name);
  };
}

function Time(description: string): PropertyDecorator {
  return (target, name) => {
    ApiPropertyOptional({ type: String, format: 'date-time', description })(target, name);
    IsOptional()(target, name);
    const message = 'must be a time in ISO 8601 with its zone, such as 2026-01-31T12:00:00Z, given once';
    ValidateBy({ name: 'isTime', validator: { validate: isTime, defaultMessage: () => message } })(target, name);
  };
}

export class PageQuery {
  @Limit(SIZES)
  readonly limit?: string;

  @ApiPropertyOptional({
    description: 'The `next_cursor` of the page before, with the same filters. Absent: the newest page',
  })
  @IsOptional()
  @Matches(/^[A-Za-z0-9_-]{1,400}$/, { message: 'must be the next_cursor of a page, given once' })
  readonly cursor?: string;
}

export class AccountQuery extends PageQuery {
  @ApiPropertyOptional({
    format: 'uuid',
    description: 'The account, or a direct child account, whose list is read. Any other id is 404',
  })
  @IsOptional()
  @Matches(/^[^]+$/, { message: 'must be the id of an account, given once' })
  readonly account_id?: string;
}

/** The query of a list that is ordered by the time when its entries were made. */
export class ListQuery extends AccountQuery {
  @Time('Only entries that were made after this time')
  readonly created_after?: string;

  @Time('Only entries that were made before this time')
  readonly created_before?: string;
}

export class ListPageResult {
  @ApiProperty({ enum: ['list'] }) readonly object!: 'list';
  @ApiProperty({ type: String, nullable: true, description: 'Send it as `cursor`. Null at the end' })
  readonly next_cursor!: string | null;
}

export class ListResult extends ListPageResult {
  @ApiProperty({ type: 'integer', description: 'The number of entries in the whole list' })
  readonly total!: number;
}

/** `list` names the list. All parameters but those of the page are its filters. */
export function askedPage(query: ListQuery, { accountId, environment }: Principal, list: string): AskedPage {
  const { limit: _, cursor = null, account_id, created_after, created_before, ...filters } = query;
  return {
    caller: { accountId, environment },
    account: account_id ?? null,
    list: JSON.stringify([list, Object.entries(filters).sort()]),
    cursor,
    from: created_after === undefined ? null : timeOf(created_after, 1),
    to: created_before === undefined ? null : timeOf(created_before),
    limit: limitOf(query),
  };
}

export function limitOf({ limit }: PageQuery): number {
  return limitIn(limit, SIZES);
}

function isTime(text: unknown): boolean {
  return isISO8601(text, { strict: true }) && ZONED.test(String(text)) && !Number.isNaN(Date.parse(String(text)));
}

/** ISO 8601 UTC, with a year of four digits, so that the times sort as texts. */
function timeOf(text: string, laterMs = 0): string {
  return new Date(Math.max(0, Math.min(Date.parse(text) + laterMs, YEAR_9999))).toISOString();
}
