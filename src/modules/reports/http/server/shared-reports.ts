// The list of reports that were shared with the account (docs/contract/server.md#lists).
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import { ListQuery, ListResult } from '../../../../surfaces/server/list-query.js';
import type { ReportSharesReader } from '../../read/report-shares.js';

type Listed = Awaited<ReturnType<ReportSharesReader['sharedWith']>>['items'][number];

export class SharedReportsQuery extends ListQuery {
  @ApiProperty({
    type: String,
    enum: ['true'],
    description: 'Only reports that were shared with the account are listed',
  })
  @IsIn(['true'], { message: 'must be true, given once' })
  readonly shared!: 'true';
}

class SharedReportResult {
  @ApiProperty({ format: 'uuid' }) readonly report_id!: string;
  @ApiProperty({ format: 'uuid' }) readonly session_id!: string;
  @ApiProperty({ type: String, format: 'uuid', nullable: true, description: 'The account of the session' })
  readonly account_id!: string | null;
  @ApiProperty({ format: 'uuid', description: 'The account that may see the report' })
  readonly recipient_account_id!: string;
  @ApiProperty({ enum: ['SHARED', 'REVOKED', 'EXPIRED'] }) readonly status!: 'SHARED' | 'REVOKED' | 'EXPIRED';
  @ApiProperty({ format: 'date-time' }) readonly shared_at!: string;
  @ApiProperty({ format: 'date-time', description: 'End of the time in which the recipient may see the report' })
  readonly expires_at!: string;
  @ApiPropertyOptional({ format: 'date-time', description: 'Present for a REVOKED share' })
  readonly revoked_at?: string;
}

export class SharedReportListResult extends ListResult {
  @ApiProperty({ type: [SharedReportResult], description: 'Newest first' })
  readonly data!: SharedReportResult[];
}

export function sharedReport({ doc }: Listed, now: Date): SharedReportResult {
  const { reportId, sessionId, accountId, recipientAccountId, status, sharedAt, expiresAt, revokedAt } = doc;
  const isOver = status === 'SHARED' && now >= new Date(expiresAt);
  return {
    report_id: reportId,
    session_id: sessionId,
    account_id: accountId,
    recipient_account_id: recipientAccountId,
    status: isOver ? 'EXPIRED' : status,
    shared_at: sharedAt,
    expires_at: expiresAt,
    ...(revokedAt !== null && { revoked_at: revokedAt }),
  };
}
