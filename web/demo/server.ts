// The page's calls to its own server. An integrator's page has such a server too, and only the server has the secret keys.
import type { GrantChoice } from './choice.js';
import type { Texts } from './language.js';

export interface Config {
  readonly baseUrl: string;
  readonly embeddedUrl: string;
  readonly accounts: readonly { readonly name: string; readonly about: Texts; readonly publishableKey: string }[];
}

export interface WebhookState {
  /** The reason why webhooks cannot arrive here; null if they can arrive. */
  readonly missing: string | null;
  readonly receiving: boolean;
  /** The address of another endpoint of the account, which this page did not make. */
  readonly occupiedBy: string | null;
  /** The state of an endpoint with failed deliveries: those in a row, and the last error. */
  readonly trouble: {
    readonly status: EndpointStatus;
    readonly failures: number;
    readonly error: string | null;
  } | null;
}

export type EndpointStatus = 'active' | 'failing' | 'disabled';

export interface Webhook {
  readonly id: string;
  readonly type: string;
  readonly occurredAt: string;
  readonly data: { readonly session_id?: string; readonly reason_code?: string };
  readonly deliveryId: string;
  readonly verified: boolean;
}

export interface Delivery {
  readonly delivery_id: string;
  readonly event_type: string;
  readonly occurred_at: string;
  readonly status: string;
  readonly attempt_count: number;
  readonly last_http_status: number | null;
  readonly last_error_code: string | null;
}

export const readConfig = (): Promise<Config> => ask('GET', '/config.json');

export async function mintGrant(account: string, grant: GrantChoice, fields: object): Promise<string> {
  const body = { account, onBehalfOfChild: grant === 'child', ...fields };
  const { token } = await ask<{ readonly token: string }>('POST', '/grant', body);
  return token;
}

export const webhookState = (account: string): Promise<WebhookState> => ask('GET', `/webhooks?account=${account}`);

export const receiveWebhooks = (account: string, replace: boolean): Promise<unknown> =>
  ask('POST', '/webhooks', { account, replace });

export const webhookStream = (account: string): EventSource => new EventSource(`/webhooks/stream?account=${account}`);

export async function deliveryLog(account: string): Promise<readonly Delivery[]> {
  const { items } = await ask<{ readonly items: readonly Delivery[] }>(
    'GET',
    `/webhooks/deliveries?account=${account}`,
  );
  return items;
}

/** The address of a shared report, which the server of this page reads with its secret key. */
export const reportAddress = (account: string, session: string, language: string): string =>
  `/landlord/report?${new URLSearchParams({ account, session, language }).toString()}`;

async function ask<Reply>(method: string, path: string, body?: object): Promise<Reply> {
  const response = await fetch(path, {
    method,
    ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  const reply = (await response.json()) as Reply & { readonly error?: { readonly message: string } };
  if (!response.ok) throw new Error(reply.error?.message ?? `${path} was answered with ${response.status}`);
  return reply;
}
