// Replies of the report routes on the direct API, also for the API description.
import { applyDecorators } from '@nestjs/common';
import { ApiExtraModels, ApiOkResponse, ApiProperty, getSchemaPath } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { passOn } from '../../../../surfaces/direct/envelope.js';
import type { PartyReport, ReportQuery } from '../../application/party-reports.js';
import { withoutSections } from '../../application/report-sections.js';
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
  return passOn(reply, withoutSections(text, leftOut));
}

class Succeeded {
  @ApiProperty({ type: 'array', maxItems: 0, items: {} }) readonly errors!: readonly never[];
}

class PartyReportResult extends Succeeded {
  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description: "The bureau's own report: score and report, without the sections that are left out",
  })
  readonly payload!: object;
}

/** The envelope with the bureau's JSON, or a page. */
export function ApiPartyReport(): MethodDecorator {
  return applyDecorators(
    ApiExtraModels(PartyReportResult),
    ApiOkResponse({
      content: {
        'application/json': { schema: { $ref: getSchemaPath(PartyReportResult) } },
        'text/html': { schema: { type: 'string' } },
      },
    }),
  );
}

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
