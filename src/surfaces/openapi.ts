// Generates the API's description from the controllers: one document for each API, and one for everything.
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Surfaces } from '../platform/http/surface.js';
import { ReducedErrorResult } from './direct/numeric-codes.js';
import { introduced } from './documents/introductions.js';
import { type Documents, documentsOf, titlesOf } from './openapi/document.js';

export interface ServedDocument {
  readonly name: string;
  readonly title: string;
}

/**
 * Serves `/openapi.json` (everything) and `/openapi/<document>.json`. Returns the latter. The first request makes all of them, because a start without
 * them is quicker. `demo`: whether the service has demo accounts.
 */
export function serveOpenApi(
  app: NestFastifyApplication,
  serverUrl: string,
  surfaces: Surfaces,
  demo: boolean,
): ServedDocument[] {
  makeOnce(app.getHttpAdapter().getInstance());
  let made: Documents | undefined;
  const documents = (): Documents => (made ??= documentsOf(describe(app, serverUrl, surfaces), surfaces));
  const named = [...titlesOf(surfaces)].map(([name, title]) => ({ name, title }));
  for (const { name } of named) {
    const answer = (_request: unknown, reply: { send(body: unknown): void }): void => {
      const described = documents().named.get(name);
      reply.send(described && introduced(described, name, { docs: `${serverUrl}/docs`, demo }));
    };
    app.getHttpAdapter().get(`/openapi/${name}.json`, answer);
  }
  SwaggerModule.setup('docs', app, () => documents().whole, {
    ui: false,
    jsonDocumentUrl: 'openapi.json',
    yamlDocumentUrl: 'openapi.yaml',
  });
  return named;
}

/** The library's own description of the controllers. */
function describe(app: NestFastifyApplication, serverUrl: string, surfaces: Surfaces): OpenAPIObject {
  const config = new DocumentBuilder()
    .setTitle('Identity screening, credit report and payment service')
    .setOpenAPIVersion('3.1.0')
    .setVersion('1')
    .addServer(serverUrl);
  const extraModels = [...surfaces.all.map(({ errorResult }) => errorResult), ReducedErrorResult];
  return SwaggerModule.createDocument(app, config.build(), { extraModels });
}

/** The library writes a document again for each request, which costs more than most calls. */
function makeOnce(fastify: FastifyInstance): void {
  const made = new Map<string, { readonly type: unknown; readonly bytes: Buffer }>();
  const isDocument = (path: string): boolean => /^\/openapi(?![^./])/.test(path);
  const pathOf = ({ routeOptions: { url = '' } }: FastifyRequest): string | null => (isDocument(url) ? url : null);
  fastify.addHook('onRoute', (route) => {
    if (route.method === 'GET' && isDocument(route.url)) route.method = ['GET', 'HEAD'];
  });
  fastify.addHook('onRequest', (request, reply, done) => {
    const path = pathOf(request);
    if (path !== null) void reply.header('content-security-policy', "frame-ancestors 'none'");
    const known = made.get(path ?? '');
    if (known) void reply.header('content-type', known.type).send(known.bytes);
    else done();
  });
  fastify.addHook('onSend', (request, reply, payload, done) => {
    const path = pathOf(request);
    if (path !== null && reply.statusCode === 200 && typeof payload === 'string')
      made.set(path, { type: reply.getHeader('content-type'), bytes: Buffer.from(payload) });
    done(null, payload);
  });
}
