import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import type { CallerContext } from '../../../kernel/context.js';
import type { RecordedEvent } from '../../../kernel/domain-event.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { newId } from '../../../kernel/ids.js';
import { AggregateStore, unstored } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { limitRule, RateLimiter } from '../../../ports/rate-limiter.js';
import {
  publishedAs,
  PublishedEvents,
  type EventType,
  type PublishedEvent,
  type Publisher,
} from '../../../published/events.js';
import { testEvent, type TestEvent } from '../domain/test-event.js';
import { testEventData } from './test-event-data.js';
import { WebhookPolicy } from './webhook-policy.js';

const HOUR_SECONDS = 3_600;

/** Publishes an event in the test environment of the account. Nothing else changes (docs/contract/server.md#test-events). */
@UseCase()
export class TriggerTestEvent extends Command<PublishedEvent> {
  constructor(
    readonly event: { readonly type: EventType; readonly data: Readonly<Record<string, unknown>> },
    readonly context: CallerContext,
  ) {
    super();
  }
}

@Handles(TriggerTestEvent)
export class TriggerTestEventHandler implements ICommandHandler<TriggerTestEvent> {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly limiter: RateLimiter,
    private readonly policy: WebhookPolicy,
    private readonly clock: Clock,
    private readonly published: PublishedEvents,
  ) {}

  async execute({ event: { type, data }, context }: TriggerTestEvent): Promise<PublishedEvent> {
    if (context.environment !== 'test')
      throw new DomainError('request.forbidden', { rule: 'Test helpers need a test key.' });
    const { links } = this.published;
    const command = { type, data: testEventData(type, data, { now: await this.clock.of(context), links }) };
    const limit = this.policy.testEventsPerHour;
    const rule = limitRule(limit, 'test events of one account', HOUR_SECONDS, 'TEST_HELPERS_PER_HOUR');
    await this.limiter.admit([{ key: `test-events:${context.accountId}`, limit, windowSeconds: HOUR_SECONDS, rule }]);
    const { history } = await this.aggregates.execute(
      testEvent,
      { id: newId(), known: unstored(testEvent.initial) },
      command,
      context,
    );
    return publishTestEvent(history);
  }
}

function publishTestEvent(history: readonly RecordedEvent[]): PublishedEvent {
  const stored = history.at(-1) as RecordedEvent<TestEvent>;
  const { type, data } = stored.data as { type: EventType; data: PublishedEvent['data'] };
  return publishedAs(stored, type, data);
}

export const testEventPublisher: Publisher = {
  category: testEvent.category,
  types: new Set<TestEvent['type']>(['TestEventTriggered']),
  alone: true,
  publish: publishTestEvent,
};
