// Every POST of the platform, `/v1` and direct APIs honours `Idempotency-Key` (docs/contract/general.md#idempotency-keys), the ones to come as well.
import 'reflect-metadata';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { RequestMethod } from '@nestjs/common';
import { IdempotencyInterceptor } from '../../src/platform/http/idempotency.interceptor.js';

const MODULES = join(import.meta.dirname, '../../src/modules');
/** The token exchange knows no principal yet, and processor events carry an id of their own. */
const EXEMPT = /^\/?(?:auth|internal)(?:\/|$)/;

interface Post {
  readonly name: string;
  readonly path: string;
  readonly idempotent: boolean;
}

async function posts(): Promise<Post[]> {
  const files = readdirSync(MODULES, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /\/http\/(?:[^/]+\/)?[^/]+\.controller\.ts$/.test(path),
  );
  const found: Post[] = [];
  for (const file of files) {
    for (const controller of Object.values((await import(join(MODULES, file))) as Record<string, unknown>)) {
      if (typeof controller !== 'function' || !Reflect.hasMetadata('path', controller)) continue;
      const shared = (Reflect.getMetadata('__interceptors__', controller) ?? []) as unknown[];
      for (const name of Object.getOwnPropertyNames(controller.prototype)) {
        const handler = (controller.prototype as Record<string, unknown>)[name];
        if (typeof handler !== 'function' || Reflect.getMetadata('method', handler) !== RequestMethod.POST) continue;
        const own = (Reflect.getMetadata('__interceptors__', handler) ?? []) as unknown[];
        found.push({
          name: `${controller.name}.${name}`,
          path: String(Reflect.getMetadata('path', controller)),
          idempotent: [...shared, ...own].includes(IdempotencyInterceptor),
        });
      }
    }
  }
  return found;
}

describe('POST routes', () => {
  it('honour Idempotency-Key', async () => {
    const all = await posts();
    expect(all.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        'ScreeningController.submit',
        'ScreeningController.otp',
        'ScreeningController.resend',
        'ScreeningController.kba',
      ]),
    );
    expect(all.filter(({ path, idempotent }) => !idempotent && !EXEMPT.test(path)).map(({ name }) => name)).toEqual([]);
  });
});
