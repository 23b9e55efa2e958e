// The webhooks of the shown account. Webhooks arrive at the server of this page from the beginning, unless the account has another endpoint.
import { say } from './language.js';
import {
  deliveryLog,
  receiveWebhooks,
  type Webhook,
  type WebhookState,
  webhookState,
  webhookStream,
} from './server.js';
import type { Timeline } from './timeline.js';

export interface WebhookParts {
  readonly status: HTMLElement;
  readonly button: HTMLButtonElement;
  readonly timeline: Timeline;
  readonly deliveries: HTMLDetailsElement;
  readonly deliveryLog: Timeline;
  /** Called with each webhook, and with null if the list begins again. */
  readonly hear: (webhook: Webhook | null) => void;
}

const PAUSE_MS = 1_000;

function inWords({ status, failures, error }: NonNullable<WebhookState['trouble']>): string {
  const state = {
    active: say(['Some deliveries failed.', 'Fallaron algunas entregas.']),
    failing: say(['The endpoint is failing.', 'El destino está fallando.']),
    disabled: say(['The endpoint is disabled.', 'El destino está desactivado.']),
  }[status];
  const inARow = say([`Failed in a row: ${failures}.`, `Fallos seguidos: ${failures}.`]);
  const last = error === null ? '' : say([` Last error: ${error}.`, ` Último error: ${error}.`]);
  return `${state} ${inARow}${last}`;
}

function mayRegister({ missing, receiving, occupiedBy }: WebhookState): boolean {
  return missing === null && !receiving && occupiedBy === null;
}

export class WebhookPanel {
  private account = '';
  private state: WebhookState | null = null;
  private stream: EventSource | null = null;

  constructor(private readonly parts: WebhookParts) {
    parts.button.addEventListener('click', () => void this.told(this.receive()));
    parts.deliveries.addEventListener('toggle', () => {
      if (parts.deliveries.open) void this.told(this.listDeliveries());
    });
  }

  /** Shows the account's webhooks. An endpoint of the user is never replaced without a click. */
  async show(account: string): Promise<void> {
    this.account = account;
    this.state = null;
    this.stream?.close();
    this.beginAgain();
    this.parts.deliveries.open = false;
    this.parts.button.hidden = true;
    this.parts.status.textContent = '';
    await this.told(this.begin());
  }

  /** Shows the state in the language of the page. */
  describe(): void {
    const { parts, state } = this;
    if (state === null) return;
    const { missing, receiving, occupiedBy, trouble } = state;
    parts.button.hidden = missing !== null || receiving;
    parts.button.textContent =
      occupiedBy === null
        ? say(['Receive webhooks', 'Recibir webhooks'])
        : say(['Replace that endpoint', 'Reemplazar ese destino']);
    const elsewhere =
      occupiedBy === null
        ? ''
        : say([`The account has an endpoint at ${occupiedBy}. `, `La cuenta tiene un destino en ${occupiedBy}. `]);
    const arriving = say([
      'Callbacks of the component, and signed webhooks that the server of this page verifies.',
      'Callbacks del componente, y webhooks firmados que verifica el servidor de esta página.',
    ]);
    const told = receiving
      ? arriving
      : `${elsewhere}${missing ?? (elsewhere === '' ? say(['No webhooks arrive yet.', 'Aún no llegan webhooks.']) : '')}`;
    parts.status.textContent = [told, ...(trouble ? [inWords(trouble)] : [])].join(' ');
  }

  /** Says nothing about an account without an endpoint until the page has tried to make one. */
  private async begin(): Promise<void> {
    const { account } = this;
    const state = await webhookState(account);
    if (account !== this.account) return;
    if (!mayRegister(state)) return this.take(state);
    try {
      await this.register(false);
    } catch (error) {
      if (account === this.account) this.take(state);
      throw error;
    }
  }

  private take(state: WebhookState): void {
    this.state = state;
    if (state.receiving) this.listen();
    this.describe();
  }

  private async receive(): Promise<void> {
    await this.register(this.state?.occupiedBy !== null);
    // The clicked button has disappeared.
    this.parts.status.focus();
  }

  private async register(replace: boolean): Promise<void> {
    const { account } = this;
    await receiveWebhooks(account, replace);
    const state = await webhookState(account);
    if (account === this.account) this.take(state);
  }

  /** On a new connection, the server sends all webhooks again. */
  private listen(): void {
    this.stream?.close();
    const stream = webhookStream(this.account);
    this.stream = stream;
    stream.addEventListener('open', () => {
      this.beginAgain();
      void this.told(this.resume(stream));
    });
    stream.addEventListener('error', () => {
      this.parts.status.textContent = say([
        'The server of this page does not answer. The page tries again.',
        'El servidor de esta página no responde. La página lo intenta de nuevo.',
      ]);
    });
    stream.addEventListener('message', ({ data }: MessageEvent<string>) => {
      const webhook = JSON.parse(data) as Webhook;
      const { type: name, occurredAt, data: detail, deliveryId, verified } = webhook;
      this.parts.timeline.add({ source: 'webhook', name, at: new Date(occurredAt), detail, deliveryId, verified });
      this.parts.hear(webhook);
    });
  }

  /** A restarted server has lost its endpoint and the received webhooks. The service may start later than the server. */
  private async resume(stream: EventSource): Promise<void> {
    if (stream !== this.stream) return;
    try {
      const state = await webhookState(this.account);
      if (stream !== this.stream) return;
      if (mayRegister(state)) return await this.register(false);
      this.state = state;
      this.describe();
    } catch (error) {
      setTimeout(() => void this.told(this.resume(stream)), PAUSE_MS);
      throw error;
    }
  }

  private beginAgain(): void {
    this.parts.timeline.remove('webhook');
    this.parts.hear(null);
  }

  private async listDeliveries(): Promise<void> {
    const deliveries = await deliveryLog(this.account);
    this.parts.deliveryLog.remove('delivery');
    for (const { event_type: name, occurred_at, delivery_id: deliveryId, ...rest } of deliveries.toReversed()) {
      const { status, attempt_count: attempts, last_http_status: http, last_error_code: error } = rest;
      this.parts.deliveryLog.add({
        source: 'delivery',
        name,
        at: new Date(occurred_at),
        detail: { status, attempts, ...(http !== null && { http }), ...(error !== null && { error }) },
        deliveryId,
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
