// The documents of the APIs without a running service: the real controllers, made without what they need.
import 'reflect-metadata';
import { type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { FeaturesModule } from '../../src/modules/features.module.js';
import { SURFACES } from '../../src/surfaces/all.js';
import { serveOpenApi } from '../../src/surfaces/openapi.js';

export const DOCUMENTS = ['platform', 'server', 'direct', 'dashboard'] as const;

/** Each document by its name; `all` is the one of everything. */
export async function openApiDocuments(): Promise<Readonly<Record<(typeof DOCUMENTS)[number] | 'all', any>>> {
  const features = Reflect.getMetadata('imports', FeaturesModule) as readonly Type[];
  const controllers = features.flatMap((feature) => (Reflect.getMetadata('controllers', feature) ?? []) as Type[]);
  const withoutNeeds = controllers.map((controller) => {
    const alone = { [controller.name]: class extends (controller as Type<object>) {} }[controller.name] as Type;
    for (const key of Reflect.getOwnMetadataKeys(controller) as string[])
      Reflect.defineMetadata(key, Reflect.getOwnMetadata(key, controller), alone);
    for (const key of ['design:paramtypes', 'self:paramtypes']) Reflect.defineMetadata(key, [], alone);
    return alone;
  });
  const module = class Controllers {
    readonly controllers = withoutNeeds;
  };
  const app = await NestFactory.create<NestFastifyApplication>(
    { module, controllers: withoutNeeds },
    new FastifyAdapter(),
    {
      preview: true,
      logger: ['error'],
      abortOnError: false,
    },
  );
  serveOpenApi(app, 'https://api.screening.test', SURFACES);
  const fastify = app.getHttpAdapter().getInstance();
  await fastify.ready();
  const read = async (url: string): Promise<unknown> => JSON.parse((await fastify.inject({ url })).body);
  const documents = await Promise.all(DOCUMENTS.map(async (name) => [name, await read(`/openapi/${name}.json`)]));
  const all = await read('/openapi.json');
  await app.close();
  return { ...Object.fromEntries(documents), all };
}
