// `npm run docs` runs this file. It writes the collection for Bruno below the current folder.
import 'reflect-metadata';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { FeaturesModule } from '../../modules/features.module.js';
import { SURFACES } from '../all.js';
import { serveOpenApi } from '../openapi.js';
import { type ApiDocument, brunoCollection } from './bruno.js';

/** The controllers of all features, without what they need to answer. */
function controllersAlone(): Type[] {
  const features = Reflect.getMetadata('imports', FeaturesModule) as readonly Type[];
  const controllers = features.flatMap(
    (feature) => (Reflect.getMetadata('controllers', feature) ?? []) as Type<object>[],
  );
  return controllers.map((controller) => {
    const { [controller.name]: alone } = { [controller.name]: class extends controller {} };
    const keys = Reflect.getOwnMetadataKeys(controller) as string[];
    for (const key of keys) Reflect.defineMetadata(key, Reflect.getOwnMetadata(key, controller), alone as object);
    for (const key of ['design:paramtypes', 'self:paramtypes']) Reflect.defineMetadata(key, [], alone as object);
    return alone as Type;
  });
}

async function documents(): Promise<Record<string, ApiDocument>> {
  const root = { module: Object, controllers: controllersAlone() };
  const app = await NestFactory.create<NestFastifyApplication>(root, new FastifyAdapter(), {
    preview: true,
    logger: ['error'],
    abortOnError: false,
  });
  const served = serveOpenApi(app, 'http://localhost:3000', SURFACES);
  const fastify = app.getHttpAdapter().getInstance();
  await fastify.ready();
  const read = async (name: string): Promise<ApiDocument> =>
    JSON.parse((await fastify.inject({ url: `/openapi/${name}.json` })).body) as ApiDocument;
  const all = await Promise.all(served.map(async ({ name }) => [name, await read(name)] as const));
  await app.close();
  return Object.fromEntries(all);
}

for (const [path, text] of brunoCollection(await documents())) {
  mkdirSync(dirname(`docs/bruno/${path}`), { recursive: true });
  writeFileSync(`docs/bruno/${path}`, text);
}
