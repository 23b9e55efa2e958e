// Connections to receivers that are kept open. Each is bound to one host and to one of the host's addresses that the guard has permitted.
import type { ClientRequest } from 'node:http';
import { Agent, type AgentOptions, request as httpsRequest } from 'node:https';
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls';
import type { WebhookRequest } from '../../ports/webhook-sender.js';
import type { Target } from './address-guard.js';

export interface ConnectionsOptions {
  /** The largest number of connections to one address of one origin. */
  readonly perOrigin: number;
  /** The largest number of origin addresses to which idle connections are kept. */
  readonly kept: number;
  readonly trust: SecureContext;
}

/** Receivers and their balancers keep an idle connection longer than this time. Connections are therefore seldom closed during a request. */
const IDLE_MS = 4_000;
const SESSIONS = 512;

/** Makes the context for TLS. The call is slow, because it loads every authority that Node includes, and the authorities in `ca` (PEM). */
export function trusting(ca?: string): SecureContext {
  return createSecureContext({ ...(ca && { ca: [...rootCertificates, ca] }), minVersion: 'TLSv1.2' });
}

export class Connections {
  private readonly kept: Agent;
  /** Each connection of this agent is used for one request. */
  private readonly fresh: Agent;

  constructor(private readonly options: ConnectionsOptions) {
    const common: AgentOptions = {
      maxSockets: options.perOrigin,
      maxCachedSessions: SESSIONS,
      secureContext: options.trust,
      // Set explicitly, because an environment variable changes the default.
      rejectUnauthorized: true,
    };
    this.kept = new Agent({ ...common, keepAlive: true, timeout: IDLE_MS });
    this.fresh = new Agent(common);
  }

  /** Whether a connection to the address is idle. */
  has(target: Target, address: string): boolean {
    return this.kept.getName({ ...placeOf(target, address), rejectUnauthorized: true }) in this.kept.freeSockets;
  }

  /**
   * A request to this address only, even if the name has other addresses now. The certificate must be for the name. The headers are sent together
   * with the body. `fresh`: over a new connection.
   */
  post(target: Target, address: string, { headers, body }: WebhookRequest, fresh: boolean): ClientRequest {
    const once = fresh || (this.full && !this.has(target, address));
    return httpsRequest({
      ...placeOf(target, address),
      agent: once ? this.fresh : this.kept,
      method: 'POST',
      path: target.path,
      headers: {
        ...headers,
        host: target.origin.slice('https://'.length),
        connection: once ? 'close' : 'keep-alive',
        'content-length': body.byteLength,
      },
    });
  }

  /** Ends every connection, in use or idle. */
  destroy(): void {
    this.kept.destroy();
    this.fresh.destroy();
  }

  private get full(): boolean {
    return Object.keys(this.kept.freeSockets).length >= this.options.kept;
  }
}

/** A host that is an address has no server name to send. The certificate is then checked for the address. */
function placeOf({ literal, host, port }: Target, address: string): { host: string; port: number; servername: string } {
  return { host: address, port, servername: literal ? '' : host };
}
