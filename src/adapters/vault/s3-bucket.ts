// One S3 bucket. The class stores whole small objects, has one time limit for a section of exchanges, and distinguishes outages from
// refusals.
import { setMaxListeners } from 'node:events';
import { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetBucketVersioningCommand,
  GetObjectCommand,
  GetObjectLockConfigurationCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type PutObjectCommandInput,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { Unavailable } from '../../kernel/unavailable.js';
import { limited, within } from '../../kernel/with-timeout.js';
import { VaultMisconfigured } from '../../ports/vault.js';

export interface S3BucketOptions {
  readonly bucket: string;
  readonly region: string;
  /** With null, the address that AWS gives the region. With an address, the path names the bucket, as most other servers require. */
  readonly endpoint: string | null;
  /** The beginning of the names of the settings, such as VAULT_S3. */
  readonly settings: string;
  /** The limit of one whole section in milliseconds: waiting for a connection, credentials, tries, headers and bodies. */
  readonly limitMs: number;
}

const CONNECTIONS = 64;
/** The number of tries of one exchange, and of an interrupted body. The SDK waits 50 to some hundred milliseconds between them. */
const TRIES = 3;
/** The part of the limit for one try that hangs, so that another try is possible. */
const PART_OF_LIMIT = 0.4;

/** The setting to check when S3 refuses, by S3's error code. The names of the bucket's own settings begin with S3_ here. Any other code comes from a server that is not S3, or from the wrong server. */
const VARIABLE_OF: Readonly<Record<string, string>> = {
  NoSuchBucket: 'S3_BUCKET',
  InvalidBucketName: 'S3_BUCKET',
  AuthorizationHeaderMalformed: 'S3_REGION',
  IllegalLocationConstraintException: 'S3_REGION',
  PermanentRedirect: 'S3_REGION',
  InvalidAccessKeyId: 'AWS_ACCESS_KEY_ID',
  SignatureDoesNotMatch: 'AWS_SECRET_ACCESS_KEY',
  ExpiredToken: 'AWS_SESSION_TOKEN',
  InvalidToken: 'AWS_SESSION_TOKEN',
  AccessDenied: 'S3_BUCKET and the rights of AWS_ACCESS_KEY_ID',
  RequestTimeTooSkewed: 'the clock of this machine',
};

const SILENT = { trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing };

/** Takes credentials from the sources that the SDK uses: environment, files, container, machine. Logs nothing. */
export class S3Bucket {
  private readonly client: S3Client;
  private readonly running = new Set<Promise<unknown>>();
  private closed = false;

  constructor(private readonly options: S3BucketOptions) {
    const partMs = Math.ceil(options.limitMs * PART_OF_LIMIT);
    this.client = new S3Client({
      region: options.region,
      ...(options.endpoint === null ? {} : { endpoint: options.endpoint, forcePathStyle: true }),
      maxAttempts: TRIES,
      logger: SILENT,
      requestHandler: {
        connectionTimeout: partMs,
        requestTimeout: partMs,
        throwOnRequestTimeout: true,
        httpAgent: { keepAlive: true, maxSockets: CONNECTIONS },
        httpsAgent: { keepAlive: true, maxSockets: CONNECTIONS },
        logger: SILENT,
      },
    });
  }

  /** Runs a section of exchanges. Throws Unavailable if it exceeds the limit. Exchanges that were already sent may still have their effect. */
  async within<Result>(section: (exchange: S3Exchange) => Promise<Result>): Promise<Result> {
    if (this.closed) throw new Error('The vault is closed.');
    const { limitMs } = this.options;
    const work = limited(limitMs, undefined, (limit) => {
      // Each running exchange has one listener.
      setMaxListeners(0, limit);
      // The limit also ends work that the SDK itself does not interrupt, such as a lookup of credentials.
      return within(limit, section(new S3Exchange(this.client, this.options, limit)), () => {
        throw new Unavailable(`S3 took longer than ${limitMs} ms.`);
      });
    });
    this.running.add(work);
    return work.finally(() => this.running.delete(work));
  }

  /** Waits for running sections. New sections fail. */
  async close(): Promise<void> {
    this.closed = true;
    await Promise.allSettled(this.running);
    this.client.destroy();
  }
}

/** The exchanges of one section. Throws Unavailable for an outage and VaultMisconfigured for a refusal. An absence is a value. */
export class S3Exchange {
  private readonly options: { readonly abortSignal: AbortSignal };
  private readonly bucket: string;
  private readonly settings: string;

  constructor(
    private readonly client: S3Client,
    place: S3BucketOptions,
    private readonly signal: AbortSignal,
  ) {
    this.options = { abortSignal: signal };
    this.bucket = place.bucket;
    this.settings = place.settings;
  }

  /** Null if no such object exists. An object that was interrupted is requested again. */
  async get(key: string): Promise<Buffer | null> {
    return (await this.getTagged(key))?.content ?? null;
  }

  /** The object and the tag that `replace` needs. */
  async getTagged(key: string): Promise<{ readonly content: Buffer; readonly tag: string } | null> {
    const command = new GetObjectCommand({ Bucket: this.bucket, Key: key });
    for (let attempt = 1; ; attempt++) {
      const output = await this.ask('GetObject', () => this.client.send(command, this.options), 'NoSuchKey');
      if (output === null) return null;
      try {
        return { content: await this.whole(output.Body, output.ContentLength), tag: output.ETag ?? '' };
      } catch (cause) {
        if (attempt === TRIES || this.signal.aborted)
          throw new Unavailable('S3 did not send a whole object.', { cause });
      }
    }
  }

  /** Durable when it returns. Replaces an earlier object. */
  async put(key: string, content: Uint8Array): Promise<void> {
    await this.putIf({}, key, content);
  }

  /**
   * Like `put`, but false if the object already exists, even from an earlier try whose answer was lost. Also false if two calls make the object
   * at once and S3 accepts neither. After false, the caller must read the object and try again.
   */
  create(key: string, content: Uint8Array): Promise<boolean> {
    return this.putIf({ IfNoneMatch: '*' }, key, content, 'PreconditionFailed', 'ConditionalRequestConflict');
  }

  /** Like `put`, but false if the object no longer has that tag, even if an earlier try replaced it and its answer was lost. */
  replace(key: string, tag: string, content: Uint8Array): Promise<boolean> {
    const answers = ['PreconditionFailed', 'ConditionalRequestConflict', 'NoSuchKey'];
    return this.putIf({ IfMatch: tag }, key, content, ...answers);
  }

  /** Changes nothing if no such object exists. */
  async remove(key: string): Promise<void> {
    const command = new DeleteObjectCommand({ Bucket: this.bucket, Key: key });
    await this.ask('DeleteObject', () => this.client.send(command, this.options), 'NoSuchKey');
  }

  /** At most `atMost` keys with this prefix, in order, after the given key. The list is empty only at the end. */
  async list(prefix: string, atMost: number, after?: string): Promise<string[]> {
    const from = { Bucket: this.bucket, Prefix: prefix, MaxKeys: atMost };
    const command = new ListObjectsV2Command({ ...from, ...(after !== undefined && { StartAfter: after }) });
    const output = await this.ask('ListObjectsV2', () => this.client.send(command, this.options));
    return (output?.Contents ?? []).flatMap(({ Key }) => (Key === undefined ? [] : [Key]));
  }

  /** Whether the bucket keeps, or has ever kept, overwritten versions of objects. Servers without versions report this too. */
  async keepsVersions(): Promise<boolean> {
    const command = new GetBucketVersioningCommand({ Bucket: this.bucket });
    const output = await this.ask(
      'GetBucketVersioning',
      () => this.client.send(command, this.options),
      'NotImplemented',
    );
    return output?.Status !== undefined;
  }

  /** Whether objects of the bucket can be protected against changes for a time. */
  async hasObjectLock(): Promise<boolean> {
    const command = new GetObjectLockConfigurationCommand({ Bucket: this.bucket });
    const output = await this.ask(
      'GetObjectLockConfiguration',
      () => this.client.send(command, this.options),
      'ObjectLockConfigurationNotFoundError',
      'NotImplemented',
    );
    return output?.ObjectLockConfiguration?.Rule?.DefaultRetention !== undefined;
  }

  /** False when S3 refused with one of the given codes. */
  private async putIf(
    condition: Pick<PutObjectCommandInput, 'IfMatch' | 'IfNoneMatch'>,
    key: string,
    content: Uint8Array,
    ...answers: readonly string[]
  ): Promise<boolean> {
    const command = new PutObjectCommand({ Bucket: this.bucket, Key: key, Body: content, ...condition });
    return (await this.ask('PutObject', () => this.client.send(command, this.options), ...answers)) !== null;
  }

  /** Null when S3 refused with one of the given codes, which count as an answer. */
  private async ask<Output>(
    operation: string,
    send: () => Promise<Output>,
    ...answers: readonly string[]
  ): Promise<Output | null> {
    try {
      return await send();
    } catch (cause) {
      // When a deserializer fails, the answer is not from S3.
      const { name, code = name, $metadata } = cause as Partial<S3ServiceException> & { readonly code?: string };
      const status = $metadata?.httpStatusCode;
      if (cause instanceof S3ServiceException && answers.includes(cause.name)) return null;
      if (status !== undefined && status < 500 && status !== 408 && status !== 429)
        throw new VaultMisconfigured(
          `S3 refused ${operation} with ${name} (${status}); look at ${this.settingFor(name)}.`,
        );
      if (name === 'CredentialsProviderError')
        throw new VaultMisconfigured(
          'S3 needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY: no credentials were found.',
        );
      if (cause instanceof TypeError) throw cause;
      if (status !== undefined) throw new Unavailable(`S3 answered ${operation} with ${status}.`, { cause });
      throw new Unavailable(`S3 cannot be reached (${code}); look at ${this.settings}_ENDPOINT.`, { cause });
    }
  }

  private settingFor(code: string | undefined): string {
    return (VARIABLE_OF[code ?? ''] ?? 'S3_ENDPOINT').replace(/^S3/, this.settings);
  }

  private async whole(body: unknown, length: number | undefined): Promise<Buffer> {
    if (!(body instanceof Readable)) throw new TypeError('S3 gave an object without a body.');
    const stop = (): unknown => body.destroy(new Error('The time is over.'));
    this.signal.addEventListener('abort', stop);
    try {
      const chunks: Buffer[] = [];
      for await (const chunk of body) chunks.push(chunk as Buffer);
      const content = Buffer.concat(chunks);
      if (length !== undefined && content.length !== length) throw new Error('The object is cut short.');
      return content;
    } finally {
      this.signal.removeEventListener('abort', stop);
    }
  }
}

function nothing(): void {
  // The vault logs nothing.
}
