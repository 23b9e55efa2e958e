// The waits of a test account's endpoint: attempts at deliveries, and its end after a run of failures.
import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import { together } from '../../../kernel/together.js';
import { AggregateStore, type LoadedAggregate } from '../../../platform/aggregates/aggregate-store.js';
import { GroupedStream } from '../../../platform/aggregates/grouped-stream.js';
import type { Wait } from '../../../ports/account-waits.js';
import { DeliveryQueue } from '../../../ports/delivery-queue.js';
import { delivery, dueAt, redeliveryWaits, type DeliveryState } from '../domain/delivery.js';
import { healthDueAt, webhookEndpoint, type EndpointState } from '../domain/endpoint.js';
import { DisableOverdueEndpoint } from './disable-overdue-endpoint.js';
import { pingEndsAt, SettleDelivery } from './settle-delivery.js';
import { turnOf } from './turns.js';
import { WebhookPolicy } from './webhook-policy.js';
import { WhenDeliveryExhausted } from './when-delivery-exhausted.js';
import { OpenDeliveries } from './when-endpoint-ended.js';

const READ_TOGETHER = 16;
const LOOK_AGAIN_MS = 10;
/** An attempt may take this much longer than the receiver's time. */
const GRACE_MS = 5_000;

@Injectable()
export class EndpointWaits {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly streams: GroupedStream,
    private readonly deliveries: OpenDeliveries,
    private readonly queue: DeliveryQueue,
    private readonly exhausted: WhenDeliveryExhausted,
    private readonly commands: CommandBus,
    private readonly policy: WebhookPolicy,
    private readonly clock: Clock,
  ) {}

  /** `most`: the number of deliveries that are read. */
  async of(accountId: string, most = Number.MAX_SAFE_INTEGER): Promise<readonly Wait[]> {
    const { state } = await this.streams.load(webhookEndpoint, accountId);
    if (state.current === null || state.current.status === 'disabled') return [];
    const waits: Wait[] = [...(await this.health(accountId, state))];
    const now = await this.clock.of({ accountId, environment: 'test' });
    const due = await this.deliveries.openUntil(state.current.endpointId, now, most);
    await together([...due], READ_TOGETHER, async (deliveryId) => {
      const loaded = await this.aggregates.load(delivery, deliveryId);
      if (loaded.owner?.environment === 'test') waits.push(...this.attempt(accountId, deliveryId, loaded.state));
    });
    return waits;
  }

  /** The endpoint of an account with live traffic is disabled by the machine's time, so another timer does it. */
  private async health(accountId: string, state: EndpointState): Promise<readonly Wait[]> {
    const at = healthDueAt(state);
    if (at === null || new Date(at) > (await this.clock.of({ accountId, environment: null }))) return [];
    return [
      {
        id: `endpoint ${accountId}`,
        at,
        settle: async () => {
          await this.commands.execute(new DisableOverdueEndpoint(accountId));
          return [];
        },
      },
    ];
  }

  private attempt(accountId: string, deliveryId: string, state: DeliveryState): readonly Wait[] {
    const due = state.status === 'none' ? null : dueAt(state);
    if (state.status === 'none' || due === null) return [];
    const at = state.kind === 'ping' ? pingEndsAt(due, this.policy.timeoutSeconds) : due;
    return [{ id: `delivery ${deliveryId}`, at, settle: () => this.settle(accountId, deliveryId) }];
  }

  private async settle(accountId: string, deliveryId: string): Promise<readonly Wait[]> {
    const { state } = await this.aggregates.load(delivery, deliveryId);
    if (state.status === 'none') return [];
    if (state.kind === 'ping') {
      await this.commands.execute(new SettleDelivery(deliveryId));
      return [];
    }
    const due = dueAt(state);
    const turn = turnOf(deliveryId, state, redeliveryWaits(state) ? 'redelivery' : 'ladder');
    await this.queue.enqueue(turn, this.clock.now(), true);
    const after = await this.ended(deliveryId, due);
    const last = after.history.at(-1);
    // The handler would count it too, but perhaps only after later attempts.
    if (after.state.status === 'exhausted' && last !== undefined) await this.exhausted.handle(last);
    const endpoint = await this.streams.load(webhookEndpoint, accountId);
    return [...this.attempt(accountId, deliveryId, after.state), ...(await this.health(accountId, endpoint.state))];
  }

  /** Waits until a worker has made the attempt that is due. */
  private async ended(deliveryId: string, due: string | null): Promise<LoadedAggregate<DeliveryState>> {
    const until = performance.now() + this.policy.timeoutSeconds * 1_000 + GRACE_MS;
    for (;;) {
      const loaded: LoadedAggregate<DeliveryState> = await this.aggregates.load(delivery, deliveryId);
      const { state } = loaded;
      if (state.status === 'none' || dueAt(state) !== due || performance.now() > until) return loaded;
      await pause(LOOK_AGAIN_MS);
    }
  }
}
