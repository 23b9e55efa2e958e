// How surfaces answer with a report: JSON or a page, by content negotiation (docs/contract/platform.md#reports).
import type { FastifyReply, FastifyRequest } from 'fastify';
import { acceptedType } from '../../../../platform/http/media-type.js';
import type { OpenedReport } from '../../application/report-viewer.js';
import type { ServedPages } from '../../application/served-pages.js';
import { reportPage, type PageOptions } from './report-page/page.js';

const MEDIA_TYPES = { json: 'application/json', html: 'text/html' } as const;
export type Format = keyof typeof MEDIA_TYPES;

/** What the caller accepts, before anything is pulled or billed; the first where it does not care. */
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

/** Whatever the answer to a request for a report becomes, no cache may keep it. */
export function neverCached(reply: FastifyReply): void {
  void reply.header('cache-control', 'no-store').header('vary', 'Accept');
}

export async function reportReply(
  opened: OpenedReport,
  format: Format,
  reply: FastifyReply,
  pages: ServedPages,
  options?: PageOptions,
): Promise<Buffer | string> {
  if (format === 'html') return pageReply(opened, reply, pages, options);
  void reply.header('content-type', 'application/json; charset=utf-8');
  const { id, sessionId, generatedAt, expiresAt, json } = opened;
  // The body is passed on without being read and written anew.
  const body = json ?? Buffer.from(JSON.stringify({ score: opened.score, report: opened.report }));
  return Buffer.concat([
    Buffer.from(`${JSON.stringify({ id, sessionId }).slice(0, -1)},`),
    body.subarray(1, -1),
    Buffer.from(`,${JSON.stringify({ generatedAt, expiresAt }).slice(1)}`),
  ]);
}

/** The page that every surface shows, known again when it is printed. */
export function pageReply(
  opened: OpenedReport,
  reply: FastifyReply,
  pages: ServedPages,
  options?: PageOptions,
): Promise<string> {
  void reply
    .header('content-type', 'text/html; charset=utf-8')
    .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'");
  return pages.marked(opened.sessionId, reportPage(opened, options));
}
