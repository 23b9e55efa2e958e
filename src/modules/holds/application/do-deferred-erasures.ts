import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import { type ActionContext, systemContext } from '../../../kernel/context.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { GroupedStream } from '../../../platform/aggregates/grouped-stream.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { accountHolds, endOf } from '../domain/account-holds.js';
import { Erasables } from './erasables.js';

/**
 * Does the erasures of an account that no hold defers any more. Safe to repeat: a run that died has left the rest remembered. Returns the number of
 * erasures that are still deferred.
 */
@UseCase()
export class DoDeferredErasures extends Command<{ readonly done: number; readonly deferred: number }> {
  constructor(
    readonly accountId: string,
    /** Null: the service does this by itself. */
    readonly context: ActionContext | null = null,
  ) {
    super();
  }
}

@Handles(DoDeferredErasures)
export class DoDeferredErasuresHandler implements ICommandHandler<DoDeferredErasures> {
  constructor(
    private readonly streams: GroupedStream,
    private readonly erasables: Erasables,
    private readonly clock: Clock,
  ) {}

  async execute({ accountId, context }: DoDeferredErasures): Promise<{ done: number; deferred: number }> {
    const by = context ?? systemContext('deferred-erasures', { accountId, environment: null });
    const { state } = await this.streams.load(accountHolds, accountId);
    const now = this.clock.now();
    const due = state.deferred.filter((one) => {
      const end = endOf(state, one);
      return end !== null && new Date(end) <= now;
    });
    const faults: unknown[] = [];
    let done = 0;
    // The fault of one erasure never delays the others.
    for (const one of due) {
      try {
        await this.erasables.erase(one, by);
        done += 1;
      } catch (error) {
        if (!isHeld(error)) faults.push(error);
      }
    }
    if (faults.length > 0) throw faults[0];
    const { deferred } = (await this.streams.load(accountHolds, accountId)).state;
    return { done, deferred: deferred.length };
  }
}

/** Another hold covers the data by now, and defers the erasure again. */
function isHeld(error: unknown): boolean {
  return error instanceof DomainError && error.detail.field === 'hold';
}
