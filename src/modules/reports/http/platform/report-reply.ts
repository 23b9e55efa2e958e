// How both surfaces answer with a report: JSON or a page, by content negotiation (docs/contract/platform.md#reports).
import type { FastifyReply, FastifyRequest } from 'fastify';
import { acceptedType } from '../../../../platform/http/media-type.js';
import type { OpenedReport } from '../../application/report-viewer.js';
import { reportPage } from './report-page/page.js';

const FORMATS = { 'application/json': 'json', 'text/html': 'html' } as const;
type Format = (typeof FORMATS)[keyof typeof FORMATS];

/** What the caller accepts, before anything is pulled or billed; whatever the answer becomes, no cache may keep it. */
export function formatFor(request: FastifyRequest, reply: FastifyReply): Format {
  void reply.header('cache-control', 'no-store').header('vary', 'Accept').header('x-content-type-options', 'nosniff');
  return FORMATS[acceptedType(request.headers.accept, ['application/json', 'text/html'])];
}

export function reportReply(opened: OpenedReport, format: Format, reply: FastifyReply): OpenedReport | string {
  if (format === 'json') {
    const { id, sessionId, score, report, generatedAt, expiresAt } = opened;
    return { id, sessionId, score, report, generatedAt, expiresAt };
  }
  void reply
    .header('content-type', 'text/html; charset=utf-8')
    .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'");
  return reportPage(opened);
}
