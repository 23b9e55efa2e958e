// The disclosures of a session's report, as servers get them (docs/contract/server.md#disclosures).
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { END_USER_TYPES, type EndUserType } from '../../../../kernel/end-user-type.js';
import { PERMISSIBLE_PURPOSES, type PermissiblePurpose } from '../../../../kernel/permissible-purpose.js';
import type { Disclosures } from '../../read/disclosures.js';
import { OFFICIAL_SUMMARY } from '../platform/disclosures-result.js';

class ServerReadResult {
  @ApiProperty({ format: 'date-time' }) readonly at!: string;
  @ApiProperty({ format: 'uuid' }) readonly account_id!: string;
  @ApiProperty({
    enum: ['PAGE', 'SERVER'],
    description: 'PAGE: on a page of the account. SERVER: by one of its servers',
  })
  readonly reader!: 'PAGE' | 'SERVER';
  @ApiProperty({ enum: PERMISSIBLE_PURPOSES }) readonly purpose!: PermissiblePurpose;
  @ApiProperty({ type: String, enum: END_USER_TYPES, nullable: true }) readonly end_user_type!: EndUserType | null;
  @ApiProperty({ enum: ['json', 'html', 'score'] }) readonly format!: 'json' | 'html' | 'score';
}

class ServerShareResult {
  @ApiProperty({ format: 'uuid' }) readonly recipient_account_id!: string;
  @ApiProperty({ enum: ['SHARED', 'REVOKED', 'EXPIRED'] }) readonly status!: 'SHARED' | 'REVOKED' | 'EXPIRED';
  @ApiProperty({ type: String, enum: PERMISSIBLE_PURPOSES, nullable: true, description: 'Null for older shares' })
  readonly purpose!: PermissiblePurpose | null;
  @ApiProperty({ format: 'date-time' }) readonly shared_at!: string;
  @ApiProperty({ format: 'date-time' }) readonly expires_at!: string;
  @ApiPropertyOptional({ format: 'date-time', description: 'Present for a REVOKED share' })
  readonly revoked_at?: string;
}

class ServerSourceResult {
  @ApiProperty({ enum: ['IDENTITY', 'CREDIT_REPORT'] }) readonly kind!: 'IDENTITY' | 'CREDIT_REPORT';
  @ApiProperty({ description: 'Id of the vendor', example: 'idv' }) readonly vendor!: string;
  @ApiProperty({ format: 'date-time' }) readonly at!: string;
}

export class ServerDisclosuresResult {
  @ApiProperty({ format: 'uuid' }) readonly session_id!: string;
  @ApiProperty({ type: [ServerReadResult], description: 'The newest first, at most 1,000' })
  readonly reads!: readonly ServerReadResult[];
  @ApiProperty({ type: [ServerShareResult], description: 'The newest first' })
  readonly shares!: readonly ServerShareResult[];
  @ApiProperty({ type: [ServerSourceResult] }) readonly sources!: readonly ServerSourceResult[];
  @ApiProperty({ format: 'uri', description: 'The official summary of the rights of the person' })
  readonly rights_url!: string;
}

export function serverDisclosures({ sessionId, reads, shares, sources }: Disclosures): ServerDisclosuresResult {
  return {
    session_id: sessionId,
    reads: reads.map(({ at, by, reader, purpose, endUserType, format }) => ({
      at,
      account_id: by.accountId,
      reader,
      purpose,
      end_user_type: endUserType,
      format,
    })),
    shares: shares.map(({ with: { accountId }, status, purpose, sharedAt, expiresAt, revokedAt }) => ({
      recipient_account_id: accountId,
      status,
      purpose,
      shared_at: sharedAt,
      expires_at: expiresAt,
      ...(revokedAt !== null && { revoked_at: revokedAt }),
    })),
    sources,
    rights_url: OFFICIAL_SUMMARY,
  };
}
