// The use cases and event handlers of the webhooks module on a real event store, vault and Redis. Receivers, the mail
// server and other modules' events are fakes. The test runs the queue itself and so decides the order of the jobs.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CommandBus } from '@nestjs/cqrs';
import { EmbeddedEventStore } from '../../../src/adapters/event-store/embedded.js';
import { RedisHandlerCheckpoints } from '../../../src/adapters/handler-checkpoints/redis.js';
import { RedisProjectionStore } from '../../../src/adapters/read-models/redis-projection-store.js';
import type { RedisReadModels } from '../../../src/adapters/read-models/redis.js';
import { DiskVault } from '../../../src/adapters/vault/disk.js';
import { MasterKeys } from '../../../src/adapters/vault/master-keys.js';
import type { ActionContext } from '../../../src/kernel/context.js';
import type { Decider } from '../../../src/kernel/decider.js';
import { categoryOf, type DomainEvent, type RecordedEvent } from '../../../src/kernel/domain-event.js';
import { foldState } from '../../../src/kernel/projection.js';
import type { Environment } from '../../../src/kernel/environment.js';
import { newId } from '../../../src/kernel/ids.js';
import { Unavailable } from '../../../src/kernel/unavailable.js';
import { AttemptDelivery, AttemptDeliveryHandler } from '../../../src/modules/webhooks/application/attempt-delivery.js';
import { Attempts } from '../../../src/modules/webhooks/application/attempts.js';
import {
  type CancelDelivery,
  CancelDeliveryHandler,
} from '../../../src/modules/webhooks/application/cancel-delivery.js';
import {
  ChangeEndpoint,
  ChangeEndpointHandler,
  type EndpointChange,
} from '../../../src/modules/webhooks/application/change-endpoint.js';
import {
  CheckDeliveriesHandler,
  type DeliveryCheck,
  type MissingDelivery,
} from '../../../src/modules/webhooks/application/check-deliveries.js';
import { DeleteEndpoint, DeleteEndpointHandler } from '../../../src/modules/webhooks/application/delete-endpoint.js';
import {
  DisableOverdueEndpoint,
  DisableOverdueEndpointHandler,
} from '../../../src/modules/webhooks/application/disable-overdue-endpoint.js';
import { EndpointChanges, type EndpointNews } from '../../../src/modules/webhooks/application/endpoint-changes.js';
import { EndpointSecrets } from '../../../src/modules/webhooks/application/endpoint-secrets.js';
import { PingEndpoint, PingEndpointHandler } from '../../../src/modules/webhooks/application/ping-endpoint.js';
import { Redeliver, RedeliverHandler } from '../../../src/modules/webhooks/application/redeliver.js';
import {
  RegisterEndpoint,
  RegisterEndpointHandler,
} from '../../../src/modules/webhooks/application/register-endpoint.js';
import {
  ReplayEvents,
  ReplayEventsHandler,
  type Replay,
} from '../../../src/modules/webhooks/application/replay-events.js';
import {
  ResumeDeliveries,
  ResumeDeliveriesHandler,
} from '../../../src/modules/webhooks/application/resume-deliveries.js';
import { RotateSecret, RotateSecretHandler } from '../../../src/modules/webhooks/application/rotate-secret.js';
import { SettleDelivery, SettleDeliveryHandler } from '../../../src/modules/webhooks/application/settle-delivery.js';
import { WhenDeliveryExhausted } from '../../../src/modules/webhooks/application/when-delivery-exhausted.js';
import {
  type OpenDeliveries,
  WhenEndpointEnded,
} from '../../../src/modules/webhooks/application/when-endpoint-ended.js';
import { WhenEventPublished } from '../../../src/modules/webhooks/application/when-event-published.js';
import { WhenEventStored } from '../../../src/modules/webhooks/application/when-event-stored.js';
import { WhenHealthChanged } from '../../../src/modules/webhooks/application/when-health-changed.js';
import { WhenResumeEnded } from '../../../src/modules/webhooks/application/when-resume-ended.js';
import { type SignatureVersion, validKeys, webhookEndpoint } from '../../../src/modules/webhooks/domain/endpoint.js';
import { DeliveryReader } from '../../../src/modules/webhooks/read/deliveries.js';
import { deliveryLog } from '../../../src/modules/webhooks/read/delivery-log.js';
import { endpointProjection } from '../../../src/modules/webhooks/read/endpoint-projection.js';
import { EndpointReader } from '../../../src/modules/webhooks/read/endpoints.js';
import {
  type CommandResult,
  AggregateStore,
  type LoadedAggregate,
} from '../../../src/platform/aggregates/aggregate-store.js';
import { GroupedStream } from '../../../src/platform/aggregates/grouped-stream.js';
import { CompleteLists } from '../../../src/platform/subscriptions/complete-lists.js';
import { Projector } from '../../../src/platform/subscriptions/projector.js';
import { type Backlog, DeliveryQueue, type DueDelivery } from '../../../src/ports/delivery-queue.js';
import type { EventStore } from '../../../src/ports/event-store.js';
import { type Mail, MailSender } from '../../../src/ports/mail-sender.js';
import {
  WebhookAddressRules,
  type WebhookAnswer,
  type WebhookRequest,
  WebhookSender,
} from '../../../src/ports/webhook-sender.js';
import type { Accounts } from '../../../src/published/accounts.js';
import { publishedAs, type PublishedEvents, type Publisher } from '../../../src/published/events.js';
import { QUICK, Recorder } from '../../projections/fixtures.js';
import { CountedInMemory } from '../../support/rate-limiter.js';
import { readModelsIn } from '../../support/read-models.js';
import { type RedisServer } from '../../support/redis.js';
import { SetClock } from '../../support/clock.js';
import { HEALTH, LADDER } from './histories.js';
import { until } from '../../support/eventually.js';

