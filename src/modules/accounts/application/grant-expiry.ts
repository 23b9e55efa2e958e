import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { TokenOptions } from './exchange-token.js';

/**
 * When what a caller said of a session is waited for no longer: the grant cannot be exchanged, and the last bearer token of an exchange is
 * over. Later a session can begin only under a token that was renewed, and does so without those words.
 */
@Injectable()
export class GrantExpiry {
  constructor(
    private readonly clock: Clock,
    private readonly tokens: TokenOptions,
  ) {}

  /** The latest expiry of such a grant. Twice the life of a token ago, for clocks that differ and requests under way. */
  latestExpiry(): Date {
    return new Date(this.clock.now().getTime() - 2 * this.tokens.ttlSeconds * 1_000);
  }
}
