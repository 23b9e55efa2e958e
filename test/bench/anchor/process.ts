// The anchor: a program that does the same work without this service's design. The anchor uses the same tools and has
// the same durability. The program runs in its own process, with its own Redis and folder (docs/benchmarks.md).
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fastify } from 'fastify';
import { Redis } from 'ioredis';
import { generateKeyPair, SignJWT } from 'jose';
import { RedisServer } from '../../support/redis.js';
import { deliveries, type Receiver } from './deliveries.js';
import { AnchorLog } from './log.js';
import { mountRoutes } from './routes.js';

interface Settings {
  readonly folder: string;
  readonly redisUrl: string;
  readonly sandboxUrl: string;
  readonly receiver: Receiver;
}

interface Ready {
  readonly url: string;
  readonly token: string;
}

export class Anchor implements Ready {
  private constructor(
    private readonly child: ChildProcess,
    private readonly folder: string,
    readonly redis: RedisServer,
    readonly url: string,
    readonly token: string,
  ) {}

  static async start(sandboxUrl: string, receiver: Receiver): Promise<Anchor> {
    const [redis, folder] = await Promise.all([RedisServer.start(), mkdtemp(join(tmpdir(), 'anchor-'))]);
    const settings: Settings = { folder, redisUrl: redis.url, sandboxUrl, receiver };
    // The flags of Node are the same as for the service.
    const child = fork(fileURLToPath(import.meta.url), ['serve', JSON.stringify(settings)], {
      stdio: 'inherit',
      execArgv: ['--max-semi-space-size=64'],
    });
    const [{ url, token }] = (await once(child, 'message')) as [Ready];
    return new Anchor(child, folder, redis, url, token);
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** Makes the anchor deliver an event of this session. */
  deliver(sessionId: string): void {
    this.child.send(sessionId);
  }

  async stop(): Promise<void> {
    const exited = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await exited;
    await this.redis.stop();
    await rm(this.folder, { recursive: true, force: true });
  }
}

if (process.argv[2] === 'serve') {
  const { folder, redisUrl, sandboxUrl, receiver } = JSON.parse(process.argv[3] ?? '') as Settings;
  const redis = new Redis(redisUrl, { maxRetriesPerRequest: null });
  const log = AnchorLog.open(join(folder, 'anchor.mdb'));
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const app = fastify();
  mountRoutes(app, { redis, log, sandboxUrl, publicKey });
  const deliver = deliveries(redis, log, receiver);
  process.on('message', (sessionId: string) => deliver(sessionId));
  process.on('disconnect', () => process.exit());
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  const token = await new SignJWT({ sub: 'bench' })
    .setProtectedHeader({ alg: 'ES256' })
    .setExpirationTime('1h')
    .sign(privateKey);
  process.send?.({ url, token } satisfies Ready);
}
