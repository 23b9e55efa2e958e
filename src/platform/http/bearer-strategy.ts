// Authenticates callers by `Authorization: Bearer <JWT>` with passport-jwt, for the platform and the dashboard.
import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { decodeProtectedHeader } from 'jose';
import { LRUCache } from 'lru-cache';
import passport from 'passport';
import { Strategy } from 'passport-jwt';
import { Clock } from '../../kernel/clock.js';
import { DomainError } from '../../kernel/domain-error.js';
import { cachedBytes } from '../../kernel/json.js';
import { TokenKeys } from '../../ports/token-keys.js';
import type { Authenticator } from './authenticator.js';
import type { Principal } from './principal.js';

export type Claims = Readonly<Record<string, unknown>>;

const BEARER = /^Bearer +([\w-]+\.[\w-]+\.[\w-]+) *$/i;
const REMEMBERED_BYTES = 16 * 2 ** 20;

interface VerifiedToken {
  readonly claims: Claims;
  readonly expiresAt: number;
}

/** The keys and the clock for the verification of tokens. */
@Injectable()
export class BearerTokens {
  constructor(
    readonly keys: TokenKeys,
    readonly clock: Clock,
  ) {}
}

/**
 * Accepts the service's own tokens: ES256 only, the key named by `kid`, the service's issuer, the surface's audience, not expired. A verified token
 * is remembered until it expires, because the check of an ES256 signature takes longer than the rest of a status call.
 */
export abstract class BearerStrategy extends PassportStrategy(Strategy) implements Authenticator {
  declare private passport?: InstanceType<typeof passport.Passport>;
  private readonly clock: Clock;
  private readonly verified = new LRUCache<string, VerifiedToken>({
    maxSize: REMEMBERED_BYTES,
    // The key is the token, which is about as long as its claims.
    sizeCalculation: (token) => 2 * cachedBytes(token),
  });

  constructor({ keys, clock }: BearerTokens, audience: string) {
    super({
      jwtFromRequest: tokenOf,
      secretOrKeyProvider: (_request: unknown, token: string, done) => {
        const key = keys.verificationKey(kidOf(token));
        if (key === null) done(new Error('unknown kid'));
        else done(null, key);
      },
      algorithms: ['ES256'],
      issuer: keys.issuer,
      audience,
      passReqToCallback: true,
    });
    this.clock = clock;
  }

  /** Returns the caller for the claims of a valid token, or null to refuse the request. */
  protected abstract principalOf(claims: Claims, request: FastifyRequest): Principal | null;

  /** `reason`: the library's error; null if none exists. If it has `expiredAt`, the token was issued by the service. */
  protected refusal(_request: FastifyRequest, _reason: unknown): DomainError {
    return new DomainError('request.unauthenticated');
  }

  /** Accepts a remembered token at once. */
  admit(request: FastifyRequest, reply: FastifyReply): void | Promise<void> {
    const remembered = this.verified.get(tokenOf(request) ?? '');
    if (remembered === undefined) return this.verify(request, reply);
    this.letIn(request, this.principalUntil(remembered, request));
  }

  /** Makes passport run this strategy. */
  private async verify(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const judged = await new Promise<Judged>((resolve, reject) => {
      const take = (error: Error | null, ...verdict: Judged): void => (error ? reject(error) : resolve(verdict));
      const run = this.getPassportInstance().authenticate(this.name, { session: false }, take) as Middleware;
      run(request, reply, take);
    });
    this.letIn(request, ...judged);
  }

  private letIn(request: FastifyRequest, ...[principal, reason]: Judged): void {
    if (!principal) throw this.refusal(request, reason);
    request.principal = principal;
  }

  /** Nest registers the strategy here. The whole process shares passport's own registry, and each service has its own keys. */
  getPassportInstance(): InstanceType<typeof passport.Passport> {
    return (this.passport ??= new passport.Passport());
  }

  /** Called with the claims of a verified token. */
  validate(request: FastifyRequest, claims: Claims): Principal | null {
    const { exp } = claims;
    const verified = { claims, expiresAt: typeof exp === 'number' ? exp * 1_000 : 0 };
    this.verified.set(tokenOf(request) ?? '', verified);
    return this.principalUntil(verified, request);
  }

  private principalUntil({ claims, expiresAt }: VerifiedToken, request: FastifyRequest): Principal | null {
    if (this.clock.now().getTime() >= expiresAt) throw this.refusal(request, { expiredAt: new Date(expiresAt) });
    return this.principalOf(claims, request);
  }
}

type Judged = [principal?: Principal | false | null, reason?: unknown];
type Middleware = (request: FastifyRequest, reply: FastifyReply, next: (error: Error) => void) => void;

function tokenOf({ headers }: { readonly headers: { readonly authorization?: string | undefined } }): string | null {
  return BEARER.exec(headers.authorization ?? '')?.[1] ?? null;
}

/** Empty if the header of the token cannot be read. */
function kidOf(token: string): string {
  try {
    return decodeProtectedHeader(token).kid ?? '';
  } catch {
    return '';
  }
}
