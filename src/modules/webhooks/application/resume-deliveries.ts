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
import { isDelivered } from '../../../published/events.js';
import { delivery, type DeliveryState } from '../domain/delivery.js';
import { webhookEndpoint, type Endpoint, type Resume } from '../domain/endpoint.js';
import { feedStream, type FeedEvent } from '../domain/feed.js';
import { EndpointChanges } from './endpoint-changes.js';
import { deliveryOf } from './feed-delivery.js';
import { turnOf } from './turns.js';
import { WebhookPolicy } from './webhook-policy.js';

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
/** The number of events that are read together when the endpoint gets some types only. */
const PAGE = 100;
/** The least time between two deliveries to an endpoint: at most fifty a second (docs/contract/webhooks.md#resume). */
const SPACING_MS = 20;
const LOOK_AGAIN_MS = 10;
/** A first attempt may take this much longer than the receiver's time. Then the run ends, and the next run waits for the same attempt. */
const GRACE_MS = 5_000;

/** The name of the lease and of the places of an account's resumes. */
export const resumesOf = (accountId: string): string => `webhook_resume_${accountId}`;

@Handles(ResumeDeliveries)
export class ResumeDeliveriesHandler implements ICommandHandler<ResumeDeliveries> {
  constructor(
    private readonly store: EventStore,
    private readonly aggregates: AggregateStore,
    private readonly streams: GroupedStream,
    private readonly endpoints: EndpointChanges,
    private readonly queue: DeliveryQueue,
    private readonly checkpoints: HandlerCheckpoints,
    private readonly policy: WebhookPolicy,
    private readonly clock: Clock,
  ) {}

  /** Does nothing while another process works on the resumes of that account. */
  async execute({ accountId }: ResumeDeliveries): Promise<void> {
    const [name, holder, endsAt] = [resumesOf(accountId), newId(), this.now() + RUN_MS];
    const leaseMs = 2 * this.firstAttemptMs();
    if (!(await this.checkpoints.take(name, holder, leaseMs))) return;
    try {
      const places = placesIn(await this.checkpoints.passed(name));
      let goesOn = true;
      while (goesOn) {
        const { current } = (await this.streams.load(webhookEndpoint, accountId)).state;
        if (current === null || current.resumes.length === 0) return await this.checkpoints.forget(name, holder);
        goesOn = this.now() < endsAt;
        // Each resume delivers one event, so that no resume waits for the end of another one.
        for (const resume of current.resumes) {
          const place = await this.deliverNext(accountId, current, resume, places.get(resume.resumeId) ?? 0);
          if (place === null) goesOn = false;
          else places.set(resume.resumeId, place);
          if (!(await this.checkpoints.save(name, holder, textOf(places, current), leaseMs))) return;
        }
      }
    } finally {
      await this.checkpoints.release(name, holder);
    }
  }

  /** Gives the sequence up to which the resume is through. Null when a first attempt still waits, because later events must not overtake it. */
  private async deliverNext(
    accountId: string,
    endpoint: Endpoint,
    { resumeId, environment, from, head }: Resume,
    place: number,
  ): Promise<number | null> {
    const { endpointId, enabledEvents } = endpoint;
    const through = Math.max(place, from - 1);
    const limit = Math.min(enabledEvents === null ? 1 : PAGE, head - through);
    const events =
      limit > 0 ? await this.store.readStream(feedStream(accountId, environment), { from: through, limit }) : [];
    const last = events.at(-1);
    if (last === undefined) {
      const context = systemContext('webhooks', { accountId, environment });
      await this.endpoints.execute(accountId, { kind: 'end-resume', endpointId, resumeId }, context);
      return through;
    }
    const wanted = (events as RecordedEvent<FeedEvent>[]).find(({ data }) => isDelivered(data.type, enabledEvents));
    if (wanted !== undefined && !(await this.deliver(wanted, endpointId, resumeId))) return null;
    return (wanted ?? last).revision + 1;
  }

  /** Makes the delivery and waits for its first attempt, so that the receiver gets the events in order. False when the attempt still waits. */
  private async deliver(event: RecordedEvent<FeedEvent>, endpointId: string, resumeId: string): Promise<boolean> {
    const begunAt = this.now();
    const id = derivedIdLike(event.metadata.$causationId, 'webhook-delivery', endpointId, event.data.type, resumeId);
    const { command, context } = deliveryOf(event, endpointId, (await this.clock.of(event.metadata)).toISOString());
    const known = unstored<DeliveryState>(delivery.initial);
    let { state } = await this.aggregates.execute(delivery, { id, known }, command, context);
    if (state.status !== 'pending') return true;
    await this.queue.enqueue(turnOf(id, state, 'ladder'), this.clock.now());
    while (state.status === 'pending' && this.now() - begunAt < this.firstAttemptMs()) {
      await this.pause(LOOK_AGAIN_MS);
      ({ state } = await this.aggregates.load(delivery, id));
    }
    await this.pause(SPACING_MS - (this.now() - begunAt));
    return state.status !== 'pending';
  }

  private firstAttemptMs(): number {
    return this.policy.timeoutSeconds * 1_000 + GRACE_MS;
  }

  protected now(): number {
    return performance.now();
  }

  protected async pause(ms: number): Promise<void> {
    await pause(ms);
  }
}

/** The sequences up to which resumes are through, by the ids of the resumes. */
function placesIn(text: string | null): Map<string, number> {
  const places = (text ?? '').split(' ').map((place) => place.split('='));
  return new Map(places.map(([resumeId = '', through]) => [resumeId, Number(through ?? 0)]));
}

/** Leaves out resumes that are over. */
function textOf(places: ReadonlyMap<string, number>, { resumes }: Endpoint): string {
  return resumes.map(({ resumeId }) => `${resumeId}=${places.get(resumeId) ?? 0}`).join(' ');
}
