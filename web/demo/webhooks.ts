// The panel of webhooks. It receives them only on request, because an account has a single endpoint.
import type { Log } from './log.js';
import { deliveryLog, receiveWebhooks, type Webhook, webhookState, webhookStream } from './server.js';

export interface WebhookParts {
  readonly status: HTMLElement;
  readonly button: HTMLButtonElement;
  readonly received: Log;
  readonly deliveries: HTMLDetailsElement;
  readonly deliveryLog: Log;
}

export class WebhookPanel {
  private account = '';
  private occupied = false;
  private stream: EventSource | null = null;

  constructor(private readonly parts: WebhookParts) {
    parts.button.addEventListener('click', () => void this.told(this.receive()));
    parts.deliveries.addEventListener('toggle', () => {
      if (parts.deliveries.open) void this.told(this.listDeliveries());
    });
  }

  /** Shows the account's endpoint and its webhooks. Registers nothing. */
  async show(account: string): Promise<void> {
    this.account = account;
    this.stream?.close();
    this.parts.received.clear();
    this.parts.deliveries.open = false;
    await this.told(this.refresh());
  }

  private async refresh(): Promise<void> {
    const { account, parts } = this;
    const { missing, receiving, occupiedBy } = await webhookState(account);
    if (account !== this.account) return;
    this.occupied = occupiedBy !== null;
    parts.button.hidden = missing !== null || receiving;
    parts.button.textContent = this.occupied ? 'Replace that endpoint' : 'Receive webhooks';
    if (receiving) this.listen();
    const elsewhere = occupiedBy === null ? '' : `The account has an endpoint at ${occupiedBy}. `;
    parts.status.textContent =
      missing === null
        ? receiving
          ? 'Signed webhooks arrive at the server of this page, which verifies them.'
          : elsewhere || 'Nothing is registered for this account.'
        : `${elsewhere}${missing} The log of deliveries is below.`;
  }

  private async receive(): Promise<void> {
    await receiveWebhooks(this.account, this.occupied);
    await this.refresh();
    // The clicked button has disappeared.
    this.parts.status.focus();
  }

  /** On a new connection the server sends everything again. */
  private listen(): void {
    this.stream?.close();
    this.stream = webhookStream(this.account);
    this.stream.addEventListener('open', () => this.parts.received.clear());
    this.stream.addEventListener('message', ({ data }: MessageEvent<string>) => {
      const { type, occurredAt, data: detail, deliveryId, verified } = JSON.parse(data) as Webhook;
      const note = `${verified ? 'Signature verified' : 'Not verified'}, delivery ${deliveryId}`;
      this.parts.received.add({ title: type, at: new Date(occurredAt), detail, note });
    });
  }

  private async listDeliveries(): Promise<void> {
    const deliveries = await deliveryLog(this.account);
    this.parts.deliveryLog.clear();
    for (const { event_type, occurred_at, delivery_id, ...rest } of deliveries.toReversed()) {
      const { status, attempt_count: attempts, last_http_status: http, last_error_code: error } = rest;
      this.parts.deliveryLog.add({
        title: event_type,
        at: new Date(occurred_at),
        detail: { status, attempts, ...(http !== null && { http }), ...(error !== null && { error }) },
        note: `Delivery ${delivery_id}`,
      });
    }
  }

  private async told(work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      this.parts.status.textContent = (error as Error).message;
    }
  }
}