export const PROJECTIONS = [endpointProjection, deliveryLog];
export const TAKEN: WebhookAnswer = {
  errorCode: null,
  httpStatus: 200,
  latencyMs: 5,
  responseExcerpt: 'thank you, Ada',
};
export const REFUSED: WebhookAnswer = {
  errorCode: 'HTTP_STATUS',
  httpStatus: 500,
  latencyMs: 7,
  responseExcerpt: 'not now',
};

/** An aggregate of another module with an event that is published. */
const parcel: Decider<
  { readonly opened: boolean },
  { readonly kind: 'share' },
  DomainEvent<'ParcelShared', { readonly parcelId: string }>
> = {
  category: 'parcel',
  initial: { opened: false },
  decide: () => [{ type: 'ParcelShared', data: { parcelId: 'parcel' } }],
  evolve: () => ({ opened: true }),
};
const parcelPublisher: Publisher = {
  category: 'parcel',
  types: new Set(['ParcelShared']),
  publish: (history) => {
    const event = history.at(-1);
    return event
      ? publishedAs(event, 'report.shared', {
          report_id: 'r',
          session_id: 's',
          recipient_account_id: 'a',
          shared_at: event.metadata.occurredAt,
        })
      : null;
  },
};

/** Applies every event to the read models at once, so that tests do not wait for the subscription. */
class AttendedStore extends AggregateStore {
  override execute<State, Command, Event extends DomainEvent>(
    decider: Decider<State, Command, Event>,
    aggregate: string | { readonly id: string; readonly known?: LoadedAggregate<State> | undefined },
    command: Command,
    { skipReadYourWrites: _, ...context }: ActionContext,
  ): Promise<CommandResult<State, Event>> {
    return super.execute(decider, aggregate, command, context);
  }
}

class PlayedReceivers extends WebhookSender {
  readonly requests: WebhookRequest[] = [];
  answer: WebhookAnswer | Error = TAKEN;
  /** Runs in each receiver before the receiver answers. */
  before: () => Promise<void> = () => Promise.resolve();

  override async send(request: WebhookRequest): Promise<WebhookAnswer> {
    this.requests.push(request);
    await this.before();
    if (this.answer instanceof Error) throw this.answer;
    return this.answer;
  }
}

class PlayedMailServer extends MailSender {
  readonly mails: Mail[] = [];
  away = false;
  asked = 0;

  override async send(mail: Mail): Promise<void> {
    this.asked += 1;
    if (this.away) throw new Unavailable('away');
    this.mails.push(mail);
  }
}

class ListedQueue extends DeliveryQueue {
  readonly due: { readonly delivery: DueDelivery; readonly at: Date }[] = [];
  away = false;

