import type { ActorKind } from '../../kernel/actor.js';
import type { ActionContext, Owner } from '../../kernel/context.js';
import { DomainError } from '../../kernel/domain-error.js';

/** Beyond its share by this factor, test traffic gets nothing any more but what the service does by itself. */
const GRACE = 1.1;
/** Those who act by themselves follow from what callers did, and live traffic may wait behind them. */
const CALLERS: ReadonlySet<ActorKind> = new Set<ActorKind>([
  'platform-token',
  'secret-key',
  'api-key',
  'dashboard-user',
]);

/** Keeps test traffic to its share of the log. */
export class TestShare {
  /** `used`: how much of the share; 1 is all of it. */
  constructor(readonly used: () => number = () => 0) {}

  /** For a use case that begins something, before it does anything: test traffic that has used up its share begins nothing, and goes on with what it has begun. */
  admit({ environment }: Owner): void {
    if (environment === 'test') this.refuseBeyond(1);
  }

  admitCommand({ environment, actor }: ActionContext): void {
    if (environment === 'test' && CALLERS.has(actor.kind)) this.refuseBeyond(GRACE);
  }

  private refuseBeyond(usage: number): void {
    if (this.used() >= usage)
      throw new DomainError('service.unavailable', {
        cause: new Error('Test traffic has used up its share of the event log (TEST_LOG_SHARE)'),
      });
  }
}
