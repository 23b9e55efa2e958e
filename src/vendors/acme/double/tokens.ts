// The access tokens of acme: OAuth2 client credentials (RFC 6749, section 4.4).
import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';

export interface Client {
  readonly id: string;
  readonly secret: string;
}

/** A form without a scope gets all of them. */
const SCOPES: ReadonlySet<string> = new Set(['', 'verifications', 'reports']);
const PARAMETERS: ReadonlySet<string> = new Set(['grant_type', 'client_id', 'client_secret', 'scope']);

export class Tokens {
  /** The end of each token, milliseconds since 1970. */
  private readonly ends = new Map<string, number>();
  /** The number of tokens that were issued. */
  issued = 0;

  constructor(
    private readonly client: Client,
    private readonly lifetimeMs: number,
    private readonly now: () => number,
  ) {}

  issue(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    void reply.header('cache-control', 'no-store');
    const fault = this.faultOf(request);
    if (fault !== null) {
      if (fault === 'invalid_client') void reply.header('www-authenticate', 'Basic realm="acme"');
      return reply.code(fault === 'invalid_client' ? 401 : 400).send({ error: fault });
    }
    const token = `at_${randomBytes(24).toString('base64url')}`;
    this.ends.set(token, this.now() + this.lifetimeMs);
    this.issued += 1;
    const seconds = Math.floor(this.lifetimeMs / 1_000);
    return reply.send({ access_token: token, token_type: 'Bearer', expires_in: seconds });
  }

  isValid(authorization: string | undefined): boolean {
    const [, token = ''] = /^Bearer (\S+)$/.exec(authorization ?? '') ?? [];
    return this.now() < (this.ends.get(token) ?? 0);
  }

  /** Accepts the client's secret in the Basic header or in the form, but not in both (RFC 6749, section 2.3). */
  private faultOf({ body, headers }: FastifyRequest): string | null {
    const form = formOf(body);
    const inHeader = basicClient(headers.authorization);
    if (form === null || (form.has('client_id') && inHeader !== null)) return 'invalid_request';
    const shown = inHeader ?? { id: form.get('client_id'), secret: form.get('client_secret') };
    if (!same(shown.id, this.client.id) || !same(shown.secret, this.client.secret)) return 'invalid_client';
    if (form.get('grant_type') !== 'client_credentials') return 'unsupported_grant_type';
    return (form.get('scope') ?? '').split(' ').every((scope) => SCOPES.has(scope)) ? null : 'invalid_scope';
  }

  /** Every token ends now, as when the vendor changes its keys. */
  revoke(): void {
    this.ends.clear();
  }
}

/** Null if the form has an unknown parameter, or one parameter twice. */
function formOf(body: unknown): URLSearchParams | null {
  if (!(body instanceof URLSearchParams)) return null;
  const names = [...body.keys()];
  return names.every((name) => PARAMETERS.has(name)) && new Set(names).size === names.length ? body : null;
}

function basicClient(authorization: string | undefined): { readonly id: string; readonly secret: string } | null {
  const [, encoded] = /^Basic ([A-Za-z0-9+/=]+)$/.exec(authorization ?? '') ?? [];
  if (encoded === undefined) return null;
  const [id = '', secret = ''] = Buffer.from(encoded, 'base64').toString('utf8').split(':');
  return { id: decodeURIComponent(id), secret: decodeURIComponent(secret) };
}

function same(shown: string | null | undefined, known: string): boolean {
  const [one, other] = [Buffer.from(shown ?? ''), Buffer.from(known)];
  return one.length === other.length && timingSafeEqual(one, other);
}
