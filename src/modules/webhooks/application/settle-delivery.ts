import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import { systemContext } from '../../../kernel/context.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { DeliveryQueue } from '../../../ports/delivery-queue.js';
import { delivery, dueAt, nextAttempt, redeliveryWaits } from '../domain/delivery.js';
import { Attempts } from './attempts.js';
import { queueTime, turnOf } from './turns.js';
import { WebhookPolicy } from './webhook-policy.js';

/** The time that a ping may take beyond the receiver's limit before its process counts as dead. */
const GRACE_SECONDS = 5;

/** The time after which no caller waits for a ping any more, ISO 8601 UTC. */
export function pingEndsAt(startedAt: string, timeoutSeconds: number): string {
  return new Date(Date.parse(startedAt) + (timeoutSeconds + GRACE_SECONDS) * 1_000).toISOString();
}

/**
 * Puts a due attempt into the queue again. The queue may have lost the attempt when Redis or the process of the attempt died. An abandoned ping is
 * ended instead, because no caller waits for it any more. Safe to repeat.
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
    private readonly policy: WebhookPolicy,
    private readonly clock: Clock,
  ) {}

  async execute({ deliveryId }: SettleDelivery): Promise<void> {
    const { state, owner } = await this.aggregates.load(delivery, deliveryId);
    const due = state.status === 'none' ? null : dueAt(state);
    if (state.status === 'none' || due === null || !owner?.accountId) return;
    if (state.kind === 'event') {
      const kind = redeliveryWaits(state) ? 'redelivery' : 'ladder';
      const at = await queueTime(this.clock, owner, due);
      return at === null ? undefined : this.queue.enqueue(turnOf(deliveryId, state, kind), at);
    }
    const startedAt = new Date(due);
    if ((await this.clock.of(owner)) < new Date(pingEndsAt(due, this.policy.timeoutSeconds))) return;
    const outcome = { errorCode: 'CONNECTION_FAILED', httpStatus: null, latencyMs: 0, excerpt: null } as const;
    const lost = { attempt: nextAttempt(state), of: 'ping', startedAt, outcome } as const;
    await this.attempts.record(deliveryId, lost, systemContext('webhook-sweep', owner));
  }
}
