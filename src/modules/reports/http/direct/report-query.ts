// The query parameters of requests for a report (docs/contract/direct.md#reports).
import { applyDecorators, createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiQuery } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DomainError } from '../../../../kernel/domain-error.js';
import { principalOf, type RequestContext } from '../../../../platform/http/principal.js';
import { ApiReadPurpose, readContextOf } from '../../../../surfaces/wire/read-purpose.js';
import type { PartyReport, ReportQuery } from '../../application/party-reports.js';
import type { Section } from '../../application/report-sections.js';
import { formatFor, neverCached, type Format } from '../platform/report-reply.js';
import { ApiPageLanguage } from '../platform/report-result.js';
import { partyReportReply, type DirectQuery } from './report-result.js';

const EXCLUDES: readonly (readonly [parameter: string, section: Section])[] = [
  ['excludeBackground', 'background'],
  ['excludeHousingCourt', 'housingCourt'],
];

/** A request for the report of a renter: for which party, which report, and the function that answers it. */
export interface PartyReading {
  readonly context: RequestContext;
  readonly query: ReportQuery;
  readonly answered: (read: PartyReport) => Promise<string>;
}

export const CurrentPartyReading = createParamDecorator((_: unknown, execution: ExecutionContext): PartyReading => {
  const http = execution.switchToHttp();
  const request = http.getRequest<FastifyRequest>();
  const reply = http.getResponse<FastifyReply>();
  const query = reportQuery(request, reply);
  return {
    context: readContextOf(request),
    query,
    answered: (read) => partyReportReply(read, query, reply),
  };
});

/** The format is checked before a report is pulled or billed. `format` has priority over the Accept header. */
function reportQuery(request: FastifyRequest, reply: FastifyReply): DirectQuery {
  const { clientClass } = principalOf(request);
  const query = request.query as Readonly<Record<string, unknown>>;
  const leaveOut = Object.fromEntries(
    EXCLUDES.flatMap(([parameter, section]) => {
      const value = query[parameter];
      return value === undefined ? [] : [[section, isTrue(parameter, value)]];
    }),
  );
  const { format } = query;
  return {
    format:
      format === undefined || format === ''
        ? formatFor(request, reply, clientClass === 'first_party' ? ['json', 'html'] : ['html', 'json'])
        : named(format, reply),
    leaveOut,
  };
}

function isTrue(parameter: string, value: unknown): boolean {
  if (value !== 'true' && value !== 'false') throw new DomainError('exclusion.invalid', { field: parameter });
  return value === 'true';
}

/** A caller that names a format accepts that format. */
function named(format: unknown, reply: FastifyReply): Format {
  neverCached(reply);
  if (format !== 'json' && format !== 'html') throw new DomainError('request.not_acceptable');

  return format;
}

/** Describes the query. */
export function ApiReportQuery(): MethodDecorator {
  return applyDecorators(
    ApiQuery({ name: 'format', required: false, enum: ['json', 'html'], description: 'Counts more than `Accept`' }),
    ApiPageLanguage(),
    ApiReadPurpose(),
    ApiQuery({ name: 'excludeBackground', required: false, type: Boolean, description: 'Leaves the section out' }),
    ApiQuery({ name: 'excludeHousingCourt', required: false, type: Boolean, description: 'Leaves the section out' }),
    ApiQuery({ name: 'contentType', required: false, type: String, description: 'Accepted, and changes nothing' }),
    ApiQuery({ name: 'productId', required: false, type: String, description: 'Accepted, and changes nothing' }),
    ApiQuery({
      name: 'testConsumerToken',
      required: false,
      type: String,
      description: 'Accepted, and changes nothing',
    }),
  );
}