  override async enqueue(delivery: DueDelivery, at: Date): Promise<void> {
    if (this.away) throw new Unavailable('away');
    this.due.push({ delivery, at });
  }
  override async backlog(): Promise<Backlog> {
    throw new Error('not asked of it here');
  }
}

/** Resumes in a process where time passes only in pauses. The worker of the queue works in each pause. */
class TimedResumes extends ResumeDeliveriesHandler {
  timeMs = 0;
  worker: () => Promise<void> = () => Promise.resolve();

  protected override now(): number {
    return this.timeMs;
  }
  protected override async pause(ms: number): Promise<void> {
    this.timeMs += Math.max(0, ms);
    await this.worker();
  }
}

class AllowedAddresses extends WebhookAddressRules {
  override async faultOf(url: string): Promise<string | null> {
    return url.startsWith('https://') ? null : 'The URL must begin with https://';
  }
}

export class WebhookHarness {
  readonly receivers = new PlayedReceivers();
  readonly mailServer = new PlayedMailServer();
  readonly queue = new ListedQueue();
  readonly told = new Recorder();
  /** The changes of endpoints that the observer has received. */
  readonly news: EndpointNews[] = [];
  /** The deliveries that a check found missing. */
  readonly missing: MissingDelivery[] = [];

  private constructor(
    readonly store: EmbeddedEventStore,
    readonly vault: DiskVault,
    readonly models: RedisReadModels,
    readonly projections: RedisProjectionStore,
    private readonly projector: Projector,
    readonly checkpoints: RedisHandlerCheckpoints,
    private readonly folder: string,
    readonly clock: SetClock,
  ) {}

  static async build(redis: RedisServer): Promise<WebhookHarness> {
    const folder = await mkdtemp(join(tmpdir(), 'webhooks-'));
    const store = EmbeddedEventStore.open({ directory: join(folder, 'events') });
    const keys = MasterKeys.parse(`k1:${Buffer.alloc(32, 7).toString('base64')}`);
    const clock = new SetClock();
    const vault = DiskVault.open({ directory: join(folder, 'vault'), keys, clock: new SetClock() });
    const models = readModelsIn(redis, store, PROJECTIONS);
    const projections = new RedisProjectionStore(redis.client(), clock);
    const projector = new Projector(
      store,
      new RedisProjectionStore(redis.client(), clock),
      PROJECTIONS,
      new Recorder(),
      QUICK,
    );
    projector.start();
    const checkpoints = new RedisHandlerCheckpoints(redis.client());
    const harness = new WebhookHarness(store, vault, models, projections, projector, checkpoints, folder, clock);
    await harness.live();
    return harness;
  }

  live = (): Promise<void> =>
    until('both read models are built', async () =>
      (await Promise.all(PROJECTIONS.map((one) => this.projections.generations(one)))).every(
        (one) => one.live !== null,
      ),
    );

  async close(): Promise<void> {
    await this.projector.stop();
    await this.store.close();
    await this.vault.close();
    await rm(this.folder, { recursive: true, force: true });
  }

  /** The accounts that have live traffic. */
  readonly provisioned = new Set<string>();
  private readonly accounts = {
    find: async (accountId: string) => ({ provisionedForLive: this.provisioned.has(accountId) }),
  } as unknown as Accounts;
  readonly limiter = new CountedInMemory();
  readonly policy = {
    pingsPerSecond: 1,
    endpointChangesPerHour: 30,
    testEventsPerHour: 60,
    egressIps: [],
    timeoutSeconds: 8,
    redeliveryIntervalSeconds: 60,
    ladder: LADDER,
    health: HEALTH,
  };
  /**
   * Builds the parts on demand, so that a test may use a new process. No part may depend on the memory of one process.
   */
  private parts(store: EventStore = this.store) {
    const { clock, vault, models, queue } = this;
    const aggregates = new AttendedStore(store, models, clock, { appendConflict: () => undefined });
    const streams = new GroupedStream(store, clock, { appendConflict: () => undefined });
    const secrets = new EndpointSecrets(vault, clock);
    const endpoints = new EndpointChanges(
      streams,
      { changed: (news) => void this.news.push(news) },
      this.limiter,
      this.policy,
    );
    const attempts = new Attempts(aggregates, endpoints, this.receivers, secrets, vault, this.policy, clock);
    const lists = new CompleteLists(store, this.projections, models);
    const deliveries = new DeliveryReader(models, vault, lists);
    return {
      clock,
      aggregates,
      streams,
      endpoints,
      secrets,
      attempts,
      queue,
      store,
      deliveries,
      addresses: new AllowedAddresses(),
    };
  }

