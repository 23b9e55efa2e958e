// The owner of an account, who calls the API of its webhook endpoint. A service must trust the certificates here to
// reach a receiver.
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import type { CertificateAuthority } from './certificates.js';
import type { ReceivedRequest } from './https-receiver.js';
import { type DemoAccount, type Reply, type Service } from './service.js';
import { until } from './eventually.js';

/** An attempt as the delivery log shows it. */
export interface ShownAttempt {
  readonly attempted_at: string;
  readonly http_status: number | null;
  readonly error_code: string | null;
  readonly latency_ms: number | null;
  readonly response_excerpt: string | null;
}

export interface ShownDelivery {
  readonly delivery_id: string;
  readonly event_id: string;
  readonly event_type: string;
  readonly occurred_at: string;
  readonly status: string;
  readonly attempt_count: number;
  readonly last_attempt_at: string | null;
  readonly last_http_status: number | null;
  readonly last_error_code: string | null;
  readonly next_attempt_at: string | null;
  /** Present only in the detail of a delivery. */
  readonly attempts: readonly ShownAttempt[];
}

export class EndpointOwner {
  /** Every secret that the account has received, the newest last. */
  readonly secrets: string[] = [];
  endpointId = '';

  constructor(
    private readonly service: Service,
    readonly account: DemoAccount,
  ) {}

  request(method: string, path = '', body?: unknown): Promise<Reply> {
    return this.service.request(method, `/tsp/webhooks${path}`, {
      headers: { authorization: `Bearer ${this.account.dashboardTokens.owner}` },
      body,
    });
  }

  /** Registers a new endpoint and deletes the previous one. */
  async register(url: string, more: object = {}): Promise<string> {
    await this.remove();
    const { status, text, body } = await this.request('POST', '', { url, ...more });
    if (status !== 201) throw new Error(`The endpoint was refused: ${status} ${text}`);
    this.secrets.push(body.secret);
    return (this.endpointId = body.id);
  }

  async remove(): Promise<void> {
    for (const { id } of (await this.request('GET')).body) await this.request('DELETE', `/${id}`);
  }

  /** Null after the endpoint was deleted. */
  async endpoint(): Promise<any> {
    return (await this.request('GET')).body.find(({ id }: { id: string }) => id === this.endpointId) ?? null;
  }

  change(fields: object = {}): Promise<Reply> {
    return this.request('PUT', `/${this.endpointId}`, fields);
  }

  async rotate(previousValidForSeconds: number): Promise<any> {
    const { body } = await this.request('POST', `/${this.endpointId}/rotate`, {
      previous_valid_for_seconds: previousValidForSeconds,
    });
    this.secrets.push(body.secret);
    return body;
  }

  ping(): Promise<Reply> {
    return this.request('POST', `/${this.endpointId}/test`);
  }

  redeliver(deliveryId: string): Promise<Reply> {
    return this.request('POST', `/${this.endpointId}/deliveries/${deliveryId}/redeliver`);
  }

  /** All deliveries of the endpoint, newest first, read page by page. */
  async deliveries(query: Readonly<Record<string, string>> = {}): Promise<ShownDelivery[]> {
    const all: ShownDelivery[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page = new URLSearchParams({ ...query, limit: '100', ...(cursor !== '' && { cursor }) }).toString();
      const { status, text, body }: Reply = await this.request('GET', `/${this.endpointId}/deliveries?${page}`);
      if (status !== 200) throw new Error(`The delivery log answered ${status}: ${text}`);
      all.push(...body.items);
      cursor = body.next_cursor;
    }
    return all;
  }

  async delivery(deliveryId: string): Promise<ShownDelivery> {
    return (await this.request('GET', `/${this.endpointId}/deliveries/${deliveryId}`)).body;
  }

  /** Waits until the endpoint's only delivery meets the condition, and returns it as it then is. */
  async only(what: string, holds: (delivery: ShownDelivery) => boolean): Promise<ShownDelivery> {
    let all: ShownDelivery[] = [];
    let only: ShownDelivery | null = null;
    await until(`the only delivery ${what}`, async () => {
      all = await this.deliveries();
      if (all.length !== 1 || !holds(all[0] as ShownDelivery)) return false;
      // The delivery may have changed since the list was read.
      only = await this.delivery((all[0] as ShownDelivery).delivery_id);
      return holds(only);
    }).catch((error: Error) => {
      throw new Error(`${error.message}: ${JSON.stringify(all)}`);
    });
    return only as unknown as ShownDelivery;
  }

  /**
   * Returns the body of a request that one of the secrets signed. Throws an error for every other request, and for a
   * request older than five minutes. `aheadMs` is the time by which the sender's clock was moved forward.
   */
  verified({ body, headers }: ReceivedRequest, aheadMs = 0): any {
    let cause: unknown = null;
    const { now } = Date;
    Date.now = () => now() + aheadMs;
    try {
      for (const secret of [...this.secrets].reverse()) {
        try {
          return new Webhook(secret).verify(body, headers);
        } catch (error) {
          cause ??= error;
        }
      }
    } finally {
      Date.now = now;
    }
    throw new Error('None of the secrets signed it', { cause });
  }

  /**
   * Expects that every event of the endpoint was delivered and signed, and that the log has it as it arrived. Two kinds
   * of requests may arrive more often than the log says. The receiver did not answer the first kind in time. The log
   * has no record of the second kind, because the process died first, once for each of the `deaths`.
   */
  async expectAllAccountedFor(came: readonly ReceivedRequest[], count: number, deaths = 0): Promise<void> {
    const arrivals = new Map<string, number>();
    for (const request of came) {
      const { id } = this.verified(request);
      arrivals.set(id, (arrivals.get(id) ?? 0) + 1);
    }
    const log = await this.deliveries();
    expect([log.length, new Set(log.map(({ event_id }) => event_id)).size, arrivals.size]).toEqual([
      count,
      count,
      count,
    ]);
    for (const listed of log) {
      expect(listed).toMatchObject({
        status: 'succeeded',
        last_http_status: 200,
        last_error_code: null,
        next_attempt_at: null,
      });
      const arrived = arrivals.get(listed.event_id) ?? 0;
      if (listed.attempt_count === 1) {
        expect([listed.event_id, arrived, arrived >= 1 && arrived <= 1 + deaths]).toEqual([
          listed.event_id,
          arrived,
          true,
        ]);
        continue;
      }
      const { attempts } = await this.delivery(listed.delivery_id);
      expect(attempts).toHaveLength(listed.attempt_count);
      expect(attempts.map(({ attempted_at }) => attempted_at)).toEqual(
        attempts.map(({ attempted_at }) => attempted_at).sort(),
      );
      expect(attempts.map(({ error_code }) => error_code === null)).toEqual(
        attempts.map((_, index) => index === attempts.length - 1),
      );
      const sure = attempts.filter(({ http_status }) => http_status !== null).length;
      const possible = sure + attempts.filter(({ error_code }) => error_code === 'TIMEOUT').length + deaths;
      expect([listed.event_id, arrived, arrived >= sure && arrived <= possible]).toEqual([
        listed.event_id,
        arrived,
        true,
      ]);
    }
  }
}

/** Writes the certificate that a service must trust to a file in its own folder, for NODE_EXTRA_CA_CERTS. */
export async function trustFile(
  authority: CertificateAuthority,
): Promise<{ readonly folder: string; readonly file: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'trust-'));
  const file = join(folder, 'ca.pem');
  await writeFile(file, authority.cert);
  return { folder, file };
}
