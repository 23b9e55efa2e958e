import type { FastifyInstance } from 'fastify';

/** A reason not to be ready that is fit for the answer of the probe: one sentence for an operator. */
export class NotReady extends Error {
  override readonly name = 'NotReady';
}

/** One thing the service needs; throws when it is not well. */
export interface HealthCheck {
  readonly name: string;
  readonly check: () => Promise<void>;
}

/** What is ready, as of now. While shutting down nothing is. */
export class Health {
  private stopping = false;
  private readonly checks: HealthCheck[] = [];

  add(check: HealthCheck): void {
    this.checks.push(check);
  }

  stop(): void {
    this.stopping = true;
  }

  async report(): Promise<{
    readonly ready: boolean;
    readonly checks: Readonly<Record<string, 'ok' | 'failing'>>;
    readonly reasons: Readonly<Record<string, string>>;
  }> {
    const results = await Promise.allSettled(this.checks.map(({ check }) => within(2_000, check())));
    const checks = Object.fromEntries(
      this.checks.map(({ name }, index) => [
        name,
        results[index]?.status === 'fulfilled' ? ('ok' as const) : ('failing' as const),
      ]),
    );
    const reasons: Record<string, string> = {};
    for (const [index, result] of results.entries()) {
      if (result.status === 'rejected' && result.reason instanceof NotReady)
        reasons[this.checks[index]?.name ?? ''] = result.reason.message;
    }
    return { ready: !this.stopping && results.every(({ status }) => status === 'fulfilled'), checks, reasons };
  }
}

function within(ms: number, work: Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('No answer in time')), ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** `GET /health/live` and `GET /health/ready`: outside Nest, so that they answer whatever else is wrong. */
export function serveHealth(fastify: FastifyInstance, health: Health): void {
  fastify.get('/health/live', { config: { probe: true } }, () => ({ status: 'ok' }));
  fastify.get('/health/ready', { config: { probe: true } }, async (_request, reply) => {
    const { ready, checks, reasons } = await health.report();
    return reply
      .status(ready ? 200 : 503)
      .send({ status: ready ? 'ok' : 'unavailable', checks, ...(Object.keys(reasons).length > 0 && { reasons }) });
  });
}
