// The API's description, generated from the controllers: one document for each API, and a page for people.
import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, getSchemaPath, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import { IDEMPOTENCY_KEY } from './changes-state.js';
import type { Surface, Surfaces } from './surface.js';

type Paths = OpenAPIObject['paths'];

/** Serves `/openapi.json` (everything), `/openapi/<document>.json`, and the page `/docs`. */
export function serveOpenApi(app: INestApplication, serverUrl: string, surfaces: Surfaces): void {
  const config = new DocumentBuilder()
    .setTitle('Seed: identity screening, credit report and payment service')
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

/** What all routes of a surface have in common. Which code goes with which status is in docs/errors.md. */
function describeShared(operations: Paths[string], { errorResult }: Surface): void {
  const schema = { $ref: getSchemaPath(errorResult) };
  for (const operation of [operations.get, operations.post, operations.put, operations.delete])
    if (operation)
      operation.responses['default'] = { description: 'Any error', content: { 'application/json': { schema } } };
  if (operations.post?.security) (operations.post.parameters ??= []).push({ ...IDEMPOTENCY_KEY, in: 'header' });
}
