import { join, resolve } from 'node:path';
import type { DataFolderSettings } from './data-folder.js';
import { FILE_BYTES } from './event-store.js';
import { listIn, type Variables } from './variables.js';

export interface BucketPlace {
  readonly bucket: string;
  readonly region: string;
  /** With null, the address that AWS gives the region. */
  readonly endpoint: string | null;
  /** The beginning of every key. */
  readonly prefix: string;
}

/** The location of personal data, and the keys that encrypt it. This class is also the injection token. */
export abstract class VaultSettings {
  /** On disk, the vault is in the data folder, and its values grow to `maxBytes`. The AWS SDK finds the credentials for S3 in its usual places. */
  abstract readonly place:
    { readonly kind: 'disk'; readonly maxBytes: number } | ({ readonly kind: 's3' } & BucketPlace);
  /**
   * `<key id>:<base64 of 32 bytes>`, comma separated. The first key encrypts new data keys. With null, the service makes a development key in the
   * data folder.
   */
  abstract readonly masterKey: string | null;
  /**
   * The file that names the erased subjects of the vault. The file is kept separately from backups, so that a restored older vault learns of the
   * erasures.
   */
  abstract readonly erasureLedger: string;
}

const S3_NAMES = {
  bucket: 'VAULT_S3_BUCKET',
  region: 'VAULT_S3_REGION',
  endpoint: 'VAULT_S3_ENDPOINT',
  prefix: 'VAULT_S3_PREFIX',
};

export function readVault(env: Variables, folder: DataFolderSettings): VaultSettings {
  return {
    place: readPlace(env),
    masterKey: readMasterKey(env),
    erasureLedger: resolve(env.text('ERASURE_LEDGER') ?? join(folder.path, 'erasures.jsonl')),
  };
}

function readPlace(env: Variables): VaultSettings['place'] {
  const kind = env.oneOf('VAULT', ['disk', 's3'], 'disk');
  if (kind !== 's3') return { kind, maxBytes: env.number('VAULT_MAX_BYTES', 64 * 2 ** 30, FILE_BYTES) };
  return { kind, ...readBucket(env, S3_NAMES, 'vault', 'when VAULT is s3') };
}

/** `names`: the variables of the parts. */
export function readBucket(
  env: Variables,
  names: Readonly<Record<keyof BucketPlace, string>>,
  defaultPrefix: string,
  when: string,
): BucketPlace {
  const name = (variable: string, fallback: string | null, form: RegExp, rule: string): string => {
    const value = env.text(variable) ?? fallback;
    if (value === null || !form.test(value)) env.fault(variable, `must be ${rule} ${when}`);
    return value ?? '';
  };
  return {
    bucket: name(names.bucket, null, /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'the name of a bucket'),
    region: name(names.region, null, /^[a-z0-9-]{1,40}$/, 'the name of a region, such as us-east-1'),
    endpoint: env.storeUrl(names.endpoint),
    prefix: name(
      names.prefix,
      defaultPrefix,
      /^(?=.{1,200}$)[A-Za-z0-9_-]+(\/[A-Za-z0-9_-]+)*$/,
      'at most 200 letters, digits, dashes and underscores, with slashes between them,',
    ),
  };
}

function readMasterKey(env: Variables): string | null {
  const value = env.inProduction('VAULT_MASTER_KEY', env.text('VAULT_MASTER_KEY'));
  const keys = listIn(value);
  if (value !== null && !keys.every((key) => /^[\w.-]{1,32}:[A-Za-z0-9+/]{43}=$/.test(key)))
    env.fault('VAULT_MASTER_KEY', 'must be a comma list of <key id>:<base64 of 32 bytes>');
  else if (new Set(keys.map((key) => key.split(':')[0])).size < keys.length)
    env.fault('VAULT_MASTER_KEY', 'must give each key its own id');
  else if (env.production && keys.some(isNotRandom))
    env.fault('VAULT_MASTER_KEY', 'must hold random keys, not text, a count or a repeated byte');
  return value;
}

/** Whether the bytes are printable text, or increase or decrease by a constant step. `key`: `<key id>:<base64>`. */
function isNotRandom(key: string): boolean {
  const bytes = [...Buffer.from(key.slice(key.indexOf(':') + 1), 'base64')];
  const steps = new Set(bytes.slice(1).map((byte, index) => (byte - (bytes[index] ?? 0) + 256) % 256));
  return steps.size === 1 || bytes.every((byte) => byte >= 0x20 && byte < 0x7f);
}
