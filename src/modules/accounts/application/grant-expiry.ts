import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { TokenOptions } from './exchange-token.js';

/**
 * The time after which a grant's details have no further use: the grant has expired, and so has the last bearer token of an exchange.
 * Later a session can begin only under a renewed token, and it begins without the details.
 */
@Injectable()
export class GrantExpiry {
  constructor(
    private readonly clock: Clock,
    private readonly tokens: TokenOptions,
  ) {}

  /**
   * The details of grants that expired at this time or before may be erased. It is twice a token's life ago, to allow for differing clocks and open
   * requests.
   */
  latestExpiry(): Date {
    return new Date(this.clock.now().getTime() - 2 * this.tokens.ttlSeconds * 1_000);
  }
}
