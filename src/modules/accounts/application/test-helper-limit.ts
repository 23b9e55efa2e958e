import { Injectable } from '@nestjs/common';
import { limitRule, RateLimiter } from '../../../ports/rate-limiter.js';

const HOUR_SECONDS = 3_600;

/** Settings of the test helpers; also the injection token. */
export abstract class TestHelperOptions {
  abstract readonly changesPerHour: number;
}

/** Limits the changes of an account by test helpers. Live traffic reads the account's stream too, so a test key must not make it long. */
@Injectable()
export class TestHelperLimit {
  constructor(
    private readonly limiter: RateLimiter,
    private readonly options: TestHelperOptions,
  ) {}

  /** Throws if the account has made too many changes. */
  admit(accountId: string): Promise<void> {
    const limit = this.options.changesPerHour;
    const rule = limitRule(limit, 'changes of one test account by test helpers', HOUR_SECONDS, 'TEST_HELPERS_PER_HOUR');
    return this.limiter.admit([{ key: `test-helpers:${accountId}`, limit, windowSeconds: HOUR_SECONDS, rule }]);
  }
}
