// Reads `Authorization: Bearer <JWT>` for the authenticators of the platform and the dashboard.
import { Injectable } from '@nestjs/common';
import { Strategy } from 'passport-jwt';
import { BoundedMemory } from '../../kernel/bounded-memory.js';
import { Clock } from '../../kernel/clock.js';
import { TokenKeys } from '../../ports/token-keys.js';

export type Audience = 'platform' | 'dashboard';
export type Claims = Readonly<Record<string, unknown>>;

interface PresentedToken {
  readonly token: string;
}

const AUDIENCES = ['platform', 'dashboard'] as const satisfies readonly Audience[];
const BEARER = /^Bearer +([\w-]+\.[\w-]+\.[\w-]+) *$/i;
/** Of each audience. */
const REMEMBERED_BYTES = 16 * 2 ** 20;

interface VerifiedToken {
  readonly claims: Claims;
  readonly expiresAt: number;
}

/**
 * Verifies tokens of ours with passport-jwt: ES256 and nothing else, the key named by `kid`, our issuer, the surface's audience,
 * not expired. A token that was verified is remembered until it expires, because checking an ES256 signature takes longer
 * than all the rest of a status call.
 */
@Injectable()
export class BearerTokens {
  private readonly strategies: Readonly<Record<Audience, Strategy>>;
  private readonly verified: Readonly<Record<Audience, BoundedMemory<VerifiedToken>>>;

  constructor(
    keys: TokenKeys,
    private readonly clock: Clock,
  ) {
    const [platform, dashboard] = AUDIENCES.map((audience) => strategyOf(keys, audience)) as [Strategy, Strategy];
    this.strategies = { platform, dashboard };
    this.verified = { platform: new BoundedMemory(REMEMBERED_BYTES), dashboard: new BoundedMemory(REMEMBERED_BYTES) };
  }

  /** The claims, or null when the header holds no token that is good for this audience. Answers at once for a remembered token. */
  claimsOf(authorization: string | undefined, audience: Audience): Claims | null | Promise<Claims | null> {
    const token = BEARER.exec(authorization ?? '')?.[1];
    if (token === undefined) return null;
    const remembered = this.verified[audience].get(token);
    if (remembered === undefined) return this.verify(token, audience);
    if (this.clock.now().getTime() < remembered.expiresAt) return remembered.claims;
    this.verified[audience].delete(token);
    return null;
  }

  private async verify(token: string, audience: Audience): Promise<Claims | null> {
    const claims = await run(this.strategies[audience], { token });
    const expiresAt = typeof claims?.['exp'] === 'number' ? claims['exp'] * 1_000 : 0;
    if (claims === null || this.clock.now().getTime() >= expiresAt) return null;
    this.verified[audience].set(token, { claims, expiresAt });
    return claims;
  }
}

function strategyOf(keys: TokenKeys, audience: Audience): Strategy {
  return new Strategy(
    {
      jwtFromRequest: (presented: PresentedToken) => presented.token,
      secretOrKeyProvider: (_presented: PresentedToken, token: string, done) => {
        const key = keys.verificationKey(kidOf(token));
        if (key === null) done(new Error('unknown kid'));
        else done(null, key);
      },
      algorithms: ['ES256'],
      issuer: keys.issuer,
      audience,
    },
    (claims: Claims, done) => done(null, claims),
  );
}

/** Runs a passport strategy by itself: passport's own middleware keeps strategies in a process-wide registry by name. */
function run(strategy: Strategy, presented: PresentedToken): Promise<Claims | null> {
  return new Promise((resolve, reject) => {
    const attempt = Object.create(strategy) as Strategy;
    attempt.success = (claims: unknown) => resolve(claims as Claims);
    attempt.fail = () => resolve(null);
    attempt.error = reject;
    attempt.authenticate(presented as never);
  });
}

/** Empty when the header of the token cannot be read. */
function kidOf(token: string): string {
  try {
    const header = JSON.parse(Buffer.from(token.slice(0, token.indexOf('.')), 'base64url').toString()) as {
      kid?: unknown;
    } | null;
    return typeof header?.kid === 'string' ? header.kid : '';
  } catch (error) {
    if (error instanceof SyntaxError) return '';
    throw error;
  }
}
