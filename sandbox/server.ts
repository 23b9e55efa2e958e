// One HTTP server for all vendors of the sandbox. main.ts starts it, and the contract tests start it in their own process.
import { randomUUID } from 'node:crypto';
import { type FastifyError, fastify } from 'fastify';
import { type ErrorBody, type SandboxPart, sendError } from '../src/vendor-kit/double/sandbox-part.js';
import { guardControlRoutes } from './control-routes.js';

export interface RunningSandbox {
  /** Without a trailing slash. */
  readonly url: string;
  /** Disconnects callers that still wait for an answer. */
  close(): Promise<void>;
}

const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;
const INPUT_VALIDATION = 708;
const UNACCEPTABLE = ['unacceptable_request', 'the request is not acceptable HTTP or JSON'] as const;

export async function startSandbox(options: {
  readonly host: string;
  readonly port: number;
  readonly parts: readonly SandboxPart[];
}): Promise<RunningSandbox> {
  const server = fastify({
    // Requests contain personal data, real or invented, so they are never logged.
    logger: false,
    bodyLimit: 64_000,
    forceCloseConnections: true,
    routerOptions: { maxParamLength: 1_024 },
    // A target that is not a path gets the same answer as a target that cannot be decoded.
    rewriteUrl: ({ url = '' }) => (url.startsWith('/') ? url : '/%'),
    frameworkErrors: (_error, _request, reply) =>
      void sendError(reply.header('x-request-id', randomUUID()), 400, ...UNACCEPTABLE),
    clientErrorHandler: (error, socket) => {
      const [code, message] = UNACCEPTABLE;
      const body = JSON.stringify({ error: { code, message } });
      const head = [
        `HTTP/1.1 ${error.code === 'HPE_HEADER_OVERFLOW' ? 431 : 400} Refused`,
        'content-type: application/json; charset=utf-8',
        `content-length: ${Buffer.byteLength(body)}`,
        `x-request-id: ${randomUUID()}`,
        'connection: close',
      ];
      if (socket.writable) socket.end([...head, '', body].join('\r\n'));
    },
    ajv: { customOptions: { removeAdditional: false, coerceTypes: false, useDefaults: false } },
  });
  server.removeContentTypeParser('text/plain');
  server.addHook('onRequest', (request, reply, done) => {
    const id = request.headers['x-request-id'];
    reply.header('x-request-id', typeof id === 'string' && REQUEST_ID.test(id) ? id : randomUUID());
    done();
  });
  guardControlRoutes(server);
  server.setNotFoundHandler((_request, reply) => sendError(reply, 404, 'not_found', 'there is nothing here'));
  server.setErrorHandler((error: FastifyError, _request, reply) => {
    const [violation] = error.validation ?? [];
    if (violation !== undefined) {
      const field = fieldOf(violation);
      const said = { code: INPUT_VALIDATION, message: `input validation: ${error.message}` };
      return reply.code(400).send({ error: { ...said, ...(field !== undefined && { field }) } } satisfies ErrorBody);
    }
    const status = error.statusCode ?? 500;
    if (status >= 500) {
      process.stderr.write(
        `${JSON.stringify({ level: 'error', msg: 'sandbox failure', error: error.name, code: error.code })}\n`,
      );
      return sendError(reply, 500, 'internal_error', 'the sandbox itself failed');
    }
    const [code, message] = UNACCEPTABLE;
    return sendError(reply, status, status === 400 ? INPUT_VALIDATION : code, message);
  });
  for (const part of options.parts) part.mount(server);
  const url = await server.listen({ host: options.host, port: options.port });
  return {
    url,
    async close() {
      await server.close();
      for (const part of options.parts) part.close();
    },
  };
}

/** The name of the faulty field with dots: a wrong field itself, or the missing or additional field. */
function fieldOf(violation: { readonly instancePath: string; readonly params: Record<string, unknown> }): string {
  const { missingProperty, additionalProperty } = violation.params;
  const path = violation.instancePath.split('/').slice(1);
  if (typeof missingProperty === 'string') path.push(missingProperty);
  if (typeof additionalProperty === 'string') path.push(additionalProperty);
  return path.join('.');
}
