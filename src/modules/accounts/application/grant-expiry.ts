import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { TokenOptions } from './exchange-token.js';

/**
 * The time after which a grant's details are useless: the grant and the last bearer token of a first exchange under it have expired. A later session
 * can begin only under a renewed token, and it begins without the details.
 */
@Injectable()
export class GrantExpiry {
  constructor(
    private readonly clock: Clock,
    private readonly tokens: TokenOptions,
  ) {}

  /**
   * Details of grants that expired at this time or before may be erased. The time is two token lifetimes ago, which allows for differing clocks and
   * open requests.
   */
  latestExpiry(): Date {
    return new Date(this.clock.now().getTime() - 2 * this.tokens.ttlSeconds * 1_000);
  }
}