  readonly deliveries = {
    reader: () => this.parts().deliveries,
    endpoints: () => new EndpointReader(this.parts().streams, this.models, this.parts().deliveries),
    secrets: () => this.parts().secrets,
  };

  as(accountId: string, environment: Environment = 'test') {
    return {
      accountId,
      environment,
      actor: { kind: 'dashboard-user' as const, id: 'user' },
      correlationId: newId(),
      causationId: newId(),
    };
  }

  async register(
    accountId = newId(),
    given: {
      readonly events?: readonly string[] | null;
      readonly mail?: string | null;
      readonly endpointId?: string;
      readonly signatures?: readonly SignatureVersion[];
      readonly maxPerSecond?: number;
      readonly disabled?: boolean;
    } = {},
  ): Promise<{ readonly accountId: string; readonly endpointId: string; readonly secret: string }> {
    const { streams, endpoints, secrets, addresses } = this.parts();
    const {
      endpointId = newId(),
      events = null,
      mail = null,
      signatures = ['v1'],
      disabled = false,
      maxPerSecond = null,
    } = given;
    const { secret } = await new RegisterEndpointHandler(streams, endpoints, secrets, addresses).execute(
      new RegisterEndpoint(
        {
          endpointId,
          url: 'https://hooks.example.com/a',
          enabledEvents: events,
          notifyEmail: mail,
          signatures,
          maxPerSecond,
          disabled,
        },
        this.as(accountId),
      ),
    );
    return { accountId, endpointId, secret };
  }

  change(
    accountId: string,
    endpointId: string,
    change: EndpointChange,
    environment: Environment = 'test',
  ): Promise<void> {
    const { streams, endpoints, secrets, addresses } = this.parts();
    return new ChangeEndpointHandler(streams, endpoints, secrets, addresses).execute(
      new ChangeEndpoint(endpointId, change, this.as(accountId, environment)),
    );
  }

  /** One run of an account's resumes. Without a worker the queue makes no attempt. Gives the time that it took. */
  async resume(
    accountId: string,
    { worker = true, onTime = (_: () => number): void => undefined } = {},
  ): Promise<number> {
    const { aggregates, streams, endpoints, queue, clock } = this.parts();
    const run = new TimedResumes(
      this.store,
      aggregates,
      streams,
      endpoints,
      queue,
      this.checkpoints,
      this.policy,
      clock,
    );
    if (worker) run.worker = () => this.attemptAll();
    onTime(() => run.timeMs);
    await run.execute(new ResumeDeliveries(accountId));
    return run.timeMs;
  }

  /** Handles the ends of the account's resumes. The handler of published events has passed their events. */
  async ends(accountId: string): Promise<void> {
    const { store, streams } = this.parts();
    const handler = new WhenResumeEnded(store, streams, this.publications(), this.checkpoints);
    for (const event of await store.readStream(`webhook_endpoint-${accountId}`))
      if (handler.types.has(event.type)) await handler.handle(event);
  }

  /** The handlers of published events and of ended resumes, each of which goes on at its place in the log. */
  follower(accountId: string): { handle(which: 'published' | 'ended'): Promise<void> } {
    const { store, streams } = this.parts();
    const handlers = {
      published: this.publications(),
      ended: new WhenResumeEnded(store, streams, this.publications(), this.checkpoints),
    };
    const places: Record<keyof typeof handlers, string | null> = { published: null, ended: null };
    return {
      handle: async (which) => {
        const events = await store.readAll(places[which], Infinity);
        for (const event of events)
          if (event.metadata.accountId === accountId && handlers[which].types.has(event.type))
            await handlers[which].handle(event);
        places[which] = events.at(-1)?.position ?? places[which];
        if (which === 'published' && places.published !== null) await this.passes(places.published);
      },
    };
  }

  /** Makes every attempt in the queue. */
  async attemptAll(): Promise<void> {
    for (const { delivery } of this.queue.due.splice(0)) await this.attempt(delivery.deliveryId, delivery.kind);
  }

