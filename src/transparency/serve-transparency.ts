// The log's files over HTTP, for auditors' programs and witnesses (C2SP tlog-tiles), and the programs that check case files. Read-only.
import type { FastifyInstance, RawServerBase } from 'fastify';
import { DomainError } from '../kernel/domain-error.js';
import type { isFromLoopback } from '../platform/http/metrics-page.js';
import type { TransparencyFiles } from '../ports/transparency-files.js';
import { verifiers } from './case-file.js';

const TEXTS = /^(?:checkpoint|policy|timestamps\/\d{15})$/;
const TILES =
  /^(?:timestamps\/\d{15}\.tsr|tile\/(?:entries|[0-9]|[1-5][0-9]|6[0-3])\/(?:x\d{3}\/)*\d{3}(?:\.p\/[1-9]\d{0,2})?)$/;
const VERIFIERS = /^(?:verify-case\.mjs|verify\.html)$/;
const FOR_EVER = 'public, max-age=31536000, immutable';

/** A tile never changes. A partial tile is served until its full tile replaces it. */
export function serveTransparency<Server extends RawServerBase>(
  fastify: FastifyInstance<Server>,
  files: TransparencyFiles,
  admits: typeof isFromLoopback,
): void {
  fastify.get('/transparency/*', { config: { probe: true } }, async (request, reply) => {
    const path = (request.params as { readonly '*': string })['*'];
    const [isTile, isVerifier] = [TILES.test(path), VERIFIERS.test(path)];
    let content: Buffer | string | null = null;
    if (admits(request) && isVerifier) content = (await verifiers())[path] ?? null;
    else if (admits(request) && (isTile || TEXTS.test(path))) content = await files.read(path);
    if (content === null) throw new DomainError('request.unknown_path');
    return reply
      .header('cache-control', isTile ? FOR_EVER : 'no-cache')
      .type(isTile || isVerifier ? 'application/octet-stream' : 'text/plain; charset=utf-8')
      .send(content);
  });
}
