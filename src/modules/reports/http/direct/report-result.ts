// The replies to the report routes of the direct API, for the routes and for the API description.
import { ApiProperty } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { ErrorCode } from '../../../../kernel/error-codes.js';
import { passOn } from '../../../../surfaces/direct/envelope.js';
import { NO_ERRORS } from '../../../../surfaces/direct/numeric-codes.js';
import type { PartyReport, ReportQuery } from '../../application/party-reports.js';
import { withoutSections } from '../../application/report-sections.js';
import { PartyCreditReport, ScoreResult } from '../platform/credit-report.js';
import { pageReply, type Format } from '../platform/report-reply.js';

export type DirectQuery = ReportQuery & { readonly format: Format };

/** The page, or the bureau's own JSON, without the omitted sections. */
export async function partyReportReply(
  { opened, leftOut }: PartyReport,
  { format }: DirectQuery,
  reply: FastifyReply,
): Promise<string> {
  if (format === 'html') return pageReply(opened, reply, leftOut);
  // If the bureau's answer is not JSON text, the payload is the service's own form.
  const { score, report, text = JSON.stringify({ score, report }) } = opened;
  return opened.shown(passOn(reply, withoutSections(text, leftOut)));
}

class Succeeded {
  @ApiProperty(NO_ERRORS) readonly errors!: readonly never[];
}

class PartyReportPayload {
  @ApiProperty({ type: ScoreResult, nullable: true, description: 'Null for a file that is too thin for one' })
  readonly score!: ScoreResult | null;
  @ApiProperty({ type: PartyCreditReport }) readonly report!: PartyCreditReport;
}

export class PartyReportResult extends Succeeded {
  @ApiProperty({
    type: PartyReportPayload,
    description: "The bureau's own answer, without the sections that are left out",
  })
  readonly payload!: PartyReportPayload;
}

/** The envelope with the bureau's JSON, or a page. */
export const PARTY_REPORT = { 'application/json': PartyReportResult, 'text/html': 'text' } as const;

/** The errors of a query for a report. */
export const QUERY_ERRORS: readonly ErrorCode[] = ['exclusion.invalid', 'request.not_acceptable'];
/** The errors of routes about a renter and an agent or organization. */
export const LINK_ERRORS: readonly ErrorCode[] = ['party.renter_unknown', 'party.recipient_unknown', 'party.locked'];
/** The errors of routes that may pull the report from the bureau. */
export const PULL_ERRORS: readonly ErrorCode[] = [
  'account.not_live',
  'report.purpose_not_certified',
  'report.consumer_has_not_paid',
  'report.credit_exhausted',
  'report.expired',
  'report.file_frozen',
  'report.file_blocked',
  'report.no_record',
  'report.file_condition',
];

class ReportExpiryPayload {
  @ApiProperty({ type: String, format: 'date-time', nullable: true, description: 'Null until a report is pulled' })
  readonly tokenExpiration!: string | null;
}

export class ReportExpiryResult extends Succeeded {
  @ApiProperty({ type: ReportExpiryPayload }) readonly payload!: ReportExpiryPayload;
}

class CreditScorePayload {
  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Null when the agent or organization may not see the report, or when the report has no score',
  })
  readonly creditScore!: number | null;
}

export class CreditScoreResult extends Succeeded {
  @ApiProperty({ type: CreditScorePayload }) readonly payload!: CreditScorePayload;
}

class LinkPayload {
  @ApiProperty({ enum: [true] }) readonly success!: true;
}

export class LinkResult extends Succeeded {
  @ApiProperty({ type: LinkPayload }) readonly payload!: LinkPayload;
}
