// (q) A vendor in trouble: how many calls still reach it, and how much slower the calls to the other vendor become. Both vendors get registrations of
// the direct API. Undisturbed rounds run before and after each disturbed round, so that other load on the machine affects both.
import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type Server, createServer, type ServerResponse } from 'node:http';
import { DirectCaller } from '../support/direct.js';
import { until } from '../support/eventually.js';
import { freePort } from '../support/redis.js';
import { ALONE, Program, Service } from '../support/service.js';
import { median, paced, quantile, tell, throughput } from './measure.js';

const ROUNDS = Number(process.env['ROUNDS'] ?? 3);
/** The calls to the other vendor in a round, and how many of them run at once. */
const CALLS = 200;
const IN_FLIGHT = 2;
/** The callers of the vendor in trouble, and the calls that they begin in a second. */
const CALLERS = 24;
const A_SECOND = Number(process.env['A_SECOND'] ?? 20);
const STORM = 1_200;
const PAUSE_SECONDS = 7;

const TROUBLES = ['hangs', 'drips', '429', '503', '500', 'slow', 'resets', 'refuses'] as const;
type Trouble = (typeof TROUBLES)[number] | 'none';

export async function benchVendorTrouble(): Promise<void> {
  const vendor = new TroubledVendor(await freePort());
  await vendor.listen();
  const service = await Service.start(
    { LOG_LEVEL: 'warn', LIMITS: 'off', VENDOR_ACME_URL: vendor.url, RECOVERY_INTERVAL: '5' },
    { alone: ALONE },
  );
  try {
    const others = await DirectCaller.of(service, 'nopay');
    const troubled = [await callerOfAcme(service, 'demo'), await callerOfAcme(service, 'child')];
    let next = 0;
    const disturb = (): Promise<number> => register(troubled[next++ % troubled.length] as DirectCaller);
    const recover = async (): Promise<void> => {
      await vendor.recover();
      await until('the vendor gets calls again', async () => (await disturb()) === 200);
    };
    const round = async (): Promise<number> => {
      const times: number[] = [];
      await throughput(CALLS, IN_FLIGHT, async () => {
        const startedAt = performance.now();
        const status = await register(others);
        if (status !== 200) throw new Error(`A registration with the other vendor got ${status}`);
        times.push(performance.now() - startedAt);
      });
      return quantile(
        times.sort((one, other) => one - other),
        0.5,
      );
    };
    for (let warming = 0; warming < 5; warming++) await round();
    vendor.trouble = '429';
    await throughput(STORM, CALLERS, async () => void (await disturb()));
    tell(`(q) requests to a vendor that answers 429, after ${STORM} calls`, vendor.requests, '', { below: 20 });
    await recover();
    for (const trouble of ['none', ...TROUBLES] as const) {
      const ratios: number[] = [];
      let calm = await round();
      for (let count = 0; count < ROUNDS; count++) {
        await vendor.fail(trouble);
        const disturbed = await disturbedRound(round, disturb);
        await recover();
        const after = await round();
        ratios.push((2 * disturbed) / (calm + after));
        calm = after;
      }
      const [least, most] = [Math.min(...ratios), Math.max(...ratios)].map((ratio) => ratio.toFixed(2));
      const what = trouble === 'none' ? 'acme is well' : `acme: ${trouble}`;
      tell(`(q) p50 / undisturbed p50, ${what} (${least} to ${most})`, median(ratios), 'times', { below: 1.2 });
    }
  } finally {
    await service.stop();
    await vendor.close();
  }
}

/** Callers begin calls to the vendor in trouble all along. Each waits for its reply. */
async function disturbedRound(round: () => Promise<number>, disturb: () => Promise<unknown>): Promise<number> {
  let inFlight = 0;
  const measured = round();
  void paced(A_SECOND, measured, async () => {
    if (inFlight >= CALLERS) return;
    inFlight += 1;
    await disturb().finally(() => (inFlight -= 1));
  });
  return measured;
}

async function callerOfAcme(service: Service, account: 'demo' | 'child'): Promise<DirectCaller> {
  const { accountId } = (await service.credentials()).accounts[account];
  const chosen = ['accounts', 'set', accountId, '--identity-vendor', 'acme', '--credit-vendor', 'acme'];
  const command = new Program('dist/src/ops/main.js', service.env, chosen);
  command.spawn();
  if ((await command.ended()) !== 0) throw new Error(command.output);
  return DirectCaller.of(service, account);
}

async function register(caller: DirectCaller): Promise<number> {
  return (await caller.register('renters', randomUUID())).status;
}

/** Speaks as acme, and approves everybody while it is well. */
class TroubledVendor {
  trouble: Trouble = 'none';
  /** Verifications only. */
  requests = 0;
  private server: Server | null = null;

  constructor(private readonly port: number) {}

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async listen(): Promise<void> {
    const server = createServer((request, response) => this.answer(request, response));
    this.server = server;
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
  }

  async fail(trouble: Trouble): Promise<void> {
    this.trouble = trouble;
    if (trouble === 'refuses') await this.close();
  }

  /** Ends all requests. */
  async recover(): Promise<void> {
    this.trouble = 'none';
    this.server?.closeAllConnections();
    if (this.server === null) await this.listen();
  }

  async close(): Promise<void> {
    const { server } = this;
    this.server = null;
    if (server === null) return;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }

  private answer(request: IncomingMessage, response: ServerResponse): void {
    const { method, url = '' } = request;
    request.resume();
    const send = (status: number, body: object, headers: Record<string, string> = {}): void => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
    };
    if (url === '/oauth/token') return send(200, { access_token: 'token', token_type: 'Bearer', expires_in: 3_600 });
    if (url.startsWith('/v1/requests/')) return send(404, { code: 'key_unknown' });
    if (method === 'GET')
      return send(200, { id: url.split('/').at(-1), state: 'approved', score: { value: 912, model: 'Bench' } });
    this.requests += 1;
    const accept = (): void => send(202, { id: `ver_${randomUUID().replaceAll('-', '')}`, state: 'processing' });
    switch (this.trouble) {
      case 'none':
        return accept();
      case 'slow':
        setTimeout(accept, 2_000).unref();
        return;
      case 'hangs':
        return;
      case 'drips': {
        response.writeHead(202, { 'content-type': 'application/json' });
        const dripping = setInterval(() => response.write(' '), 100).unref();
        response.on('close', () => clearInterval(dripping));
        return;
      }
      case '429':
        return send(429, { code: 'rate_limited' }, { 'retry-after': String(PAUSE_SECONDS) });
      case '503':
        return send(503, { code: 'overloaded' }, { 'retry-after': String(PAUSE_SECONDS) });
      case '500':
        return send(500, { code: 'internal_error' });
      case 'resets':
      case 'refuses':
        response.socket?.resetAndDestroy();
        return;
      default:
        this.trouble satisfies never;
    }
  }
}
