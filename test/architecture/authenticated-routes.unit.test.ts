// Every route must declare its authenticator, and the test finds each new route. The service therefore reads no body before the check of
// the caller (docs/contract/general.md#bodies).
import 'reflect-metadata';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { RequestMethod } from '@nestjs/common';
import { SURFACES } from '../../src/surfaces/all.js';

const MODULES = join(import.meta.dirname, '../../src/modules');
/**
 * Routes that any caller may use: the public keys, the addresses of the service, and a document by its signed link. All of these are GET routes,
 * whose bodies are never read.
 */
const OPEN = [
  'GET EgressIpsController.addresses',
  'GET JwksController.jwks',
  'GET PdfController.fetch',
  'GET WebhookKeysController.keys',
];

async function openRoutes(): Promise<string[]> {
  const files = readdirSync(MODULES, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /\/http\/.+\.controller\.ts$/.test(path),
  );
  const found: string[] = [];
  for (const file of files) {
    for (const controller of Object.values((await import(join(MODULES, file))) as Record<string, unknown>)) {
      if (typeof controller !== 'function' || !Reflect.hasMetadata('path', controller)) continue;
      for (const [name, { value: route }] of Object.entries(Object.getOwnPropertyDescriptors(controller.prototype))) {
        if (typeof route !== 'function' || !Reflect.hasMetadata('method', route)) continue;
        const own: unknown = Reflect.getMetadata('__fastify_route_config__', route)?.authenticator;
        const surface = SURFACES.at(`/${Reflect.getMetadata('path', controller) as string}`);
        if ((own === undefined ? surface.authenticator : own) === null)
          found.push(`${RequestMethod[Reflect.getMetadata('method', route) as number]} ${controller.name}.${name}`);
      }
    }
  }
  return found;
}

describe('routes', () => {
  it('authenticate their callers before bodies are read', async () => {
    expect((await openRoutes()).sort()).toEqual(OPEN);
  });
});
