import type { FastifyInstance } from 'fastify';
import { Unavailable } from '../../kernel/unavailable.js';
import { withTimeout } from '../../kernel/with-timeout.js';

/** One need of the service: null if it is met, or else one sentence for an operator. The check may throw when the need cannot be checked. */
type HealthCheck = () => string | null | Promise<string | null>;

interface HealthReport {
  readonly ready: boolean;
  readonly checks: Readonly<Record<string, 'ok' | 'failing'>>;
  /** The reason of each failing check, and of a process that is not ready because it is stopping. */
  readonly reasons: Readonly<Record<string, string>>;
}

const ANSWER_WITHIN_MS = 2_000;

/** The present readiness. A process that shuts down is not ready. */
export class Health {
  private stopping = false;
  private readonly checks = new Map<string, HealthCheck>();
  private asking: Promise<HealthReport> | null = null;

  add(name: string, check: HealthCheck): void {
    this.checks.set(name, check);
  }

  stop(): void {
    this.stopping = true;
  }

  /** Simultaneous probes share one answer. */
  report(): Promise<HealthReport> {
    return (this.asking ??= this.ask().finally(() => (this.asking = null)));
  }

  private async ask(): Promise<HealthReport> {
    const asked = [...this.checks].map(async ([name, check]) => [name, await reasonOf(check)] as const);
    const found = await Promise.all(asked);
    const reasons = found.flatMap(([name, reason]) => (reason === null ? [] : [[name, reason]]));
    if (this.stopping) reasons.push(['process', 'The process is stopping.']);
    return {
      ready: reasons.length === 0,
      checks: Object.fromEntries(found.map(([name, reason]) => [name, reason === null ? 'ok' : 'failing'])),
      reasons: Object.fromEntries(reasons) as Record<string, string>,
    };
  }
}

async function reasonOf(check: HealthCheck): Promise<string | null> {
  const asked = await withTimeout(ANSWER_WITHIN_MS, ask(check));
  return asked === null ? 'It gave no answer in time.' : asked.reason;
}

async function ask(check: HealthCheck): Promise<{ readonly reason: string | null }> {
  try {
    return { reason: await check() };
  } catch (error) {
    // A message may contain a path or, after its colon, an inner address, and strangers may call the probe.
    const known = error instanceof Unavailable ? error.message.replace(/:[^]*| \/\S+/g, '') : null;
    return { reason: known ?? 'It failed with an error of its own.' };
  }
}

/** `GET /health/live` and `GET /health/ready`. These routes are outside Nest, so that they always answer. */
export function serveHealth(fastify: FastifyInstance, health: Health): void {
  fastify.get('/health/live', { config: { probe: true, readsOnly: true } }, () => ({ status: 'ok' }));
  fastify.get('/health/ready', { config: { probe: true, readsOnly: true } }, async (_request, reply) => {
    const { ready, checks, reasons } = await health.report();
    return reply
      .status(ready ? 200 : 503)
      .send({ status: ready ? 'ok' : 'unavailable', checks, ...(Object.keys(reasons).length > 0 && { reasons }) });
  });
}