  /** Sends all events of the account once more, for an operator. */
  replay(accountId: string): Promise<Replay> {
    const { aggregates, queue, clock } = this.parts();
    const period = { from: new Date(0), to: new Date(8.64e15), accountId };
    return new ReplayEventsHandler(this.store, this.publications(), aggregates, queue, clock).execute(
      new ReplayEvents(period, this.as(accountId)),
    );
  }

  rotate(accountId: string, endpointId: string, seconds: number, secretId = newId()) {
    const { streams, endpoints, secrets, clock } = this.parts();
    return new RotateSecretHandler(streams, endpoints, secrets, clock).execute(
      new RotateSecret({ endpointId, secretId, previousValidForSeconds: seconds }, this.as(accountId)),
    );
  }

  /** The account's public keys that are valid now, the newest first. */
  async keys(accountId: string) {
    return validKeys((await this.parts().streams.load(webhookEndpoint, accountId)).state, this.clock.now());
  }

  delete(accountId: string, endpointId: string): Promise<void> {
    return new DeleteEndpointHandler(this.parts().endpoints).execute(
      new DeleteEndpoint(endpointId, this.as(accountId)),
    );
  }

  ping(accountId: string, endpointId: string) {
    const { aggregates, streams, attempts, clock } = this.parts();
    return new PingEndpointHandler(aggregates, streams, attempts, this.limiter, this.policy, clock).execute(
      new PingEndpoint(endpointId, this.as(accountId)),
    );
  }

  redeliver(accountId: string, endpointId: string, deliveryId: string) {
    const { aggregates, streams, queue, clock } = this.parts();
    return new RedeliverHandler(aggregates, streams, queue, this.policy, clock).execute(
      new Redeliver(endpointId, deliveryId, this.as(accountId)),
    );
  }

  attempt(deliveryId: string, kind: 'ladder' | 'redelivery' = 'ladder') {
    const { aggregates, streams, attempts, queue, clock } = this.parts();
    return new AttemptDeliveryHandler(aggregates, streams, attempts, queue, this.limiter, clock).execute(
      new AttemptDelivery(deliveryId, kind),
    );
  }

  /** The attempts of one process, which remembers the attempts that it has sent. */
  process(): (deliveryId: string) => ReturnType<AttemptDeliveryHandler['execute']> {
    const { aggregates, streams, attempts, queue, clock } = this.parts();
    const handler = new AttemptDeliveryHandler(aggregates, streams, attempts, queue, this.limiter, clock);
    return (deliveryId) => handler.execute(new AttemptDelivery(deliveryId, 'ladder'));
  }

  settle(deliveryId: string): Promise<void> {
    const { aggregates, attempts, queue, clock } = this.parts();
    return new SettleDeliveryHandler(aggregates, attempts, queue, this.policy, clock).execute(
      new SettleDelivery(deliveryId),
    );
  }

  disableOverdue(accountId: string): Promise<void> {
    const { streams, endpoints, clock } = this.parts();
    return new DisableOverdueEndpointHandler(streams, endpoints, clock).execute(new DisableOverdueEndpoint(accountId));
  }

  /** Appends an event of the account that must be published. */
  async happens(accountId: string, environment: Environment = 'test'): Promise<void> {
    await this.parts().aggregates.execute(parcel, newId(), { kind: 'share' }, this.as(accountId, environment));
    this.clock.pass(1);
  }

  /** The handler that appends events to the feeds, in a process that reads `store`. */
  publisher(store: EventStore = this.store): WhenEventStored {
    const published: PublishedEvents = {
      publishers: [parcelPublisher],
      links: { reportUrl: null, incomeReportUrl: null },
    };
    return new WhenEventStored(published, store, this.parts(store).streams, this.checkpoints);
  }

  /** Appends everything in the log to the feeds. */
  async publish(): Promise<void> {
    const publisher = this.publisher();
    await publisher.handle(
      ...(await this.store.readAll(null, Infinity)).filter(({ type }) => publisher.types.has(type)),
    );
  }

  /** The handler that turns events of the feeds into deliveries, in a process that reads `store`. */
  publications(store: EventStore = this.store): WhenEventPublished {
    const { aggregates, streams, queue } = this.parts(store);
    return new WhenEventPublished(store, aggregates, streams, queue);
  }

