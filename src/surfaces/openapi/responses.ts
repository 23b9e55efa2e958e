// The error responses of an operation, by status: every code that it can answer with, its schema and its headers.
import { Reflector } from '@nestjs/core';
import { DomainError, type DomainErrorDetail } from '../../kernel/domain-error.js';
import { ERROR_CODES, type ErrorCode } from '../../kernel/error-codes.js';
import { Limited } from '../../platform/http/limited.js';
import type { Surfaces } from '../../platform/http/surface.js';
import { VENDOR_DETAILS } from '../direct/older-codes.js';
import type { Described } from './operation.js';

/** The facts about a route that decide which errors and headers its replies may have. */
export interface Route {
  readonly path: string;
  readonly method: string;
  /** Whether a credential is needed. */
  readonly secured: boolean;
  readonly described: Described;
}

export interface ErrorResponse {
  readonly codes: readonly (string | number)[];
  /** The meaning of each code. */
  readonly lines: readonly string[];
  readonly headers: readonly string[];
  /** Whether some bodies have no payload, as older callers of the direct API know them. */
  readonly reduced: boolean;
}

/** Errors of every request, mostly from before its route sees it. */
const OF_ALL = [
  'request.invalid',
  'request.plain_http',
  'request.timeout',
  'request.url_too_long',
  'request.expectation',
  'request.headers_too_large',
  'service.failure',
  'service.unavailable',
] as const;
const OF_A_BODY = [
  'request.unreadable_body',
  'request.too_large',
  'request.media_type',
  'request.unsupported_media_type',
] as const;
const OF_A_KEY = ['request.idempotency_key_reused', 'request.idempotent_reply_gone'] as const;

/** Errors with these statuses may say when to come back. */
const MAY_WAIT = [409, 422, 429, 502, 503, 504];

/** The details with which an error code is said in more than one way. */
const DETAILS: Partial<Record<ErrorCode, readonly DomainErrorDetail[]>> = {
  'request.invalid': [{}, { field: 'field' }],
  'vendor.refused': VENDOR_DETAILS,
};

interface RouteConfig {
  readonly changesState?: true;
  readonly authenticator?: unknown;
}

function configOf({ described: { handler } }: Route): RouteConfig {
  return (Reflect.getMetadata('__fastify_route_config__', handler) ?? {}) as RouteConfig;
}

/** Whether the operation changes something, by its method or by its route's own word. */
function changes(route: Route): boolean {
  return route.method !== 'get' || configOf(route).changesState === true;
}

/** Whether an idempotency key counts. On a route with an authenticator of its own, no account is known to which the key could belong. */
export function takesKey(route: Route): boolean {
  const knowsCaller = route.secured && configOf(route).authenticator === undefined;
  return knowsCaller && changes(route) && ['get', 'post'].includes(route.method);
}

/** The errors that a route may answer with. */
export function errorsOf(route: Route): ReadonlySet<ErrorCode> {
  const { handler, value } = route.described;
  const limited: unknown = new Reflector().get(Limited, handler as () => void);
  const limits = (limited as { by?: readonly string[] } | undefined)?.by ?? [];
  const asksVendor = limits.includes('vendorShare');
  const isAboutParty = route.path.startsWith('/api/idv');
  const when = (holds: boolean, ...codes: readonly ErrorCode[]): readonly ErrorCode[] => (holds ? codes : []);
  return new Set<ErrorCode>([
    ...OF_ALL,
    ...when(route.method !== 'get', ...OF_A_BODY),
    ...when(route.secured, 'request.unauthenticated'),
    // The ids of parties are the integrator's own. One that cannot be decoded names no path.
    ...when(isAboutParty, 'request.unknown_path'),
    ...when(changes(route), 'service.read_only'),
    ...when(takesKey(route), ...OF_A_KEY),
    ...when(limits.length > 0, 'request.rate_limited'),
    ...when(asksVendor, 'service.upstream_timeout'),
    ...when(asksVendor && isAboutParty, 'vendor.refused', 'vendor.unreachable'),
    ...(typeof value.errors === 'function' ? value.errors(route.path) : value.errors),
  ]);
}

/** The errors in the words of the surface, by status. */
export function errorResponses(
  codes: Iterable<ErrorCode>,
  path: string,
  surfaces: Surfaces,
): ReadonlyMap<number, ErrorResponse> {
  const found = new Map<number, ErrorResponse>();
  for (const code of codes)
    for (const detail of DETAILS[code] ?? [{}]) {
      const { status, headers, body } = surfaces.reply(new DomainError(code, detail), { id: '', url: path });
      const said = wordOf(typeof body === 'string' ? (JSON.parse(body) as object) : body);
      const before = found.get(status) ?? NONE;
      // The vendor has too many numbers for a line each.
      const line = `- ${code === 'vendor.refused' ? "The vendor's numbers" : `\`${said}\``}: ${ERROR_CODES[code]}`;
      const wait = MAY_WAIT.includes(status) ? ['retry-after'] : [];
      found.set(status, {
        codes: [...new Set([...before.codes, said])].sort(),
        lines: [...new Set([...before.lines, line])],
        headers: [...new Set([...before.headers, ...Object.keys(headers), ...wait])],
        reduced: before.reduced || code === 'exclusion.invalid',
      });
    }
  return found;
}

const NONE: ErrorResponse = { codes: [], lines: [], headers: [], reduced: false };

/** The code in the body of an error, whatever the envelope. */
function wordOf(body: object): string | number {
  const { error, errors = [] } = body as { error?: { code: string }; errors?: readonly { errorCode: number }[] };
  return error?.code ?? errors[0]?.errorCode ?? 0;
}
