// Replies that contain a report, for all surfaces: JSON or a page, by content negotiation (docs/contract/platform.md#reports).
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { acceptedType } from '../../../../platform/http/media-type.js';
import type { RequestContext } from '../../../../platform/http/principal.js';
import { readContextOf } from '../../../../surfaces/wire/read-purpose.js';
import type { OpenedReport } from '../../application/report-viewer.js';
import { reportPage, type PageOptions } from './report-page/page.js';

const MEDIA_TYPES = { json: 'application/json', html: 'text/html' } as const;
export type Format = keyof typeof MEDIA_TYPES;

/** A request for a report: for which caller, in which format, and the function that answers it. */
export interface ReportReading {
  readonly context: RequestContext;
  readonly format: Format;
  readonly answered: (opened: OpenedReport) => Promise<Buffer | string>;
}

export const CurrentReading = createParamDecorator((_: unknown, execution: ExecutionContext): ReportReading => {
  const http = execution.switchToHttp();
  const request = http.getRequest<FastifyRequest>();
  const reply = http.getResponse<FastifyReply>();
  const format = formatFor(request, reply);
  return {
    context: readContextOf(request),
    format,
    answered: async (opened) => (format === 'html' ? pageReply(opened, reply) : opened.shown(jsonReply(opened, reply))),
  };
});

/** The format that the caller accepts, chosen before a report is pulled or billed. The first format when the caller has no preference. */
export function formatFor(
  request: FastifyRequest,
  reply: FastifyReply,
  formats: readonly [Format, Format] = ['json', 'html'],
): Format {
  neverCached(reply);
  const accepted = acceptedType(
    request.headers.accept,
    formats.map((format) => MEDIA_TYPES[format]),
  );
  return accepted === MEDIA_TYPES.json ? 'json' : 'html';
}

/** No cache may store a reply to a request for a report. */
export function neverCached(reply: FastifyReply): void {
  void reply.header('cache-control', 'no-store').header('vary', 'Accept');
}

function jsonReply(opened: OpenedReport, reply: FastifyReply): Buffer {
  void reply.header('content-type', 'application/json; charset=utf-8');
  const { id, sessionId, generatedAt, expiresAt, json } = opened;
  // The stored body is passed on without being parsed.
  const body = json ?? Buffer.from(JSON.stringify({ score: opened.score, report: opened.report }));
  return Buffer.concat([
    Buffer.from(`${JSON.stringify({ id, sessionId }).slice(0, -1)},`),
    body.subarray(1, -1),
    Buffer.from(`,${JSON.stringify({ generatedAt, expiresAt }).slice(1)}`),
  ]);
}

/** The page that every surface shows, in the language of the query. The page's mark lets the service recognise the page when it is printed. */
export async function pageReply(
  opened: OpenedReport,
  reply: FastifyReply,
  leftOut?: PageOptions['leftOut'],
): Promise<string> {
  const { language } = reply.request.query as { readonly language?: unknown };
  void reply
    .header('content-type', 'text/html; charset=utf-8')
    .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; img-src data:");
  const options = { language: language === 'es' ? language : 'en', ...(leftOut && { leftOut }) } as const;
  return opened.shown(await opened.marked(reportPage(opened, await opened.request(), options)));
}
