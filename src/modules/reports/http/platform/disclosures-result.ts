// The disclosures of a session's report, as the platform API returns them (docs/contract/platform.md#disclosures).
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { END_USER_TYPES, type EndUserType } from '../../../../kernel/end-user-type.js';
import { PERMISSIBLE_PURPOSES, type PermissiblePurpose } from '../../../../kernel/permissible-purpose.js';
import type { DisclosedShare, Disclosures } from '../../read/disclosures.js';
import { PAGE_LANGUAGES, WORDINGS, type PageLanguage } from './report-page/wording.js';

/** The official summary of the rights under the Fair Credit Reporting Act. */
export const OFFICIAL_SUMMARY = 'https://www.consumerfinance.gov/learnmore/';

class DisclosedReadResult {
  @ApiProperty({ format: 'date-time' }) readonly at!: string;
  @ApiProperty({ format: 'uuid' }) readonly accountId!: string;
  @ApiProperty({ type: String, nullable: true, description: 'Name of that account, for people' })
  readonly accountName!: string | null;
  @ApiProperty({
    enum: ['PAGE', 'SERVER'],
    description: 'PAGE: on a page of the account, where the person may have looked. SERVER: by a server of the account',
  })
  readonly reader!: 'PAGE' | 'SERVER';
  @ApiProperty({ enum: PERMISSIBLE_PURPOSES }) readonly purpose!: PermissiblePurpose;
  @ApiProperty({ type: String, enum: END_USER_TYPES, nullable: true }) readonly endUserType!: EndUserType | null;
  @ApiProperty({ enum: ['json', 'html', 'score'], description: 'score: only the score' })
  readonly format!: 'json' | 'html' | 'score';
}

class StopBody {
  @ApiProperty({ format: 'uuid' }) readonly recipientAccountId!: string;
}

class StopResult {
  @ApiProperty({ enum: ['POST'] }) readonly method!: 'POST';
  @ApiProperty({ example: '/reports/01234567-89ab-7cde-8f01-23456789abcd/revoke-sharing' }) readonly path!: string;
  @ApiProperty({ type: StopBody }) readonly body!: StopBody;
}

class DisclosedShareResult {
  @ApiProperty({ format: 'uuid' }) readonly recipientAccountId!: string;
  @ApiProperty({ type: String, nullable: true, description: 'Name of that account, for people' })
  readonly recipientName!: string | null;
  @ApiProperty({ enum: ['SHARED', 'REVOKED', 'EXPIRED'] }) readonly status!: DisclosedShare['status'];
  @ApiProperty({ type: String, enum: PERMISSIBLE_PURPOSES, nullable: true, description: 'Null for older shares' })
  readonly purpose!: PermissiblePurpose | null;
  @ApiProperty({ format: 'date-time' }) readonly sharedAt!: string;
  @ApiProperty({ format: 'date-time' }) readonly expiresAt!: string;
  @ApiPropertyOptional({ format: 'date-time', description: 'Present for a REVOKED share' })
  readonly revokedAt?: string;
  @ApiProperty({
    type: StopResult,
    nullable: true,
    description: 'The request that stops the share; null if it has ended',
  })
  readonly stop!: StopResult | null;
}

class DisclosedSourceResult {
  @ApiProperty({ enum: ['IDENTITY', 'CREDIT_REPORT'] }) readonly kind!: 'IDENTITY' | 'CREDIT_REPORT';
  @ApiProperty({ description: 'Id of the vendor', example: 'idv' }) readonly vendor!: string;
  @ApiProperty({ format: 'date-time' }) readonly at!: string;
}

class RightsResult {
  @ApiProperty({ enum: PAGE_LANGUAGES }) readonly language!: PageLanguage;
  @ApiProperty() readonly title!: string;
  @ApiProperty() readonly lead!: string;
  @ApiProperty({ type: [String] }) readonly list!: readonly string[];
  @ApiProperty() readonly more!: string;
  @ApiProperty() readonly dispute!: string;
  @ApiProperty({ format: 'uri', description: 'The official summary of the Consumer Financial Protection Bureau' })
  readonly officialSummaryUrl!: string;
}

export class DisclosuresResult {
  @ApiProperty({ format: 'uuid' }) readonly sessionId!: string;
  @ApiProperty({ type: [DisclosedReadResult], description: 'The newest first, at most 1,000' })
  readonly reads!: readonly DisclosedReadResult[];
  @ApiProperty({ type: [DisclosedShareResult], description: 'The newest first' })
  readonly shares!: readonly DisclosedShareResult[];
  @ApiProperty({ type: [DisclosedSourceResult] }) readonly sources!: readonly DisclosedSourceResult[];
  @ApiProperty({ type: RightsResult }) readonly rights!: RightsResult;
}

export function disclosuresResult(
  { sessionId, reads, shares, sources }: Disclosures,
  language: PageLanguage,
): DisclosuresResult {
  return {
    sessionId,
    reads: reads.map(({ by, ...read }) => ({ ...read, accountId: by.accountId, accountName: by.name })),
    shares: shares.map((share) => shareResult(sessionId, share)),
    sources,
    rights: rightsIn(language),
  };
}

function shareResult(
  sessionId: string,
  { with: { accountId, name }, revokedAt, isLink, ...share }: DisclosedShare,
): DisclosedShareResult {
  const stop = {
    method: 'POST',
    path: `/reports/${sessionId}/revoke-sharing`,
    body: { recipientAccountId: accountId },
  } as const;
  return {
    recipientAccountId: accountId,
    recipientName: name,
    ...share,
    ...(revokedAt !== null && { revokedAt }),
    stop: share.status === 'SHARED' && !isLink ? stop : null,
  };
}

/** The summary of the rights on the page of a report. */
export function rightsIn(language: PageLanguage): RightsResult {
  const { rights, dispute } = WORDINGS[language];
  const { title, lead, list, more } = rights;
  return { language, title, lead, list, more, dispute: dispute.text, officialSummaryUrl: OFFICIAL_SUMMARY };
}
