import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { systemContext } from '../../../kernel/context.js';
import { machineTimeOf, type RecordedEvent } from '../../../kernel/domain-event.js';
import { Unavailable } from '../../../kernel/unavailable.js';
import { GroupedStream } from '../../../platform/aggregates/grouped-stream.js';
import { MailSender } from '../../../ports/mail-sender.js';
import type { EventHandler } from '../../../ports/event-handler.js';
import { webhookEndpoint, type EndpointEvent } from '../domain/endpoint.js';
import { endpointRecord } from '../domain/endpoint-record.js';
import { EndpointSecrets } from './endpoint-secrets.js';

type HealthEvent = RecordedEvent &
  Extract<
    EndpointEvent,
    {
      type:
        | 'WebhookEndpointFailing'
        | 'WebhookEndpointDisabled'
        | 'WebhookEndpointRecovered'
        | 'WebhookEndpointReactivated';
    }
  >;

/** The time for which a mail is tried again. A recipient that the mail server never accepts must not delay other mails for longer. */
const GIVE_UP_AFTER_MS = 3_600_000;

/**
 * Sends the contact of an endpoint one mail for each change of its health (docs/contract/webhooks.md#endpoint-health). If the endpoint had no contact
 * at the time of a change, no mail is sent. Sent mails are recorded, so that an event that is handled again sends nothing. Every mail is tried at
 * least once. A mail is given up when the mail server has not accepted it within an hour.
 */
@Injectable()
export class WhenHealthChanged implements EventHandler {
  readonly name = 'webhook_health_mails';
  readonly categories = [webhookEndpoint.category];
  readonly types: ReadonlySet<string> = new Set<HealthEvent['type']>([
    'WebhookEndpointFailing',
    'WebhookEndpointDisabled',
    'WebhookEndpointRecovered',
    'WebhookEndpointReactivated',
  ]);

  constructor(
    private readonly endpoints: GroupedStream,
    private readonly secrets: EndpointSecrets,
    private readonly mails: MailSender,
    private readonly clock: Clock,
  ) {}

  async handle(event: RecordedEvent): Promise<void> {
    const { accountId } = event.metadata;
    if (accountId === null) return;
    const { untold } = (await this.endpoints.load(endpointRecord, accountId)).state;
    const change = untold.find(({ about }) => about === event.id);
    if (change === undefined) return;
    const { endpointId } = (event as HealthEvent).data;
    const to = await this.secrets.contact(accountId, endpointId);
    if (to === null) return;
    const old = this.clock.now().getTime() - Date.parse(machineTimeOf(event.metadata)) >= GIVE_UP_AFTER_MS;
    // The account made this change itself, so a late mail is useless.
    if (old && event.type === 'WebhookEndpointReactivated') return;
    try {
      await this.mails.send({ to, ...textOf(event as HealthEvent, change.url), messageId: event.id });
    } catch (error) {
      if (!(error instanceof Unavailable) || !old) throw error;
      return;
    }
    await this.endpoints.execute(
      webhookEndpoint,
      accountId,
      { kind: 'note-notified', endpointId, about: event.id },
      { ...systemContext('webhook-health', event.metadata), causationId: event.id },
    );
  }
}

function textOf(event: HealthEvent, url: string): { readonly subject: string; readonly text: string } {
  const address = new URL(url).host;
  switch (event.type) {
    case 'WebhookEndpointFailing':
      return {
        subject: `Your webhook endpoint at ${address} is failing`,
        text: `Several deliveries in a row to your webhook endpoint at ${address} ran out of attempts.\nUnless one succeeds before ${event.data.disableAfter}, the endpoint will be disabled.\nThe delivery log in your dashboard shows its answers.\n`,
      };
    case 'WebhookEndpointDisabled':
      return {
        subject: `Your webhook endpoint at ${address} was disabled`,
        text: `Your webhook endpoint at ${address} was disabled because no delivery succeeded for too long.\nIts pending deliveries were canceled. Update the endpoint in your dashboard to make it active again.\n`,
      };
    case 'WebhookEndpointRecovered':
      return {
        subject: `Your webhook endpoint at ${address} works again`,
        text: `A delivery to your webhook endpoint at ${address} succeeded. It is active again.\n`,
      };
    case 'WebhookEndpointReactivated':
      return {
        subject: `Your webhook endpoint at ${address} is active again`,
        text: `Your webhook endpoint at ${address} was updated and is active again. Events from the time when it was disabled are not sent.\n`,
      };
    default:
      return event satisfies never;
  }
}
