// The OpenAPI documents without a running service: from the real controllers, made without the parts that they need for an answer.
import type { Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { SURFACES } from '../all.js';
import { serveOpenApi } from '../openapi.js';

/** `routes`: the module that imports every module with controllers. Each document is under its name; `all` describes all APIs together. */
export async function offlineDocuments(routes: Type, publicUrl: string): Promise<Readonly<Record<string, unknown>>> {
  const root = { module: Object, controllers: controllersAlone(routes) };
  const app = await NestFactory.create<NestFastifyApplication>(root, new FastifyAdapter(), {
    preview: true,
    logger: ['error'],
    abortOnError: false,
  });
  const served = serveOpenApi(app, publicUrl, SURFACES, true);
  const fastify = app.getHttpAdapter().getInstance();
  await fastify.ready();
  const read = async (url: string): Promise<unknown> => JSON.parse((await fastify.inject({ url })).body);
  const named = served.map(async ({ name }) => [name, await read(`/openapi/${name}.json`)] as const);
  const documents = Object.fromEntries([...(await Promise.all(named)), ['all', await read('/openapi.json')]]);
  await app.close();
  return documents;
}

function controllersAlone(routes: Type): Type[] {
  const modules = Reflect.getMetadata('imports', routes) as readonly Type[];
  const controllers = modules.flatMap((module) => (Reflect.getMetadata('controllers', module) ?? []) as Type<object>[]);
  return controllers.map((controller) => {
    const { [controller.name]: alone } = { [controller.name]: class extends controller {} };
    const keys = Reflect.getOwnMetadataKeys(controller) as string[];
    for (const key of keys) Reflect.defineMetadata(key, Reflect.getOwnMetadata(key, controller), alone as object);
    for (const key of ['design:paramtypes', 'self:paramtypes']) Reflect.defineMetadata(key, [], alone as object);
    return alone as Type;
  });
}
