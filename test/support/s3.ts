// An S3 server for one test file. The server is s3rver with additions that real S3 has, and with faults on demand.
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createRequire } from 'node:module';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import {
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  DeleteObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';

interface StoredObject {
  readonly bucket: string;
  readonly key: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly content: Readable;
}
interface Store {
  existsObject(bucket: string, key: string): Promise<boolean>;
  getObject(bucket: string, key: string): Promise<StoredObject | null>;
  putObject(object: StoredObject): Promise<{ readonly size: number; readonly md5: string }>;
  putMetadata(bucket: string, key: string, metadata: StoredObject['metadata'], md5: string): Promise<void>;
  getResourcePath(bucket: string, key: string, resource: 'object'): string;
}
/** The parts of Koa's context and of s3rver that are used here. */
interface Context {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly method: string;
  readonly store: Store;
  get(header: string): string;
  body: unknown;
  status: number;
  type: string;
  respond: boolean;
  length: number;
}
type Middleware = (context: Context, next: () => Promise<void>) => Promise<void>;
interface S3rver {
  readonly middleware: Middleware[];
  readonly httpServer: Server;
  readonly store: Store;
  readonly logger: { silent: boolean };
  run(): Promise<AddressInfo>;
}

export const BUCKET = 'vault-test';

/** The fault of a request. Undefined means that the request succeeds. */
export type Fault = 'hang' | 'unavailable' | 'reset' | 'truncated' | 'refused' | undefined;

/** The options of a vault that the server at this address stores. */
export function inTestServer(endpoint: string): { bucket: string; region: string; endpoint: string; prefix: string } {
  return { bucket: BUCKET, region: 'us-east-1', endpoint, prefix: 'vault' };
}

/**
 * The account that s3rver knows, in the variables that the SDK reads first. Child processes inherit these variables.
 */
export function useTestCredentials(): void {
  process.env['AWS_ACCESS_KEY_ID'] = 'S3RVER';
  process.env['AWS_SECRET_ACCESS_KEY'] = 'S3RVER';
  // Disables a notice about future versions that the SDK would print in every process.
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] = 'true';
}

/**
 * s3rver treats a conditional put as an ordinary put and shows half-written objects. It answers a put before the file is
 * written. The server fails when it lists an object or removes a folder during a write. The code in front of s3rver
 * therefore answers the requests of one subject one after another, and writes the files itself. It runs removals alone.
 * Then every request is atomic as in S3, and `If-None-Match: *` and `If-Match` have their effect.
 */
export class S3Server {
  /** Called for every request, such as `GET /vault-test/vault/subjects/...`. The request waits until this function has answered. */
  faultOf: (request: string) => Fault | Promise<Fault> = () => undefined;
  /** The answer of GetBucketVersioning. Null stands for a bucket that never had versioning. */
  versioning: 'Enabled' | 'Suspended' | null = null;
  /** Whether the bucket has object lock with a default retention. */
  objectLock = false;
  /** The code and the status of a refusal. */
  refusal: readonly [code: string, status: number] = ['AccessDenied', 403];
  /** If false, the server ignores the conditions of a put, as some servers do. */
  conditional = true;
  readonly requests: string[] = [];
  /** The last request in each subject's folder, and the last removal. */
  private readonly lastIn = new Map<string, Promise<unknown>>();
  private lastRemoval: Promise<unknown> = Promise.resolve();
  private port = 0;
  private ownClient: S3Client | null = null;

  private constructor(
    private readonly server: S3rver,
    private readonly directory: string,
  ) {}

