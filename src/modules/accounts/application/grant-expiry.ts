import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { TokenOptions } from './exchange-token.js';

/** When no session can begin under a grant any more: it cannot be exchanged, and the last bearer token under it is over. */
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
