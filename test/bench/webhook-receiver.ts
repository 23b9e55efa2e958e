// The receiver of the webhook benchmark, in its own process. The receiver counts unique events, and reports the session
// of each event and its age at the arrival. `/hang...` answers nothing for eight seconds. All other paths answer at
// once.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { CertificateAuthority } from '../support/certificates.js';

const HANG_MS = 8_000;

/** The requests to the paths that answer at once. Times are in ms. `firstAt` and `lastAt` count from 1970. */
export interface Received {
  readonly requests: number;
  readonly unique: number;
  readonly firstAt: number;
  readonly lastAt: number;
  /** The times from the event to its receipt, sorted. */
  readonly ages: readonly number[];
}

type Message = { readonly arrived: string } | Received;

export class BenchReceiver {
  private readonly expected = new Map<string, () => void>();
  private answered: (received: Received) => void = () => undefined;

  private constructor(
    private readonly child: ChildProcess,
    readonly ca: string,
    readonly port: number,
  ) {
    child.on('message', (message: Message) => {
      if ('arrived' in message) this.expected.get(message.arrived)?.();
      else this.answered(message);
    });
  }

  static async start(): Promise<BenchReceiver> {
    const child = fork(fileURLToPath(import.meta.url), ['receive'], { stdio: 'inherit' });
    const [{ ca, port }] = (await once(child, 'message')) as [{ ca: string; port: number }];
    return new BenchReceiver(child, ca, port);
  }

  url(path: string): string {
    return `https://127.0.0.1:${this.port}${path}`;
  }

  /** The requests since the last reset. */
  async received(reset = false): Promise<Received> {
    const answer = new Promise<Received>((resolve) => (this.answered = resolve));
    this.child.send({ reset });
    return answer;
  }

  /** Resolves when the first event of the given session arrives. */
  async arrival(sessionId: string): Promise<void> {
    await new Promise<void>((resolve) => this.expected.set(sessionId, resolve));
    this.expected.delete(sessionId);
  }

  async close(): Promise<void> {
    const exited = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await exited;
  }
}

if (process.argv[2] === 'receive') {
  const authority = new CertificateAuthority();
  let requests = 0;
  let ids = new Set<string>();
  let ages: number[] = [];
  let firstAt = 0;
  let lastAt = 0;
  const server = createServer(
    { ...authority.issue({ hosts: ['127.0.0.1'] }), keepAliveTimeout: 30_000 },
    (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        if (request.url?.startsWith('/hang')) {
          setTimeout(() => response.end(), HANG_MS + 1_000);
          return;
        }
        const now = Date.now();
        requests += 1;
        firstAt ||= now;
        const id = String(request.headers['webhook-id']);
        if (!ids.has(id)) {
          ids.add(id);
          lastAt = now;
          const { occurred_at: occurredAt, data } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as {
            occurred_at?: string;
            data?: { session_id?: string };
          };
          if (occurredAt !== undefined) ages.push(now - Date.parse(occurredAt));
          if (data?.session_id !== undefined) process.send?.({ arrived: data.session_id });
        }
        response.end('ok');
      });
    },
  );
  process.on('message', ({ reset }: { readonly reset: boolean }) => {
    process.send?.({
      requests,
      unique: ids.size,
      firstAt,
      lastAt,
      ages: [...ages].sort((one, other) => one - other),
    } satisfies Received);
    if (!reset) return;
    requests = firstAt = lastAt = 0;
    ids = new Set();
    ages = [];
  });
  process.on('disconnect', () => process.exit());
  server.listen(0, '127.0.0.1', () =>
    process.send?.({ ca: authority.cert, port: (server.address() as AddressInfo).port }),
  );
}