  /** Compares events with deliveries, in a process that reads `store`. */
  check(store: EventStore = this.store): Promise<DeliveryCheck> {
    const observer = { made: (one: MissingDelivery) => void this.missing.push(one) };
    return new CheckDeliveriesHandler(store, this.publications(store), this.checkpoints, observer).execute();
  }

  /** Sets the checkpoint of the handler of published events to this position. */
  async passes(place: string): Promise<void> {
    const { name } = this.publications();
    await this.checkpoints.take(name, 'handler', 60_000);
    await this.checkpoints.save(name, 'handler', place, 60_000);
  }

  /**
   * Runs every event handler over the whole log from its beginning, as after a lost checkpoint, so that each event is
   * handled again. With an account, only the events of that account are handled.
   */
  async react(accountId: string | null = null, deliveries: OpenDeliveries = this.parts().deliveries): Promise<void> {
    const { aggregates, streams, endpoints, secrets, store, clock } = this.parts();
    const cancel = new CancelDeliveryHandler(aggregates, store);
    const commands = { execute: (command: CancelDelivery) => cancel.execute(command) } as unknown as CommandBus;
    await this.publish();
    const handlers = [
      this.publications(),
      new WhenDeliveryExhausted(aggregates, streams, endpoints, this.policy, clock, this.accounts),
      new WhenEndpointEnded(deliveries, secrets, commands),
      new WhenHealthChanged(streams, secrets, this.mailServer, clock),
      new WhenResumeEnded(store, streams, this.publications(), this.checkpoints),
    ];
    for (const handler of handlers) {
      const events = await store.readAll(null, Infinity);
      for (const event of events.filter(({ metadata }) => [null, metadata.accountId].includes(accountId)))
        if (handler.categories.includes(categoryOf(event.stream)) && handler.types.has(event.type))
          await handler.handle(event);
    }
  }

  /**
   * Counts exhausted deliveries in a process that reads `store`. `events` are the events of the account, from the
   * beginning of the log.
   */
  async exhaustions(
    accountId: string,
    store: EventStore,
  ): Promise<{
    readonly events: readonly [RecordedEvent, ...RecordedEvent[]];
    handle(event: RecordedEvent): Promise<void>;
  }> {
    const aggregates = new AttendedStore(store, this.models, this.clock, { appendConflict: () => undefined });
    const streams = new GroupedStream(store, this.clock, { appendConflict: () => undefined });
    const endpoints = new EndpointChanges(streams, { changed: () => undefined }, this.limiter, this.policy);
    const handler = new WhenDeliveryExhausted(aggregates, streams, endpoints, this.policy, this.clock, this.accounts);
    const events = (await store.readAll(null, Infinity)).filter(
      ({ type, metadata }) => handler.types.has(type) && metadata.accountId === accountId,
    );
    return {
      events: events as [RecordedEvent, ...RecordedEvent[]],
      handle: (event) => handler.handle(event),
    };
  }

  /** Ids of the endpoint's deliveries, the newest first. */
  async deliveriesOf(endpointId: string): Promise<string[]> {
    return (await this.deliveries.reader().page(endpointId, {}, null, 100)).items.map(({ id }) => id);
  }

  async stateOf(deliveryId: string) {
    const view = await this.models.get(deliveryLog, deliveryId);
    if (view === null) throw new Error(`No delivery ${deliveryId}`);
    return view.doc.delivery;
  }

  /** The time at which the account's failing endpoint will be disabled. */
  async disableAfter(accountId: string): Promise<number> {
    const state = foldState(endpointProjection, await this.store.readStream(`webhook_endpoint-${accountId}`));
    return Date.parse(state?.current?.disableAfter ?? '');
  }

  /** Delivers one event up to the last step of the retry schedule, with the same answer to each attempt. */
  async exhaust(accountId: string, endpointId: string): Promise<string> {
    this.receivers.answer = REFUSED;
    await this.happens(accountId);
    await this.react(accountId);
    const [deliveryId = ''] = await this.deliveriesOf(endpointId);
    for (let attempt = 1; attempt <= LADDER.ladder.length + 1; attempt++) {
      const { nextAttemptAt } = await this.stateOf(deliveryId);
      this.clock.time = Math.max(this.clock.time, Date.parse(nextAttemptAt ?? ''));
      await this.attempt(deliveryId);
    }
    await this.react(accountId);
    return deliveryId;
  }
}
