import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import { systemContext } from '../../../kernel/context.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { DeliveryQueue } from '../../../ports/delivery-queue.js';
import { delivery, dueAt, type Delivery } from '../domain/delivery.js';
import { Attempts } from './attempts.js';
import { turnOf } from './turns.js';

/**
 * Looks after a delivery whose time has come: an attempt whose worker died counts as failed (it is not known whether it arrived, so
 * the ladder goes on), and an attempt without a worker is asked for again. No caller waits any more for a ping that was left
 * behind: it ends without being sent. Safe to repeat.
 */
@UseCase()
export class SettleDelivery extends Command<void> {
  constructor(readonly deliveryId: string) {
    super();
  }
}

@Handles(SettleDelivery)
export class SettleDeliveryHandler implements ICommandHandler<SettleDelivery> {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly attempts: Attempts,
    private readonly queue: DeliveryQueue,
    private readonly clock: Clock,
  ) {}

  async execute({ deliveryId }: SettleDelivery): Promise<void> {
    const loaded = await this.aggregates.load(delivery, deliveryId);
    const accountId = loaded.owner?.accountId;
    let { state } = loaded;
    const now = this.clock.now();
    if (state.status === 'none' || !accountId) return;
    const context = systemContext('webhook-sweep', loaded.owner);
    if (isLeftBehind(state))
      state = (
        await this.aggregates.execute(
          delivery,
          deliveryId,
          { kind: 'start', of: 'ping', now, settleAfter: now },
          context,
          loaded,
        )
      ).state;
    if (state.status === 'none') return;
    if (state.underWay !== null) {
      if (now < new Date(state.underWay.settleAfter)) return;
      const lost = { errorCode: 'CONNECTION_FAILED', httpStatus: null, latencyMs: 0, excerpt: null } as const;
      state = await this.attempts.record(deliveryId, state.underWay.attempt, lost, context);
    }
    const due = dueAt(state);
    if (due === null) return;
    const kind = state.redelivery?.waiting === true ? 'redelivery' : 'ladder';
    await this.queue.enqueue(turnOf(deliveryId, state, kind), new Date(due));
  }
}

/** The process that was asked for the ping died before sending it. */
function isLeftBehind({ kind, status, underWay }: Delivery): boolean {
  return kind === 'ping' && status === 'pending' && underWay === null;
}
