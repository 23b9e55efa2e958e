// `Idempotency-Key` (docs/contract/general.md#idempotency-keys): a repeated request gets the first reply and is not executed again.
import { Readable } from 'node:stream';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { FastifyInstance, FastifyReply, FastifyRequest, RawServerBase } from 'fastify';
import { TEMPORARY_ERRORS } from '../../kernel/error-codes.js';
import { DomainError } from '../../kernel/domain-error.js';
import { newId } from '../../kernel/ids.js';
import { type Execution, type IdempotencyRecords, type KeptReply } from '../../ports/idempotency-records.js';
import type { Log } from '../observability/log.js';
import './changes-state.js';
import type { Principal } from './principal.js';

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * Set for a request with an idempotency key: the `scope` of its execution (see the port). Results that must not be made twice get ids from the
     * scope. When a process dies before it keeps the reply, the next process has the same scope.
     */
    idempotencyScope?: string;
    /** The use of the request's key, for the request log. Undefined without a key. */
    idempotency?: 'executed' | 'replayed' | 'refused';
    /** The execution whose reply is kept or released when the reply is sent. */
    idempotentExecution?: { readonly execution: Execution; temporary: boolean };
    /** The vault subject of the person in the reply, which the controller sets. The reply is not kept longer than the person's data. */
    dataSubject?: string;
  }
}

/** An id for the result of a request. With an idempotency key, the id stays the same even after a crash. */
export function nameFor({ idempotencyScope }: FastifyRequest): string {
  return idempotencyScope ?? newId();
}

// Control characters are refused. Node has trimmed the value, and reads bytes beyond ASCII as single characters.
const KEY = /^[^\x00-\x1f\x7f]{1,255}$/;
const KEPT_HEADERS = ['content-type', 'cache-control', 'location'] as const;

/** Thrown when a request is not executed because its reply is already kept. */
export class KnownReply extends Error {
  override readonly name = 'KnownReply';

  constructor(private readonly kept: KeptReply) {
    super('The request was answered before');
  }

  send(reply: FastifyReply): void {
    const { status, headers, body } = this.kept;
    void reply.status(status).headers(headers).header('idempotent-replayed', 'true');
    void reply.send(body.length === 0 ? undefined : Buffer.from(body));
  }
}

/**
 * Handles every POST, and every GET with `ChangesState`, that has a key and a principal. All other requests pass through. This guard must be the
 * last, because it begins the execution. ADR 11 explains why the guard is not an interceptor. The guard needs `keepReplies` on the same server, and
 * `ErrorReplies`, which sends the kept reply.
 */
export class IdempotencyGuard implements CanActivate {
  constructor(private readonly records: IdempotencyRecords) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const { principal } = request;
    const changes = request.method === 'POST' || request.routeOptions.config.changesState === true;
    // Node would join two headers into one text.
    const [key, ...others] = new Set(request.raw.headersDistinct['idempotency-key']);
    if (key === undefined || !changes || principal === undefined) return true;
    if (others.length > 0 || !KEY.test(key)) {
      const message = 'must be one key of 1 to 255 characters, none of them a control character';
      const field = 'Idempotency-Key';
      throw new DomainError('request.invalid', { field, details: [{ field, message }] });
    }
    return this.begin(request, key, principal).then((kept) => {
      if (kept) throw new KnownReply(kept);
      return true;
    });
  }

  /** The kept reply that is sent again, or null if the request must be executed. */
  private async begin(
    request: FastifyRequest,
    key: string,
    { accountId, environment, grantId, lineage }: Principal,
  ): Promise<KeptReply | null> {
    // The parameters are decoded, so that two spellings of one path are the same request.
    const asked = [request.method, request.routeOptions.url, request.params];
    // A visitor of a page must not get the reply of another visitor.
    const visitor = grantId ?? lineage ?? null;
    const whose = grantId === undefined ? { lineage } : { grantId };
    const route = JSON.stringify(visitor === null ? asked : [...asked, whose]);
    const content = contentOf(request);
    request.idempotency = 'refused';
    const beginning = await this.records.begin({ accountId, environment, visitor, route, key, content });
    switch (beginning.kind) {
      case 'execute':
        request.idempotency = 'executed';
        request.idempotencyScope = beginning.execution.scope;
        request.idempotentExecution = { execution: beginning.execution, temporary: false };
        return null;
      case 'replay':
        request.idempotency = 'replayed';
        if (beginning.reply.code !== undefined) request.refusedWith = beginning.reply.code;
        return beginning.reply;
      case 'gone':
        throw new DomainError('request.idempotent_reply_gone');
      case 'reused':
        throw new DomainError('request.idempotency_key_reused');
      case 'busy':
        throw new DomainError('service.unavailable', { retryAfterSeconds: 1 });
      default:
        return beginning satisfies never;
    }
  }
}

