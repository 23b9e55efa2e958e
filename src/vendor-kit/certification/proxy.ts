// Stands between an adapter and its double. The proxy knows the roles of requests, applies faults to one role, and remembers every request.
import { Agent, type IncomingMessage, type ServerResponse, createServer, request as send } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type CertifiedDouble, ROLES, type Role } from '../double/certified-double.js';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface SeenRequest {
  readonly role: Role | null;
  /** The ids in the path. */
  readonly ids: readonly string[];
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Whether the double received the request. */
  forwarded: boolean;
  /** Whether a fault was applied to the request or its answer. */
  harmed: boolean;
  /** The double's answer, or the answer that the proxy gave instead. */
  answer: Answer | null;
  /** Whether the adapter read an endless answer to its end. */
  oversized?: boolean;
}

/** One exchange, as a fault handles it. */
export interface Exchange {
  readonly seen: SeenRequest;
  readonly response: ServerResponse;
  readonly socket: Socket;
  /** The time limit of the adapter. */
  readonly limitMs: number;
  /** Passes the request to the double. */
  readonly forward: () => Promise<Answer>;
  /** Sends a complete answer. */
  readonly answer: (answer: Answer) => void;
}

export interface Fault {
  readonly name: string;
  /** The end comes only with the time limit, so the limit is short. */
  readonly waits?: true;
  /** Only the first request of the role meets the fault. */
  readonly once?: true;
  /** The adapter gets the double's answer in time. */
  readonly whole?: true;
  apply(exchange: Exchange): Promise<void> | void;
}

/** The role of a request, by the most precise pattern that fits. `ids`: the parts of the path for which the pattern has `*`. */
export function routeOf(
  double: CertifiedDouble,
  { method, url, body }: Pick<SeenRequest, 'method' | 'url' | 'body'>,
): { readonly role: Role | null; readonly ids: readonly string[] } {
  const [path = ''] = url.split('?');
  const given = path.split('/');
  const fitting = ROLES.flatMap((role) =>
    (double.roles[role] ?? []).flatMap((pattern) => {
      const [wanted, route = '', word = ''] = pattern.split(' ');
      const parts = route.split('/');
      const fits =
        wanted === method &&
        parts.length === given.length &&
        parts.every((part, at) => part === '*' || part === given[at]) &&
        body.includes(word);
      const ids = given.filter((_, at) => parts[at] === '*');
      return fits ? [{ role, ids, precision: word.length * given.length - ids.length }] : [];
    }),
  );
  const [first] = fitting.sort((one, other) => other.precision - one.precision);
  return first ?? { role: null, ids: [] };
}

export class FaultProxy {
  readonly requests: SeenRequest[] = [];
  /** The fault for each role. */
  faults: { readonly [Name in Role]?: Fault } = {};
  private readonly sockets = new Set<Socket>();
  private readonly server = createServer((request, response) => void this.handle(request, response));
  private closed = false;
  private readonly revoked = new Set<string>();

  constructor(
    private readonly double: CertifiedDouble,
    private readonly target: string,
    private readonly limitMs: number,
  ) {
    this.server.keepAliveTimeout = 60_000;
    this.server.on('connection', (socket) => {
      // An adapter may connect again while the proxy closes.
      if (this.closed) socket.destroy();
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket)).on('error', () => undefined);
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Every access token that was used until now is refused. */
  revoke(): void {
    for (const { role, headers } of this.requests)
      if (role !== 'token' && headers.authorization !== undefined) this.revoked.add(headers.authorization);
  }

  close(): Promise<void> {
    this.closed = true;
    for (const socket of this.sockets) socket.destroy();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', socket } = request;
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const body = await bodyOf(request);
    const { role, ids } = routeOf(this.double, { method, url, body });
    const seen: SeenRequest = { role, ids, method, url, headers, body, forwarded: false, harmed: false, answer: null };
    const fault = role === null ? undefined : this.faults[role];
    const met = this.requests.some((other) => other.role === role && other.harmed);
    this.requests.push(seen);
    response.on('error', () => undefined);
    const answer = (told: Answer): void => {
      seen.answer = told;
      response.writeHead(told.status, { ...told.headers, 'content-length': Buffer.byteLength(told.body) });
      response.end(told.body);
    };
    const forward = async (): Promise<Answer> => {
      seen.forwarded = true;
      return (seen.answer = await this.forwarded(seen));
    };
    try {
      if (role === null) answer({ status: 404, headers: {}, body: '' });
      else if (role !== 'token' && this.revoked.has(headers.authorization ?? ''))
        answer({ status: 401, headers: JSON_TYPE, body: '{}' });
      else if (fault === undefined || (fault.once && met)) answer(await forward());
      else {
        seen.harmed = true;
        await fault.apply({ seen, response, socket, limitMs: this.limitMs, forward, answer });
      }
    } catch {
      // The double has gone, because the certification ends.
      socket.destroy();
    }
  }

  private forwarded({ method, url, headers, body }: SeenRequest): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const kept = Object.entries(headers).filter(([name]) => !PER_CONNECTION.has(name));
      const onward = send(
        this.target + url,
        { method, headers: Object.fromEntries(kept), agent: DOUBLES },
        (answer) => {
          bodyOf(answer).then(
            (text) => resolve({ status: answer.statusCode ?? 0, headers: told(answer), body: text }),
            reject,
          );
        },
      );
      onward.on('error', reject);
      onward.end(body);
    });
  }
}

/** The connections to doubles. The proxies share them, because most proxies pass on a few requests only. */
const DOUBLES = new Agent({ keepAlive: true });
export const JSON_TYPE = { 'content-type': 'application/json' } as const;
const PER_CONNECTION: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'content-length',
]);

function told(answer: IncomingMessage): Record<string, string> {
  const kept = Object.entries(answer.headers).filter(([name]) => !PER_CONNECTION.has(name));
  return Object.fromEntries(kept.map(([name, value]) => [name, String(value)]));
}

export async function bodyOf(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
