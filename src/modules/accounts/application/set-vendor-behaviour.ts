import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import type { CallerContext } from '../../../kernel/context.js';
import { fieldError } from '../../../kernel/domain-error.js';
import type { VendorBehaviour } from '../../../kernel/vendor-behaviour.js';
import type { Capability } from '../../../kernel/vendor-choice.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { account, type BehaviourWish } from '../domain/account.js';
import { TestHelperLimit } from './test-helper-limit.js';
import { requireTestKey } from './test-key.js';

const HOUR_MS = 3_600_000;
const LONGEST_HOURS = 24;

export type Wish = BehaviourWish & { readonly capability: Capability };

/** Makes the account's test vendor misbehave until a time. The default is one hour from now. `normal` ends the misbehaviour at once. */
@UseCase()
export class SetVendorBehaviour extends Command<Wish | null> {
  constructor(
    readonly wish: {
      readonly capability: Capability;
      readonly behaviour: VendorBehaviour | 'normal';
      /** ISO 8601, at most a day from now; null: one hour from now. */
      readonly until: string | null;
    },
    readonly context: CallerContext,
  ) {
    super();
  }
}

@Handles(SetVendorBehaviour)
export class SetVendorBehaviourHandler implements ICommandHandler<SetVendorBehaviour> {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly limit: TestHelperLimit,
    private readonly clock: Clock,
  ) {}

  async execute({ wish: { capability, behaviour, until }, context }: SetVendorBehaviour): Promise<Wish | null> {
    requireTestKey(context);
    const wish = behaviour === 'normal' ? null : { behaviour, until: this.end(until) };
    await this.limit.admit(context.accountId);
    await this.aggregates.execute(
      account,
      { id: context.accountId },
      { kind: 'wish-behaviour', capability, wish },
      context,
    );
    return wish && { capability, ...wish };
  }

  private end(until: string | null): string {
    const now = this.clock.now().getTime();
    const end = until === null ? now + HOUR_MS : Date.parse(until);
    if (!(end > now && end <= now + LONGEST_HOURS * HOUR_MS))
      throw fieldError('request.invalid', 'test.until', `must be a time within the next ${LONGEST_HOURS} hours`);
    return new Date(end).toISOString();
  }
}
