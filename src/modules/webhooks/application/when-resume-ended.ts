import { Injectable } from '@nestjs/common';
import type { RecordedEvent } from '../../../kernel/domain-event.js';
import { newId } from '../../../kernel/ids.js';
import { GroupedStream } from '../../../platform/aggregates/grouped-stream.js';
import { EventStore } from '../../../ports/event-store.js';
import type { EventHandler } from '../../../ports/event-handler.js';
import { HandlerCheckpoints } from '../../../ports/handler-checkpoints.js';
import { webhookEndpoint, type EndpointEvent } from '../domain/endpoint.js';
import { feedStream } from '../domain/feed.js';
import { resumesOf } from './resume-deliveries.js';
import { WhenEventPublished } from './when-event-published.js';

const PAGE = 500;
const LEASE_MS = 10_000;

/** Makes the deliveries that a resume has held back until its end. Their ids are those of all deliveries, so an event that has one gets no second. */
@Injectable()
export class WhenResumeEnded implements EventHandler {
  readonly name = 'webhook_resume_end';
  readonly categories = [webhookEndpoint.category];
  readonly types: ReadonlySet<string> = new Set<EndpointEvent['type']>(['WebhookResumed']);

  constructor(
    private readonly store: EventStore,
    private readonly streams: GroupedStream,
    private readonly published: WhenEventPublished,
    private readonly checkpoints: HandlerCheckpoints,
  ) {}

  async handle(event: RecordedEvent): Promise<void> {
    const { data, metadata, position } = event as RecordedEvent & Extract<EndpointEvent, { type: 'WebhookResumed' }>;
    const { accountId } = metadata;
    if (accountId === null) return;
    const stream = feedStream(accountId, data.environment);
    let page: readonly RecordedEvent[];
    let from = Math.max(data.through, 0);
    do {
      page = await this.store.readStream(stream, { from, limit: PAGE });
      from += page.length;
      // The handler of published events has not held back later events.
      await this.published.handle(...page.filter((one) => one.position < position));
    } while (page.length === PAGE && (page.at(-1)?.position ?? '') < position);
    await this.forgetPlaces(accountId);
  }

  /** The worker of the resumes forgets their places too, unless the endpoint was disabled or deleted between two of its runs. */
  private async forgetPlaces(accountId: string): Promise<void> {
    const { current } = (await this.streams.load(webhookEndpoint, accountId)).state;
    const [name, holder] = [resumesOf(accountId), newId()];
    if ((current?.resumes.length ?? 0) > 0 || !(await this.checkpoints.take(name, holder, LEASE_MS))) return;
    await this.checkpoints.forget(name, holder);
    await this.checkpoints.release(name, holder);
  }
}
