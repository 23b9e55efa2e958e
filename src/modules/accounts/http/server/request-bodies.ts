// Query and reply of GET /v1/requests, in their wire form (docs/contract/server.md#request-log).
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, IsString, Matches, MaxLength } from 'class-validator';
import type { LoggedRequest, RequestFilter, RequestPage } from '../../read/recent-requests.js';
import { Limit, limitIn } from '../../../../surfaces/wire/limit.js';

const SIZES = { byDefault: 100, most: 1_000 };
const ONCE = { message: 'must be given once' };
const IDEMPOTENCY = ['executed', 'replayed', 'refused'] as const;

/** A repeated parameter arrives as a list and is refused. */
export class RequestsQuery {
  @ApiPropertyOptional({ description: 'The `next_after` of an earlier page. Absent: the newest requests' })
  @IsOptional()
  @Matches(/^\d{1,15}-\d{1,15}(?:\.\d{1,15}-\d{1,15})?$/, { message: 'must be the next_after of a page' })
  @IsString(ONCE)
  readonly after?: string;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 100,
    maximum: 599,
    description: 'Only requests with this HTTP status',
  })
  @IsOptional()
  @Matches(/^[1-5]\d\d$/, { message: 'must be an HTTP status from 100 to 599' })
  @IsString(ONCE)
  readonly status?: string;

  @ApiPropertyOptional({ description: 'Only requests of this route', example: '/screening/submit' })
  @IsOptional()
  @MaxLength(200, { message: 'must have at most 200 characters' })
  @IsString(ONCE)
  readonly route?: string;

  @Limit(SIZES)
  readonly limit?: string;
}

export class RequestResult {
  @ApiProperty({ format: 'date-time', description: 'The time of the reply' }) readonly at!: string;
  @ApiProperty({ description: 'Service-Request-Id of the reply' }) readonly request_id!: string;
  @ApiProperty({ example: 'POST' }) readonly method!: string;
  @ApiProperty({ description: 'The template of the route', example: '/screening/:id/status' }) readonly route!: string;
  @ApiProperty({ type: 'integer', example: 404 }) readonly status!: number;
  @ApiProperty({ type: String, nullable: true, example: 'SCREENING_NOT_FOUND' }) readonly code!: string | null;
  @ApiProperty({ type: 'integer', description: 'Milliseconds' }) readonly duration_ms!: number;
  @ApiProperty({
    type: String,
    nullable: true,
    description: "Null for a request of a dashboard user, or with another account's key",
  })
  readonly key_id!: string | null;
  @ApiProperty({
    type: String,
    enum: [...IDEMPOTENCY, null],
    nullable: true,
    description: 'Null when the request had no idempotency key',
  })
  readonly idempotency!: (typeof IDEMPOTENCY)[number] | null;
}

export class RequestList {
  @ApiProperty({ enum: ['list'] }) readonly object!: 'list';
  @ApiProperty({ type: [RequestResult] }) readonly data!: RequestResult[];
  @ApiProperty({ description: 'Send it as `after` to read on' }) readonly next_after!: string;
  @ApiProperty() readonly has_more!: boolean;
}

export function limitOf({ limit }: RequestsQuery): number {
  return limitIn(limit, SIZES);
}

export function filterOf({ status, route }: RequestsQuery): RequestFilter {
  return { ...(status !== undefined && { status: Number(status) }), ...(route !== undefined && { route }) };
}

/** A page of a parent may act for its child. The child does not see the key of the parent. */
export function requestList({ requests, next, hasMore }: RequestPage, ownKeys: ReadonlySet<string>): RequestList {
  const data = requests.map((request) => requestResult(request, ownKeys));
  return { object: 'list', data, next_after: next, has_more: hasMore };
}

function requestResult(
  { requestId, durationMs, keyId, ...request }: LoggedRequest,
  ownKeys: ReadonlySet<string>,
): RequestResult {
  const { at, method, route, status, code, idempotency } = request;
  return {
    at,
    request_id: requestId,
    method,
    route,
    status,
    code,
    duration_ms: durationMs,
    key_id: keyId !== null && ownKeys.has(keyId) ? keyId : null,
    idempotency,
  };
}
