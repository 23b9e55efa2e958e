// Every route declares its limits against abuse, or why it has none (docs/contract/general.md#limits-against-abuse).
import 'reflect-metadata';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { RequestMethod } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { readConfig } from '../../src/config/config.js';
import { Limited } from '../../src/platform/http/limited.js';

const MODULES = join(import.meta.dirname, '../../src/modules');
const LIMITS = Object.keys(readConfig({ REDIS_URL: 'redis://127.0.0.1:6379' }).limits);
/** Routes that change state and have no limit of their own. */
const WITHOUT = [
  'POST GrantsController.mint',
  'POST RetiredWebhookController.retired',
  'PUT OrganizationsController.store',
];

interface Route {
  readonly name: string;
  readonly changes: boolean;
  readonly declared: { readonly by: readonly string[] } | { readonly not: string } | undefined;
}

async function routes(): Promise<Route[]> {
  const reflector = new Reflector();
  const files = readdirSync(MODULES, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /\/http\/.+\.controllers?\.ts$/.test(path),
  );
  const found: Route[] = [];
  for (const file of files) {
    for (const controller of Object.values((await import(join(MODULES, file))) as Record<string, unknown>)) {
      if (typeof controller !== 'function' || !Reflect.hasMetadata('path', controller)) continue;
      // A base class may contain the routes of several controllers.
      for (let held = controller.prototype as object; held !== Object.prototype; held = Object.getPrototypeOf(held)) {
        for (const [name, { value: route }] of Object.entries(Object.getOwnPropertyDescriptors(held))) {
          if (typeof route !== 'function' || !Reflect.hasMetadata('method', route)) continue;
          const method = RequestMethod[Reflect.getMetadata('method', route) as number];
          const { changesState } = (Reflect.getMetadata('__fastify_route_config__', route) ?? {}) as {
            changesState?: true;
          };
          found.push({
            name: `${method} ${controller.name}.${name}`,
            changes: method !== 'GET' || changesState === true,
            declared: reflector.get(Limited, route as () => void),
          });
        }
      }
    }
  }
  return found;
}

describe('routes', () => {
  it('are found on every surface, and each declares its limits', async () => {
    const all = await routes();
    expect(all.length).toBeGreaterThan(60);
    expect(all.filter(({ declared }) => declared === undefined).map(({ name }) => name)).toEqual([]);
  });

  it('name limits that the configuration has', async () => {
    const named = (await routes()).flatMap(({ declared }) => (declared && 'by' in declared ? declared.by : []));
    expect(named.filter((name) => !LIMITS.includes(name))).toEqual([]);
  });

  it('that change state have a limit, except for the listed ones', async () => {
    const without = (await routes()).filter(({ changes, declared }) => changes && !(declared && 'by' in declared));
    expect(without.map(({ name }) => name).sort()).toEqual(WITHOUT);
  });
});
