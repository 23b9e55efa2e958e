// Signs, sends and records one attempt at a delivery. Scheduled attempts, redeliveries and pings use it.
import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import type { ActionContext } from '../../../kernel/context.js';
import { Unavailable } from '../../../kernel/unavailable.js';
import { AggregateStore, type LoadedAggregate } from '../../../platform/aggregates/aggregate-store.js';
import { Vault } from '../../../ports/vault.js';
import { WebhookSender, type WebhookAnswer } from '../../../ports/webhook-sender.js';
import {
  delivery,
  isDue,
  nextAttempt,
  type AttemptKind,
  type Delivery,
  type DeliveryCommand,
  type DeliveryState,
} from '../domain/delivery.js';
import { signingSecrets, validKeys, type Endpoint, type EndpointState } from '../domain/endpoint.js';
import { EXCERPT_KEY, excerptPlace, sealExcerpt } from '../domain/excerpt.js';
import { keySignatureOf, signatureOf } from '../domain/signature.js';
import { EndpointChanges } from './endpoint-changes.js';
import { EndpointSecrets } from './endpoint-secrets.js';
import { WebhookPolicy } from './webhook-policy.js';

export interface MadeAttempt {
  readonly delivery: Delivery;
  readonly answer: WebhookAnswer;
}

/** The receiver of an attempt, with the keys of its account. */
interface Receiver extends Pick<EndpointState, 'keys'> {
  readonly endpoint: Endpoint;
}

type Recorded = Pick<Extract<DeliveryCommand, { kind: 'record' }>, 'attempt' | 'of' | 'startedAt' | 'outcome'>;

@Injectable()
export class Attempts {
  /** Attempts that were sent but not recorded, because the log was unavailable. Keyed by the ids of deliveries. */
  private readonly refused = new Map<string, () => Promise<unknown>>();
  private recording: Promise<void> | null = null;

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
   * Null when no such attempt is due. The request is sent to the endpoint's present URL, signed with the secrets that are valid now
   * (docs/contract/webhooks.md#attempts). When the process dies before it records the attempt, the attempt is made again.
   */
  async make(
    deliveryId: string,
    known: LoadedAggregate<DeliveryState>,
    { of, ...receiver }: { readonly of: AttemptKind } & Receiver,
    asked: ActionContext & { readonly accountId: string },
  ): Promise<MadeAttempt | null> {
    const { state } = known;
    if (state.status === 'none') return null;
    const present = await this.clock.of(asked);
    const startedAt = await this.clock.of(asked, of === 'ladder' ? state.nextAttemptAt : null);
    if (!isDue(state, of, startedAt)) return null;
    // A test account has turned its clock past the attempt.
    const context = startedAt < present ? { ...asked, at: startedAt } : asked;
    const attempt = nextAttempt(state);
    // The key for the excerpt is read before the attempt. If it were read afterwards, an unavailable vault would make the attempt be sent again and
    // again.
    const key = await this.vault.installationKey(EXCERPT_KEY);
    const answer = await this.send(deliveryId, state, receiver, context.accountId);
    const { errorCode, httpStatus, latencyMs, responseExcerpt } = answer;
    const excerpt = responseExcerpt
      ? sealExcerpt(key, randomBytes(12), excerptPlace(deliveryId, attempt), responseExcerpt)
      : null;
    const made = { attempt, of, startedAt, outcome: { errorCode, httpStatus, latencyMs, excerpt } };
    const record = async (before?: LoadedAggregate<DeliveryState>): Promise<Delivery> => {
      try {
        const recorded = await this.record(deliveryId, made, context, before);
        // A ping does not change the health of the endpoint (docs/contract/webhooks.md#pings).
        if (errorCode === null && of !== 'ping') await this.recovered(deliveryId, receiver.endpoint, context);
        return recorded;
      } catch (error) {
        // An unrecorded ping is not remembered here, because the recovery job ends it.
        if (error instanceof Unavailable && of !== 'ping') this.refused.set(deliveryId, () => record());
        throw error;
      }
    };
    return { delivery: await record(known), answer };
  }

  /**
   * Must be called before an attempt. A log on a full disk can be read but not written, so each attempt would be sent again and again. Therefore this
   * process sends nothing more until its earlier attempts are recorded. Throws Unavailable while the log refuses these records.
   */
  recordRefused(): Promise<void> {
    return (this.recording ??= this.recordAll().finally(() => (this.recording = null)));
  }

  private async recordAll(): Promise<void> {
    for (const [deliveryId, record] of this.refused) {
      this.refused.delete(deliveryId);
      await record();
    }
  }

  /** A second or late record of the same attempt changes nothing. */
  async record(
    deliveryId: string,
    made: Recorded,
    context: ActionContext,
    known?: LoadedAggregate<DeliveryState>,
  ): Promise<Delivery> {
    const command = {
      kind: 'record',
      ...made,
      now: context.at ?? (await this.clock.of(context)),
      chance: Math.random(),
      policy: this.policy.ladder,
    } as const;
    const { state } = await this.aggregates.execute(delivery, { id: deliveryId, known }, command, context);
    if (state.status === 'none') throw new Error(`Delivery ${deliveryId} is gone`);
    return state;
  }

  private async send(
    deliveryId: string,
    { eventId, eventType, body, place }: Delivery,
    { endpoint, keys }: Receiver,
    accountId: string,
  ): Promise<WebhookAnswer> {
    const now = this.clock.now();
    const bytes = Buffer.from(body);
    const timestamp = Math.floor(now.getTime() / 1_000);
    const read = (ids: readonly string[]): Promise<Uint8Array[]> =>
      Promise.all(ids.map((id) => this.secrets.secret(accountId, id)));
    const signatures = [signatureOf(await read(signingSecrets(endpoint, now)), eventId, timestamp, bytes)];
    if (endpoint.signatures.includes('v1a')) {
      const keyIds = validKeys({ keys }, now).map(({ keyId }) => keyId);
      signatures.push(keySignatureOf(await read(keyIds), eventId, timestamp, bytes));
    }
    return this.sender.send({
      url: endpoint.url,
      body: bytes,
      headers: {
        'webhook-id': eventId,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': signatures.join(' '),
        'service-event-type': eventType,
        'service-delivery-id': deliveryId,
        ...(place !== null && {
          'service-event-sequence': String(place.sequence),
          'service-event-digest': place.digest,
        }),
        'content-type': 'application/json',
        'user-agent': 'Service-Webhooks/1',
      },
    });
  }

  /** Ends a run of failures after a success. A healthy endpoint needs no event. */
  private async recovered(
    deliveryId: string,
    endpoint: Endpoint,
    context: ActionContext & { readonly accountId: string },
  ): Promise<void> {
    if (endpoint.consecutiveFailures === 0 && endpoint.status === 'active') return;
    const { accountId } = context;
    // Live traffic may share the endpoint, which then has the machine's time.
    const at = await this.clock.of({ accountId, environment: null }, context.at?.toISOString());
    const { endpointId } = endpoint;
    const command = { kind: 'count-success', endpointId, deliveryId, endedAt: at.toISOString() } as const;
    await this.endpoints.execute(accountId, command, { ...context, at });
  }
}