  static async start(): Promise<S3Server> {
    useTestCredentials();
    const directory = mkdtempSync(join(tmpdir(), 's3-'));
    const S3rverClass = createRequire(import.meta.url)('s3rver') as new (options: object) => S3rver;
    const server = new S3rverClass({
      address: '127.0.0.1',
      port: 0,
      silent: true,
      directory,
      vhostBuckets: false,
      configureBuckets: [{ name: BUCKET }],
    });
    const started = new S3Server(server, directory);
    server.store.putObject = (object) => putWhole(server.store, object);
    server.middleware.unshift((context, next) => started.answer(context, next));
    server.logger.silent = true;
    started.port = (await server.run()).port;
    return started;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  private get client(): S3Client {
    return (this.ownClient ??= new S3Client({ region: 'us-east-1', endpoint: this.url, forcePathStyle: true }));
  }

  async keys(): Promise<string[]> {
    const { Contents = [] } = await this.client.send(new ListObjectsV2Command({ Bucket: BUCKET }));
    return Contents.map(({ Key = '' }) => Key);
  }

  async read(key: string): Promise<Buffer> {
    const { Body } = await this.client.send(new GetObjectCommand({ Bucket: BUCKET, Key: key }));
    return Buffer.from((await Body?.transformToByteArray()) ?? []);
  }

  async write(key: string, content: Uint8Array): Promise<void> {
    await this.client.send(new PutObjectCommand({ Bucket: BUCKET, Key: key, Body: content }));
  }

  async remove(key: string): Promise<void> {
    await this.client.send(new DeleteObjectCommand({ Bucket: BUCKET, Key: key }));
  }

  /** Stops listening and closes every connection. */
  async stopListening(): Promise<void> {
    const { httpServer } = this.server;
    const closed = new Promise((resolve) => httpServer.close(resolve));
    httpServer.closeAllConnections();
    await closed;
  }

  async listenAgain(): Promise<void> {
    await new Promise<void>((resolve) => this.server.httpServer.listen(this.port, '127.0.0.1', resolve));
  }

  async stop(): Promise<void> {
    this.ownClient?.destroy();
    if (this.server.httpServer.listening) await this.stopListening();
    rmSync(this.directory, { recursive: true, force: true });
  }

  private async answer(context: Context, next: () => Promise<void>): Promise<void> {
    const request = `${context.method} ${decodeURIComponent(context.path)}`;
    this.requests.push(request);
    const fault = await this.faultOf(request);
    if (fault === 'hang' || fault === 'reset') {
      context.respond = false;
      if (fault === 'reset') context.req.socket.destroy();
      return;
    }
    if (fault === 'unavailable') return refuse(context, 503, 'SlowDown');
    if (fault === 'refused') return refuse(context, this.refusal[1], this.refusal[0]);
    await this.inTurn(context, () => this.answerWhole(context, next));
    if (fault === 'truncated') await cutShort(context);
  }

  private inTurn({ method, path, query }: Context, work: () => Promise<void>): Promise<void> {
    const folder = `${decodeURIComponent(path).replace(/\/$/, '')}/${query['prefix'] ?? ''}`
      .split('/')
      .slice(0, 5)
      .join('/');
    const alone = method === 'DELETE';
    const before = alone ? [...this.lastIn.values()] : [this.lastIn.get(folder)];
    const turn = Promise.all([this.lastRemoval, ...before]).then(work);
    const over = turn.catch(() => undefined);
    if (alone) this.lastRemoval = over;
    else this.lastIn.set(folder, over);
    return turn;
  }

  private async answerWhole(context: Context, next: () => Promise<void>): Promise<void> {
    if ('versioning' in context.query) {
      context.status = 200;
      context.type = 'application/xml';
      context.body = `<VersioningConfiguration>${this.versioning === null ? '' : `<Status>${this.versioning}</Status>`}</VersioningConfiguration>`;
      return;
    }
    if ('object-lock' in context.query) {
      if (!this.objectLock) return refuse(context, 404, 'ObjectLockConfigurationNotFoundError');
      context.status = 200;
      context.type = 'application/xml';
      context.body =
        '<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule><DefaultRetention><Mode>COMPLIANCE</Mode><Days>30</Days></DefaultRetention></Rule></ObjectLockConfiguration>';
      return;
    }
    if (context.method === 'PUT' && context.get('if-none-match') === '*' && (await this.exists(context))) {
      context.req.resume();
      return refuse(context, 412, 'PreconditionFailed');
    }
    if (
      context.method === 'PUT' &&
      this.conditional &&
      context.get('if-match') !== '' &&
      context.get('if-match') !== (await this.tagOf(context))
    ) {
      context.req.resume();
      return refuse(context, 412, 'PreconditionFailed');
    }
    await next();
    if (isStream(context.body)) {
      const chunks: Buffer[] = [];
      for await (const chunk of context.body) chunks.push(chunk as Buffer);
      const { length } = context;
      context.body = Buffer.concat(chunks);
      context.length = length;
    }
  }

  private exists(context: Context): Promise<boolean> {
    const [, bucket = '', ...key] = decodeURIComponent(context.path).split('/');
    return context.store.existsObject(bucket, key.join('/'));
  }

  private async tagOf(context: Context): Promise<string | null> {
    const [, bucket = '', ...key] = decodeURIComponent(context.path).split('/');
    const object = await context.store.getObject(bucket, key.join('/'));
    object?.content.destroy();
    return object?.metadata['etag'] ?? null;
  }
}

/** Returns when a reader sees the whole object. */
async function putWhole(
  store: Store,
  { bucket, key, metadata, content }: StoredObject,
): Promise<{ readonly size: number; readonly md5: string }> {
  const whole = await buffer(content);
  const path = store.getResourcePath(bucket, key, 'object');
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, whole);
  const md5 = createHash('md5').update(whole).digest('hex');
  await store.putMetadata(bucket, key, metadata, md5);
  return { size: whole.length, md5 };
}

function isStream(body: unknown): body is Readable {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body;
}

function refuse(context: Context, status: number, code: string): void {
  context.status = status;
  context.type = 'application/xml';
  context.body = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>On purpose</Message></Error>`;
}

/** Promises the whole body, sends half of it and closes the connection. */
async function cutShort(context: Context): Promise<void> {
  const whole = Buffer.isBuffer(context.body) ? context.body : Buffer.from('nothing');
  context.respond = false;
  context.res.writeHead(200, { 'content-length': whole.length });
  await new Promise<unknown>((resolve) => context.res.write(whole.subarray(0, whole.length >> 1), resolve));
  context.req.socket.destroy();
}
