import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import type { ActionContext } from '../../../kernel/context.js';
import type { Erasure, HeldData } from '../../../kernel/held-data.js';
import { GroupedStream } from '../../../platform/aggregates/grouped-stream.js';
import { Holds, type StandingHold } from '../../../published/holds.js';
import { accountHolds, holdsOn, type AccountHoldsCommand, type AccountHoldsState } from '../domain/account-holds.js';

@Injectable()
export class StandingHolds extends Holds {
  constructor(
    private readonly streams: GroupedStream,
    private readonly clock: Clock,
  ) {
    super();
  }

  override async covering(data: HeldData): Promise<readonly StandingHold[]> {
    if (data.accountId === null) return [];
    const { state } = await this.streams.load(accountHolds, data.accountId);
    return holdsOn(state, data, this.clock.now());
  }

  override async defer(erasure: Erasure, context: ActionContext): Promise<readonly StandingHold[]> {
    const now = this.clock.now();
    const state = await this.execute({ kind: 'defer', now, erasure }, erasure.accountId, context);
    return holdsOn(state, erasure, now);
  }

  override async erased(erasure: Pick<Erasure, 'kind' | 'id' | 'accountId'>, context: ActionContext): Promise<void> {
    await this.execute({ kind: 'finish', erasure }, erasure.accountId, context);
  }

  private async execute(
    command: AccountHoldsCommand,
    accountId: string | null,
    context: ActionContext,
  ): Promise<AccountHoldsState> {
    if (accountId === null) return accountHolds.initial;
    const owner = { accountId, environment: null };
    return (await this.streams.execute(accountHolds, accountId, command, { ...context, ...owner })).state;
  }
}
