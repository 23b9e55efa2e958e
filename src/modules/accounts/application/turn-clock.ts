import { setTimeout as pause } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import type { CallerContext } from '../../../kernel/context.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { CLOCK_KNOWN_MS } from '../../../ports/test-clocks.js';
import { account } from '../domain/account.js';
import { PassedWaits } from './passed-waits.js';
import { TestHelperLimit } from './test-helper-limit.js';
import { requireTestKey } from './test-key.js';

const logger = new Logger('TurnClock');

/** Turns the account's test clock forward, and begins to do what is due then. Returns when every process goes by the new time. */
@UseCase()
export class TurnClock extends Command<void> {
  constructor(
    readonly turn: { readonly bySeconds: number } | { readonly to: Date },
    readonly context: CallerContext,
  ) {
    super();
  }
}

@Handles(TurnClock)
export class TurnClockHandler implements ICommandHandler<TurnClock> {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly limit: TestHelperLimit,
    private readonly passed: PassedWaits,
    private readonly clock: Clock,
  ) {}

  async execute({ turn, context }: TurnClock): Promise<void> {
    requireTestKey(context);
    const { accountId } = context;
    await this.limit.admit(accountId);
    const machine = this.clock.now();
    const wish = 'to' in turn ? { aheadSeconds: Math.ceil((turn.to.getTime() - machine.getTime()) / 1_000) } : turn;
    await this.aggregates.execute(account, { id: accountId }, { kind: 'turn-clock', machine, ...wish }, context);
    // Every process reads the clock again within this time.
    await pause(2 * CLOCK_KNOWN_MS);
    // If this process dies, a timer of the workers goes on.
    this.passed.settle(accountId).catch((error: unknown) => logger.warn({ err: error, accountId }));
  }
}