/**
 * Keeps the reply of each keyed execution before the caller gets it, so that a repeated request gets the same reply. Faults of the service and of
 * vendors (5xx), 429 and other temporary errors are not kept, so that another try can succeed. The reply to a request without an effect is not kept
 * either.
 */
export function keepReplies<Server extends RawServerBase>(fastify: FastifyInstance<Server>, log: Log): void {
  fastify.addHook('onSend', (request, reply, payload, done) => {
    const pending = request.idempotentExecution;
    if (pending === undefined) {
      done(null, payload);
      return;
    }
    delete request.idempotentExecution;
    const { execution, temporary } = pending;
    const note = (problem: string, error?: unknown): void =>
      log.warn({ requestId: request.id, route: request.routeOptions.url, err: error }, problem);
    // The request had its effect, so an outage now must not turn the answer into one that demands another try.
    const notNow = (error: unknown): void => note('what came of a keyed request could not be recorded at once', error);
    whole(payload)
      .then(
        async (body) => {
          const { statusCode } = reply;
          // After a fault of the service, its effect is unknown.
          const idle = execution.first && request.effect?.done !== true && statusCode < 500;
          if (idle || temporary || statusCode >= 500 || statusCode === 429) {
            await execution.release(idle).catch(notNow);
            return body;
          }
          const kept = await execution
            .keep(replyOf(reply, body, request.refusedWith), request.dataSubject ?? null)
            .catch(notNow);
          if (kept === 'overtaken') note('a keyed request was executed again meanwhile');
          if (kept === 'beyond-cap') void reply.header('idempotency-kept', 'false');
          return body;
        },
        async (error: unknown) => {
          await execution.release(false).catch(notNow);
          throw error;
        },
      )
      .then((body) => done(null, body))
      .catch(done);
  });
}

async function whole(payload: unknown): Promise<string | Uint8Array | null> {
  if (typeof payload === 'string' || payload instanceof Uint8Array) return payload;
  return payload instanceof Readable ? Buffer.concat(await payload.toArray()) : null;
}

function replyOf(
  reply: Pick<FastifyReply, 'statusCode' | 'getHeader'>,
  body: string | Uint8Array | null,
  code: string | undefined,
): KeptReply {
  const headers: Record<string, string> = {};
  for (const name of KEPT_HEADERS) {
    const value = reply.getHeader(name);
    if (value !== undefined) headers[name] = String(value);
  }
  return { status: reply.statusCode, ...(code !== undefined && { code }), headers, body: Buffer.from(body ?? '') };
}

/** Records whether the reply is kept, and the person in a vendor's reply. The reply is not kept longer than that person's data. */
export function noteRefusal(request: FastifyRequest, error: unknown): void {
  if (!(error instanceof DomainError)) return;
  const { vendor, retryAfterSeconds } = error.detail;
  const temporary = retryAfterSeconds !== undefined || TEMPORARY_ERRORS.has(error.code);
  if (temporary && request.idempotentExecution) request.idempotentExecution.temporary = true;
  if (vendor?.subject !== undefined) request.dataSubject = vendor.subject;
}

/** Body and query. The order of an object's fields has no meaning in JSON, and some callers' libraries change it. */
function contentOf(request: FastifyRequest): string {
  return canonical([request.body, request.query]);
}

/** Unlike RFC 8785, this function accepts everything that the parser accepts, such as numbers beyond the doubles. */
function canonical(value: unknown): string {
  if (typeof value === 'number' || value === undefined) return String(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const fields = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonical(field)}`).join(',')}}`;
}
