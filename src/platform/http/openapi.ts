// The API's description, generated from the controllers: one document a door, and a page for people.
import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';

export interface Door {
  readonly name: string;
  readonly title: string;
  /** Path prefixes that belong to the door. */
  readonly prefixes: readonly string[];
}

/** Serves `/openapi.json` (everything), `/openapi/<door>.json`, and the page `/docs`. */
export function serveOpenApi(app: INestApplication, serverUrl: string, doors: readonly Door[]): void {
  const config = new DocumentBuilder()
    .setTitle('Seed: identity screening, credit report and payment service')
    .setVersion('1')
    .addServer(serverUrl)
    .addBearerAuth({ type: 'http', scheme: 'bearer', bearerFormat: 'JWT' }, 'platform-token')
    .addBearerAuth({ type: 'http', scheme: 'bearer', bearerFormat: 'JWT' }, 'dashboard-token')
    .addApiKey({ type: 'apiKey', in: 'header', name: 'X-Publishable-Key' }, 'publishable-key')
    .addApiKey({ type: 'apiKey', in: 'header', name: 'X-Secret-Key' }, 'secret-key')
    .build();
  const whole = SwaggerModule.createDocument(app, config);
  for (const door of doors) {
    const document = partOf(whole, door);
    app
      .getHttpAdapter()
      .get(`/openapi/${door.name}.json`, (_request: unknown, reply: { send(body: unknown): void }) =>
        reply.send(document),
      );
  }
  SwaggerModule.setup('docs', app, whole, {
    jsonDocumentUrl: 'openapi.json',
    yamlDocumentUrl: 'openapi.yaml',
    swaggerOptions: {
      urls: [
        { url: '/openapi.json', name: 'All' },
        ...doors.map(({ name, title }) => ({ url: `/openapi/${name}.json`, name: title })),
      ],
    },
    explorer: true,
  });
}

function partOf(whole: OpenAPIObject, door: Door): OpenAPIObject {
  const paths = Object.entries(whole.paths).filter(([path]) =>
    door.prefixes.some((prefix) => path === prefix || path.startsWith(`${prefix}/`)),
  );
  return { ...whole, info: { ...whole.info, title: door.title }, paths: Object.fromEntries(paths) };
}
