// A private redis-server for one test file, with append-only persistence in its own folder.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from './free-port.mjs';

export { freePort };

/** In milliseconds, a hundred years: Redis keeps the documents of events with any date for this time. */
export const KEPT_MS = 100 * 365 * 86_400_000;

export class RedisServer {
  private process: ChildProcess | null = null;
  private readonly clients: Redis[] = [];

  private constructor(
    readonly port: number,
    private readonly folder: string,
  ) {}

  /** A server that already runs. `stop` leaves this server running. */
  static at(port: number): RedisServer {
    return new RedisServer(port, '');
  }

  /** `prepare` puts files into the server's folder before the server reads them. */
  static async start(prepare: (folder: string) => Promise<void> = async () => undefined): Promise<RedisServer> {
    const server = new RedisServer(await freePort(), await mkdtemp(join(tmpdir(), 'redis-')));
    await prepare(server.folder);
    await server.startAgain();
    return server;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  get pid(): number | undefined {
    return this.process?.pid;
  }

  /** A connection that `stop` closes. Tests provoke connection errors and check how the code handles them. */
  client(): Redis {
    const client = new Redis(this.url, { retryStrategy: () => 50 });
    client.on('error', () => undefined);
    this.clients.push(client);
    return client;
  }

  /** Starts on the same port and folder. Resolves when the server answers. */
  async startAgain(): Promise<void> {
    const child = spawn(
      'redis-server',
      [
        '--port',
        String(this.port),
        '--bind',
        '127.0.0.1',
        '--dir',
        this.folder,
        '--appendonly',
        'yes',
        '--appendfsync',
        'everysec',
        '--save',
        '',
        '--loglevel',
        'warning',
      ],
      { stdio: 'ignore' },
    );
    this.process = child;
    process.once('exit', this.endWithUs);
    const exited = new Promise<never>((_, reject) =>
      child.once('exit', (code) => reject(new Error(`redis-server ended with ${code}`))),
    );
    exited.catch(() => undefined);
    await Promise.race([answering(this.port), exited]);
  }

  /** Kills the process like a crash or a power cut, so that the process cannot write anything more. */
  async kill9(): Promise<void> {
    await this.end('SIGKILL');
  }

  /** Stops answering until `resume`, without closing a connection. */
  freeze(): void {
    this.process?.kill('SIGSTOP');
  }

  resume(): void {
    this.process?.kill('SIGCONT');
  }

  /** Forgets all data. */
  async flush(): Promise<void> {
    await this.client().flushall();
  }

  /** Loses all data, including the files, and starts again empty. */
  async startAgainEmpty(): Promise<void> {
    await this.kill9();
    await rm(join(this.folder, 'appendonlydir'), { recursive: true, force: true });
    await this.startAgain();
  }

  async stop(): Promise<void> {
    for (const client of this.clients) client.disconnect();
    await this.end('SIGKILL');
    if (this.folder !== '') await rm(this.folder, { recursive: true, force: true });
  }

  /** Ends every server when a test run ends without `stop`. */
  private readonly endWithUs = (): void => {
    this.process?.kill('SIGKILL');
  };

  private async end(signal: NodeJS.Signals): Promise<void> {
    const child = this.process;
    this.process = null;
    process.off('exit', this.endWithUs);
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const exited = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await exited;
  }
}

/** Resolves when the port answers PING. Tries again as soon as a connection is refused. */
async function answering(port: number): Promise<void> {
  for (;;) {
    const answered = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'));
      socket.once('data', (data) => {
        socket.destroy();
        resolve(data.toString().startsWith('+PONG'));
      });
      socket.once('error', () => resolve(false));
    });
    if (answered) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
