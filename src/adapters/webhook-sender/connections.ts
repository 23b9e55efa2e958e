// Connections to receivers, kept alive, each bound to one origin and to one address that the guard has let pass.
import { createSecureContext, rootCertificates } from 'node:tls';
import { Client, buildConnector } from 'undici';
import type { AddressGuard, Target } from './address-guard.js';
import { NotConnected, notConnected } from './failures.js';
import { Lane } from './lane.js';

export interface ConnectionsOptions {
  /** Milliseconds after which a connection that does not come about is given up. */
  readonly timeoutMs: number;
  /** Connections at most to one address of one origin. */
  readonly perOrigin: number;
  /** PEM of authorities to trust beside the ones that Node brings. */
  readonly ca?: string | undefined;
}

/** Shorter than receivers and their balancers keep an idle connection, so that it is seldom closed under a request. */
const IDLE_MS = 4_000;
const LONGEST_IDLE_MS = 30_000;
/** More origins than these are served, but not all of them keep their connections. */
const MAX_LANES = 512;
const SESSIONS = 512;

export class Connections {
  /** By address and origin; the one used longest ago first. */
  private readonly lanes = new Map<string, Lane>();
  private readonly connect: buildConnector.connector;

  constructor(
    private readonly guard: AddressGuard,
    private readonly options: ConnectionsOptions,
  ) {
    const trusted = options.ca === undefined ? {} : { ca: [...rootCertificates, options.ca] };
    this.connect = buildConnector({
      timeout: options.timeoutMs,
      maxCachedSessions: SESSIONS,
      // Made once: it holds every trusted authority.
      secureContext: createSecureContext({ ...trusted, minVersion: 'TLSv1.2' }),
      // Said, because an environment variable may say otherwise where nothing is said.
      rejectUnauthorized: true,
    });
  }

  /** Whether there are connections of use already. */
  has(target: Target, address: string): boolean {
    return this.lanes.has(keyOf(target, address));
  }

  to(target: Target, address: string): Lane {
    const key = keyOf(target, address);
    const lane = this.lanes.get(key) ?? this.open(target, address);
    this.lanes.delete(key);
    this.lanes.set(key, lane);
    return lane;
  }

  /** Ends every connection, in use or not. */
  async destroy(): Promise<void> {
    const lanes = [...this.lanes.values()];
    this.lanes.clear();
    await Promise.all(lanes.map((lane) => lane.destroy()));
  }

  private open(target: Target, address: string): Lane {
    if (this.lanes.size >= MAX_LANES) this.closeOneAtRest();
    const options: Client.Options = {
      pipelining: 1,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: LONGEST_IDLE_MS,
      connect: this.pinned(target, address),
      // One timer over the whole exchange covers all of it; these would only count silence.
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    return new Lane(this.options.perOrigin, () => new Client(target.origin, options));
  }

  /** Connects to the address and nowhere else, whatever the name means by then; the certificate must be the name's. */
  private pinned(target: Target, address: string): buildConnector.connector {
    // Of an address there is no server name to send: its certificate is checked against the address.
    const place = target.literal ? { hostname: address } : { hostname: address, servername: target.host };
    return (options, callback) => {
      this.connect({ ...options, ...place }, (error, socket) => {
        if (error !== null) return callback(notConnected(error), null);
        const fault = this.faultOf(socket.remoteAddress);
        if (fault === null) return callback(null, socket);
        socket.destroy();
        callback(fault, null);
      });
    };
  }

  private faultOf(remoteAddress: string | undefined): NotConnected | null {
    // Gone again already.
    if (remoteAddress === undefined) return new NotConnected('CONNECTION_FAILED', false);
    return this.guard.permits(remoteAddress) ? null : new NotConnected('BLOCKED_ADDRESS', false);
  }

  private closeOneAtRest(): void {
    for (const [key, lane] of this.lanes) {
      if (!lane.atRest) continue;
      this.lanes.delete(key);
      // It has nothing to lose; its sockets go by themselves.
      void lane.destroy();
      return;
    }
  }
}

function keyOf(target: Target, address: string): string {
  return `${address} ${target.origin}`;
}
