// One attempt at a delivery: started in the log, signed, sent, recorded. Used by the ladder, by redeliveries and by pings.
import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import type { ActionContext } from '../../../kernel/context.js';
import { AggregateStore, type LoadedAggregate } from '../../../platform/aggregates/aggregate-store.js';
import { Vault } from '../../../ports/vault.js';
import { WebhookSender, type WebhookAnswer } from '../../../ports/webhook-sender.js';
import { delivery, type AttemptKind, type Delivery, type DeliveryState } from '../domain/delivery.js';
import { signingSecrets, type Endpoint } from '../domain/endpoint.js';
import { EXCERPT_KEY, excerptPlace, sealExcerpt } from '../domain/excerpt.js';
import { signatureOf } from '../domain/signature.js';
import { EndpointChanges } from './endpoint-changes.js';
import { EndpointSecrets } from './endpoint-secrets.js';
import { WebhookPolicy } from './webhook-policy.js';

export interface MadeAttempt {
  readonly delivery: Delivery;
  readonly answer: WebhookAnswer;
}

/** How much longer than the receiver's time an attempt may take before its worker counts as dead. */
const GRACE_SECONDS = 5;

@Injectable()
export class Attempts {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly endpoints: EndpointChanges,
    private readonly sender: WebhookSender,
    private readonly secrets: EndpointSecrets,
    private readonly vault: Vault,
    private readonly policy: WebhookPolicy,
    private readonly clock: Clock,
  ) {}

  /**
   * Null when there is nothing to do: this attempt was started before, whether or not its worker is still alive. It goes where
   * the endpoint is now and is signed with the secrets that are good now (docs/contract/webhooks.md#attempts).
   */
  async make(
    deliveryId: string,
    known: LoadedAggregate<DeliveryState>,
    kind: AttemptKind,
    endpoint: Endpoint,
    context: ActionContext & { readonly accountId: string },
  ): Promise<MadeAttempt | null> {
    const now = this.clock.now();
    const settleAfter = new Date(now.getTime() + (this.policy.timeoutSeconds + GRACE_SECONDS) * 1_000);
    const started = await this.aggregates.execute(
      delivery,
      deliveryId,
      { kind: 'start', of: kind, now, settleAfter },
      context,
      known,
    );
    if (started.events.length === 0 || started.state.status === 'none' || started.state.underWay === null) return null;
    const { attempt } = started.state.underWay;
    const answer = await this.send(deliveryId, started.state, endpoint, context.accountId);
    const { errorCode, httpStatus, latencyMs } = answer;
    const excerpt = await this.seal(deliveryId, attempt, answer.responseExcerpt);
    const recorded = await this.record(
      deliveryId,
      attempt,
      { errorCode, httpStatus, latencyMs, excerpt },
      context,
      started,
    );
    // A ping touches no health (docs/contract/webhooks.md#pings).
    if (errorCode === null && kind !== 'ping') await this.recovered(deliveryId, endpoint, context);
    return { delivery: recorded, answer };
  }

  /** What came of an attempt. Recording it again, or late, changes nothing. */
  async record(
    deliveryId: string,
    attempt: number,
    outcome: Pick<WebhookAnswer, 'errorCode' | 'httpStatus' | 'latencyMs'> & { readonly excerpt: string | null },
    context: ActionContext,
    known?: LoadedAggregate<DeliveryState>,
  ): Promise<Delivery> {
    const command = {
      kind: 'record',
      attempt,
      outcome,
      now: this.clock.now(),
      chance: Math.random(),
      policy: this.policy.ladder,
    } as const;
    const { state } = await this.aggregates.execute(delivery, deliveryId, command, context, known);
    if (state.status === 'none') throw new Error(`Delivery ${deliveryId} is gone`);
    return state;
  }

  private async send(
    deliveryId: string,
    { eventId, eventType, body }: Delivery,
    endpoint: Endpoint,
    accountId: string,
  ): Promise<WebhookAnswer> {
    const now = this.clock.now();
    const bytes = Buffer.from(body);
    const timestamp = Math.floor(now.getTime() / 1_000);
    const secrets = await Promise.all(
      signingSecrets(endpoint, now).map((secretId) => this.secrets.secret(accountId, secretId)),
    );
    return this.sender.send({
      url: endpoint.url,
      body: bytes,
      headers: {
        'webhook-id': eventId,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': signatureOf(secrets, eventId, timestamp, bytes),
        'service-event-type': eventType,
        'service-delivery-id': deliveryId,
        'content-type': 'application/json',
        'user-agent': 'Service-Webhooks/1',
      },
    });
  }

  private async seal(deliveryId: string, attempt: number, excerpt: string | null): Promise<string | null> {
    if (excerpt === null || excerpt === '') return null;
    return sealExcerpt(
      await this.vault.installationKey(EXCERPT_KEY),
      randomBytes(12),
      excerptPlace(deliveryId, attempt),
      excerpt,
    );
  }

  /** A success ends a run of failures. Of a healthy endpoint there is nothing to say. */
  private async recovered(
    deliveryId: string,
    endpoint: Endpoint,
    context: ActionContext & { readonly accountId: string },
  ): Promise<void> {
    if (endpoint.consecutiveFailures === 0 && endpoint.status === 'active') return;
    const command = {
      kind: 'count-success',
      endpointId: endpoint.endpointId,
      deliveryId,
      endedAt: this.clock.now().toISOString(),
    } as const;
    await this.endpoints.execute(context.accountId, command, context);
  }
}
