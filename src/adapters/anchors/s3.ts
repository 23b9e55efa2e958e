// Checkpoints in an S3 bucket with object lock.
import { Anchor } from '../../ports/anchors.js';
import { S3Bucket } from '../vault/s3-bucket.js';

const LIMIT_MS = 10_000;
const LISTED_AT_A_TIME = 1_000;

export interface S3AnchorOptions {
  readonly bucket: string;
  readonly region: string;
  readonly endpoint: string | null;
  readonly prefix: string;
}

export class S3Anchor extends Anchor {
  readonly name: string;
  private readonly bucket: S3Bucket;
  private readonly prefix: string;

  constructor({ prefix, ...where }: S3AnchorOptions) {
    super();
    this.name = `S3 bucket ${where.bucket}`;
    this.prefix = `${prefix}/`;
    this.bucket = new S3Bucket({ ...where, settings: 'SEAL_ANCHOR_S3', limitMs: LIMIT_MS });
  }

  override async add(name: string, content: Uint8Array): Promise<void> {
    await this.bucket.within((exchange) => exchange.create(`${this.prefix}${name}`, content));
  }

  override async *names(): AsyncGenerator<string> {
    let after: string | undefined;
    for (;;) {
      const keys = await this.bucket.within((exchange) => exchange.list(this.prefix, LISTED_AT_A_TIME, after));
      if (keys.length === 0) return;
      yield* keys.map((key) => key.slice(this.prefix.length));
      after = keys.at(-1);
    }
  }

  override read(name: string): Promise<Buffer | null> {
    return this.bucket.within((exchange) => exchange.get(`${this.prefix}${name}`));
  }

  override async weakness(): Promise<string | null> {
    return (await this.bucket.within((exchange) => exchange.hasObjectLock()))
      ? null
      : 'The bucket has no object lock with a default retention, so its objects can be replaced and removed.';
  }

  close(): Promise<void> {
    return this.bucket.close();
  }
}
