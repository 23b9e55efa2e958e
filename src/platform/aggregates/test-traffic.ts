import type { ActorKind } from '../../kernel/actor.js';
import type { ActionContext, Owner } from '../../kernel/context.js';
import { DomainError } from '../../kernel/domain-error.js';

/** When test traffic has used its share times this factor, only the service's own work for it may be stored. */
const GRACE = 1.1;
/** The work of the other actors continues, because live traffic may wait behind it. */
const CALLERS: ReadonlySet<ActorKind> = new Set<ActorKind>([
  'platform-token',
  'secret-key',
  'api-key',
  'dashboard-user',
]);

/** Limits test traffic to its share of the log. */
export class TestTraffic {
  /** `used` returns the used part of the share. 1 is the whole share. */
  constructor(readonly used: () => number = () => 0) {}

  /** Called before a use case begins a new aggregate. Test traffic beyond its share only completes what it has begun. */
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
