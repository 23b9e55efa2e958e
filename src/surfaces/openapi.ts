// Generates the API's description from the controllers: one document for each API, and a page for readers.
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, getSchemaPath, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { IDEMPOTENCY_KEY } from '../platform/http/changes-state.js';
import type { Surface, Surfaces } from '../platform/http/surface.js';

type Paths = OpenAPIObject['paths'];

/** Serves `/openapi.json` (everything), `/openapi/<document>.json`, and the page `/docs`, which other pages cannot frame. */
export function serveOpenApi(app: NestFastifyApplication, serverUrl: string, surfaces: Surfaces): void {
  makeOnce(app.getHttpAdapter().getInstance());
  const config = new DocumentBuilder()
    .setTitle('Identity screening, credit report and payment service')
    .setVersion('1')
    .addServer(serverUrl);
  for (const { document } of surfaces.all)
    for (const [name, scheme] of Object.entries(document.credentials)) config.addSecurity(name, scheme);
  const extraModels = surfaces.all.map(({ errorResult }) => errorResult);
  const whole = SwaggerModule.createDocument(app, config.build(), { extraModels });
  for (const [path, operations] of Object.entries(whole.paths)) describeShared(operations, surfaces.at(path));
  const documents = new Map(surfaces.all.map(({ document }) => [document.name, document.title]));
  for (const [name, title] of documents) {
    const paths = Object.entries(whole.paths).filter(([path]) => surfaces.at(path).document.name === name);
    const document = { ...whole, info: { ...whole.info, title }, paths: Object.fromEntries(paths) };
    app
      .getHttpAdapter()
      .get(`/openapi/${name}.json`, (_request: unknown, reply: { send(body: unknown): void }) => reply.send(document));
  }
  SwaggerModule.setup('docs', app, whole, {
    jsonDocumentUrl: 'openapi.json',
    yamlDocumentUrl: 'openapi.yaml',
    swaggerOptions: {
      urls: [
        { url: '/openapi.json', name: 'All' },
        ...[...documents].map(([name, title]) => ({ url: `/openapi/${name}.json`, name: title })),
      ],
    },
    explorer: true,
  });
}

/** The library writes a document again for each request, which costs more than most calls. */
function makeOnce(fastify: FastifyInstance): void {
  const made = new Map<string, { readonly type: unknown; readonly bytes: Buffer }>();
  const isDocument = (path: string): boolean => /^\/(?:openapi|docs)(?![^./])/.test(path);
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

/** The common parts of all routes of a surface. `docs/errors.md` has the statuses of the codes. */
function describeShared(operations: Paths[string], { errorResult }: Surface): void {
  const schema = { $ref: getSchemaPath(errorResult) };
  for (const operation of [operations.get, operations.post, operations.put, operations.delete])
    if (operation)
      operation.responses['default'] = { description: 'Any error', content: { 'application/json': { schema } } };
  if (operations.post?.security) (operations.post.parameters ??= []).push({ ...IDEMPOTENCY_KEY, in: 'header' });
}
