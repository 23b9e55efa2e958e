// Serves files that were built before the start of the service, and their compressed copies.
import { existsSync, readFileSync } from 'node:fs';
import { fastifyStatic } from '@fastify/static';
import type { FastifyInstance } from 'fastify';

/** Clients keep the file permanently, because its name changes with its content. */
export const IMMUTABLE = 'public, max-age=31536000, immutable';

/** The form of a built file's name. Compressed copies are not served as files of their own. */
const NAME = /^(?:\/[\w-][\w.-]*)+(?<!\.br|\.gz)$/;

export interface StaticFolder {
  readonly folder: string;
  /** The path under which its files are served, without a trailing slash. */
  readonly path: string;
  /** The header of a file, by its path in the folder. */
  readonly cacheControl: (file: string) => string;
}

/** Types for which the library's own table is out of date or wrong. */
const TYPES = new Map([
  ['js', 'text/javascript; charset=utf-8'],
  ['mjs', 'text/javascript; charset=utf-8'],
  ['ts', 'text/plain; charset=utf-8'],
]);

/** Pages of every origin may load the files. */
export function serveStaticFolder(fastify: FastifyInstance, { folder, path, cacheControl }: StaticFolder): void {
  void fastify.register((scope, _options, done) => {
    scope.addHook('onSend', (request, reply, payload, next) => {
      const type = reply.statusCode === 200 ? TYPES.get(/\.(\w+)(?:\?.*)?$/.exec(request.url)?.[1] ?? '') : undefined;
      if (type !== undefined) void reply.type(type);
      next(null, payload);
    });
    void scope.register(fastifyStatic, {
      root: folder,
      prefix: `${path}/`,
      decorateReply: false,
      index: false,
      dotfiles: 'ignore',
      cacheControl: false,
      preCompressed: true,
      allowedPath: (file) => NAME.test(file),
      setHeaders: (response, file) => {
        response.setHeader('cache-control', cacheControl(file.slice(folder.length + 1)));
        response.setHeader('vary', 'Accept-Encoding');
        response.setHeader('access-control-allow-origin', '*');
        response.setHeader('cross-origin-resource-policy', 'cross-origin');
      },
    });
    done();
  });
}

/** Null if the file was not built, or not shipped. */
export function readPage(file: string): string | null {
  return existsSync(file) ? readFileSync(file, 'utf8') : null;
}
