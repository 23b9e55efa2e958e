// The sender of webhooks: one POST over HTTPS to a public address, under one time limit. Run by the delivery worker.
import { type WebhookAnswer, type WebhookRequest, WebhookSender } from '../../ports/webhook-sender.js';
import { AddressGuard, type Target, targetOf } from './address-guard.js';
import { Attempt } from './attempt.js';
import { CheckedNames, type Lookup } from './checked-names.js';
import { Connections } from './connections.js';

export interface HttpsWebhookSenderOptions {
  /** Milliseconds over everything: looking the name up, waiting for a connection, connecting, headers and body. */
  readonly timeoutMs: number;
  /** Addresses and CIDR ranges that tests may reach. */
  readonly allow: readonly string[];
  /** PEM of authorities to trust beside the ones that Node brings. */
  readonly ca?: string;
  /** Default: the system's resolver. */
  readonly lookup?: Lookup;
  /** Milliseconds for which a name's addresses may be used again; default 2,000. 0: looked up for every request. */
  readonly rememberNamesMs?: number;
  /** Connections at most to one address of one origin; requests beyond wait, within their limit. Default 64. */
  readonly connectionsPerOrigin?: number;
}

/** Addresses of one name that are tried when connections are refused. */
const MAX_ADDRESSES = 4;

export class HttpsWebhookSender extends WebhookSender {
  private readonly guard: AddressGuard;
  private readonly names: CheckedNames;
  private readonly connections: Connections;
  private readonly timeoutMs: number;
  private readonly underWay = new Set<Promise<WebhookAnswer>>();

  constructor(options: HttpsWebhookSenderOptions) {
    super();
    this.timeoutMs = options.timeoutMs;
    this.guard = new AddressGuard(options.allow);
    this.names = new CheckedNames(this.guard, options.rememberNamesMs ?? 2_000, options.lookup);
    this.connections = new Connections(this.guard, {
      timeoutMs: options.timeoutMs,
      perOrigin: options.connectionsPerOrigin ?? 64,
      ca: options.ca,
    });
  }

  override async send(request: WebhookRequest): Promise<WebhookAnswer> {
    const attempt = new Attempt();
    const timer = setTimeout(expire, this.timeoutMs, attempt);
    this.underWay.add(attempt.answer);
    try {
      this.start(attempt, request);
      return await attempt.answer;
    } finally {
      clearTimeout(timer);
      this.underWay.delete(attempt.answer);
    }
  }

  /** Lets what is under way end, each within its limit, and closes every connection. */
  async close(): Promise<void> {
    await Promise.allSettled(this.underWay);
    await this.connections.destroy();
  }

  private start(attempt: Attempt, request: WebhookRequest): void {
    const target = targetOf(request.url, this.guard.exempts);
    if (typeof target === 'string') return attempt.fail('BLOCKED_ADDRESS');
    if (target.literal) {
      if (this.guard.permits(target.host)) return this.dispatch(attempt, request, target, [target.host]);
      return attempt.fail('BLOCKED_ADDRESS');
    }
    const known = this.names.known(target.host);
    if (known !== null) return this.dispatch(attempt, request, target, known);
    this.lookUp(attempt, request, target).catch((bug: unknown) => attempt.breakOff(bug));
  }

  private async lookUp(attempt: Attempt, request: WebhookRequest, target: Target): Promise<void> {
    const addresses = await this.names.addressesOf(target.host);
    if (addresses === 'not-found') attempt.fail('DNS_FAILURE');
    else if (addresses === 'not-public') attempt.fail('BLOCKED_ADDRESS');
    else this.dispatch(attempt, request, target, addresses);
  }

  /** Where connections stand already, else the first address; the others only while nothing could be sent. */
  private dispatch(attempt: Attempt, request: WebhookRequest, target: Target, addresses: readonly string[]): void {
    if (attempt.over) return;
    const first = addresses.find((address) => this.connections.has(target, address)) ?? addresses[0];
    if (first === undefined) return attempt.fail('DNS_FAILURE');
    const others =
      addresses.length === 1 ? [] : addresses.filter((address) => address !== first).slice(0, MAX_ADDRESSES - 1);
    attempt.onNotConnected = ({ elsewhere }) => {
      this.names.forget(target.host);
      const next = elsewhere && !attempt.over ? others.shift() : undefined;
      if (next !== undefined) this.post(attempt, request, target, next);
      return next !== undefined;
    };
    this.post(attempt, request, target, first);
  }

  private post(attempt: Attempt, request: WebhookRequest, target: Target, address: string): void {
    this.connections.to(target, address).post(target.path, request, attempt);
  }
}

function expire(attempt: Attempt): void {
  attempt.expire();
}
