// The sender of webhooks: one POST over HTTPS to a public address, within one time limit. The delivery worker runs the sender.
import type { SecureContext } from 'node:tls';
import { within } from '../../kernel/with-timeout.js';
import { type WebhookAnswer, type WebhookRequest, WebhookSender } from '../../ports/webhook-sender.js';
import { AddressGuard, type Target, targetOf } from './address-guard.js';
import { Attempt } from './attempt.js';
import { type CheckedAddresses, CheckedNames, type Lookup } from './checked-names.js';
import { Connections, trusting } from './connections.js';

export interface HttpsWebhookSenderOptions {
  /** The time limit of a whole attempt in milliseconds: name look-up, wait for a connection, connecting, headers and body. */
  readonly timeoutMs: number;
  /** Addresses and CIDR ranges that tests may reach. */
  readonly allow: readonly string[];
  /** The default is the authorities that Node includes. */
  readonly trust?: SecureContext;
  /** The default is the system's resolver. */
  readonly lookup?: Lookup;
  /** The milliseconds for which the addresses of a name may be used again. The default is 2,000. With 0, every request looks up the name. */
  readonly rememberNamesMs?: number;
  /** The largest number of connections to one address of one origin. Further requests wait, within their time limit. The default is 64. */
  readonly connectionsPerOrigin?: number;
  /** The largest number of origin addresses to which idle connections are kept. The default is 512. */
  readonly originsKept?: number;
}

/** The number of addresses of one name that are tried until a connection is made. */
const MAX_ADDRESSES = 4;
/** The milliseconds for connecting to one address while another address has not been tried. */
const CONNECT_MS = 2_000;

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
    this.connections = new Connections({
      perOrigin: options.connectionsPerOrigin ?? 64,
      kept: options.originsKept ?? 512,
      trust: options.trust ?? trusting(),
    });
  }

  override async send(request: WebhookRequest): Promise<WebhookAnswer> {
    const attempt = new Attempt(this.timeoutMs);
    const answer = within(this.timeoutMs, attempt.answer, () => {
      attempt.expire();
      return attempt.answer;
    });
    this.underWay.add(answer);
    this.start(attempt, request).catch((bug: unknown) => attempt.breakOff(bug));
    return answer.finally(() => this.underWay.delete(answer));
  }

  /** Lets running attempts end, each within its limit, and closes every connection. */
  async close(): Promise<void> {
    await Promise.allSettled(this.underWay);
    this.connections.destroy();
  }

  private async start(attempt: Attempt, request: WebhookRequest): Promise<void> {
    const target = targetOf(request.url, this.guard.exempts);
    const addresses = typeof target === 'string' ? 'not-public' : await this.addressesOf(target);
    if (typeof target === 'string' || addresses === 'not-public') attempt.fail('BLOCKED_ADDRESS');
    else if (addresses === 'not-found') attempt.fail('DNS_FAILURE');
    else if (!attempt.over) this.dispatch(attempt, request, target, addresses);
  }

  private addressesOf({ literal, host }: Target): CheckedAddresses | Promise<CheckedAddresses> {
    if (!literal) return this.names.addressesOf(host);
    return this.guard.permits(host) ? [host] : 'not-public';
  }

  /** Uses the address with an idle connection, or else the first address. The function tries other addresses only while nothing has been sent. */
  private dispatch(attempt: Attempt, request: WebhookRequest, target: Target, addresses: readonly string[]): void {
    const left = addresses.slice(0, MAX_ADDRESSES);
    const idle = left.length === 1 ? 0 : left.findIndex((address) => this.connections.has(target, address));
    this.post({ attempt, request, target }, idle > 0 ? [...left.splice(idle, 1), ...left] : left, false);
  }

  /** Posts to the first of the addresses. A connection that closed during the request is replaced by a new connection once. */
  private post(
    sending: { readonly attempt: Attempt; readonly request: WebhookRequest; readonly target: Target },
    [address = '', ...others]: readonly string[],
    fresh: boolean,
  ): void {
    const { attempt, request, target } = sending;
    attempt.take({
      request: this.connections.post(target, address, request, fresh),
      body: request.body,
      connectMs: others.length === 0 ? attempt.leftMs : Math.min(CONNECT_MS, attempt.leftMs / (others.length + 1)),
      permits: (remoteAddress) => this.guard.permits(remoteAddress),
      another: (failure) => {
        const refused = failure?.errorCode === 'BLOCKED_ADDRESS';
        if (failure === null) this.post(sending, [address, ...others], true);
        else if (others.length > 0 && !refused) this.post(sending, others, fresh);
        return failure === null || (others.length > 0 && !refused);
      },
      failed: () => this.names.failed(target.host, address),
    });
  }
}
