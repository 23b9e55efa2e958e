import { setTimeout as pause } from 'node:timers/promises';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import { systemContext } from '../../../kernel/context.js';
import type { RecordedEvent } from '../../../kernel/domain-event.js';
import { derivedIdLike, newId } from '../../../kernel/ids.js';
import { AggregateStore, unstored } from '../../../platform/aggregates/aggregate-store.js';
import { GroupedStream } from '../../../platform/aggregates/grouped-stream.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { DeliveryQueue } from '../../../ports/delivery-queue.js';
import { EventStore } from '../../../ports/event-store.js';
import { HandlerCheckpoints } from '../../../ports/handler-checkpoints.js';
import { delivery, type DeliveryState } from '../domain/delivery.js';
import { webhookEndpoint, type Endpoint, type Resume } from '../domain/endpoint.js';
import { feed, feedIdOf, type FeedEvent } from '../domain/feed.js';
import { EndpointChanges } from './endpoint-changes.js';
import { deliveryOf } from './feed-delivery.js';
import { turnOf } from './turns.js';
import { WebhookPolicy } from './webhook-policy.js';
import { WhenEventPublished } from './when-event-published.js';

/**
 * Delivers the events of a feed that an account has asked for with `resume_from`, one after another. A run ends after a while, and the next run goes
 * on. Safe to repeat: each delivery of a resume has an id of its own, so it is made once.
 */
@UseCase()
export class ResumeDeliveries extends Command<void> {
  constructor(readonly accountId: string) {
    super();
  }
}

const RUN_MS = 10_000;
const LEASE_MS = 20_000;
const PAGE = 100;
/** The least time between two deliveries to an endpoint: at most fifty a second (docs/contract/webhooks.md#resume). */
const SPACING_MS = 20;
const LOOK_AGAIN_MS = 10;
/** A first attempt may take this much longer than the receiver's time. Then the next event has its turn. */
const GRACE_MS = 5_000;

/** A resume that this process works on. Its place in Redis is the last sequence that had its turn. */
interface Run {
  readonly accountId: string;
  readonly resume: Resume;
  readonly name: string;
  readonly holder: string;
  readonly endsAt: number;
}

@Handles(ResumeDeliveries)
export class ResumeDeliveriesHandler implements ICommandHandler<ResumeDeliveries> {
  constructor(
    private readonly store: EventStore,
    private readonly aggregates: AggregateStore,
    private readonly streams: GroupedStream,
    private readonly endpoints: EndpointChanges,
    private readonly published: WhenEventPublished,
    private readonly queue: DeliveryQueue,
    private readonly checkpoints: HandlerCheckpoints,
    private readonly policy: WebhookPolicy,
    private readonly clock: Clock,
  ) {}

  /** Does nothing while another process resumes the deliveries of that endpoint. */
  async execute({ accountId }: ResumeDeliveries): Promise<void> {
    const endsAt = performance.now() + RUN_MS;
    const { current } = (await this.streams.load(webhookEndpoint, accountId)).state;
    for (const resume of current?.resumes ?? []) {
      const run = { accountId, resume, name: `webhook_resume_${resume.resumeId}`, holder: newId(), endsAt };
      if (!(await this.checkpoints.take(run.name, run.holder, LEASE_MS))) continue;
      try {
        if (await this.resume(run)) await this.checkpoints.forget(run.name, run.holder);
      } finally {
        await this.checkpoints.release(run.name, run.holder);
      }
    }
  }

  /** Whether the resume is over. */
  private async resume(run: Run): Promise<boolean> {
    let done = Math.max(Number((await this.checkpoints.passed(run.name)) ?? 0), run.resume.from - 1, 0);
    for (;;) {
      const events = await this.events(run, done, PAGE);
      if (events.length === 0) return this.end(run, done);
      for (const event of events) {
        const endpoint = await this.endpointOf(run);
        if (endpoint === null) return true;
        if (performance.now() > run.endsAt) return false;
        if (endpoint.enabledEvents === null || endpoint.enabledEvents.includes(event.data.type))
          await this.deliver(event, endpoint, run.resume);
        done = event.revision + 1;
        if (!(await this.checkpoints.save(run.name, run.holder, String(done), LEASE_MS))) return false;
      }
    }
  }

  /** Null once the resume was replaced, or ended with its endpoint. */
  private async endpointOf({ accountId, resume: { resumeId } }: Run): Promise<Endpoint | null> {
    const { current } = (await this.streams.load(webhookEndpoint, accountId)).state;
    return current?.resumes.some((one) => one.resumeId === resumeId) ? current : null;
  }

  /** Makes the delivery and waits for its first attempt, so that the receiver gets the events in order. */
  private async deliver(
    event: RecordedEvent<FeedEvent>,
    { endpointId }: Endpoint,
    { resumeId }: Resume,
  ): Promise<void> {
    const [id, begunAt] = [
      derivedIdLike(event.metadata.$causationId, 'webhook-delivery', endpointId, event.data.type, resumeId),
      performance.now(),
    ];
    const { command, context } = deliveryOf(event, endpointId, this.clock.now().toISOString());
    const known = unstored<DeliveryState>(delivery.initial);
    let { state } = await this.aggregates.execute(delivery, { id, known }, command, context);
    if (state.status !== 'pending') return;
    await this.queue.enqueue(turnOf(id, state, 'ladder'), new Date(state.nextAttemptAt ?? state.occurredAt));
    while (state.status === 'pending' && performance.now() - begunAt < this.policy.timeoutSeconds * 1_000 + GRACE_MS) {
      await pause(LOOK_AGAIN_MS);
      ({ state } = await this.aggregates.load(delivery, id));
    }
    await pause(SPACING_MS - (performance.now() - begunAt));
  }

  /**
   * Ends the resume at the head of the feed. Until this is stored, the handler of published events makes no delivery of them, so the events
   * published meanwhile are scheduled here.
   */
  private async end(run: Run, through: number): Promise<boolean> {
    const { accountId, resume } = run;
    const { resumeId, environment } = resume;
    const context = systemContext('webhooks', { accountId, environment });
    const endpointId = (await this.endpointOf(run))?.endpointId ?? '';
    await this.endpoints.execute(accountId, { kind: 'end-resume', endpointId, resumeId, through }, context);
    for (let place = through; ; place += PAGE) {
      const events = await this.events(run, place, PAGE);
      for (const event of events) await this.published.schedule(event);
      if (events.length < PAGE) return true;
    }
  }

  private async events(run: Run, after: number, limit: number): Promise<RecordedEvent<FeedEvent>[]> {
    return (await this.store.readStream(streamOf(run), { from: after, limit })) as RecordedEvent<FeedEvent>[];
  }
}

function streamOf({ accountId, resume: { environment } }: Run): string {
  return `${feed.category}-${feedIdOf(accountId, environment)}`;
}
