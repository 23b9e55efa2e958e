import { hash } from 'node:crypto';
import { isAbsolute } from 'node:path';
import { listIn, type Variables } from './variables.js';
import { type BucketPlace, readBucket } from './vault.js';
import { urlIn } from '../kernel/url.js';

export interface WitnessPlace {
  readonly name: string;
  /** The verifier key, whose name is `name`. */
  readonly key: string;
  /** The submission prefix without a trailing slash. */
  readonly url: string;
}

/** The transparency log: its keys, and how often it is sealed. This class is also the injection token. */
export abstract class SealSettings {
  /**
   * `<key id>:<base64 of 32 bytes>`, comma separated. The first key signs, and the others are earlier keys, whose checkpoints stay valid. An earlier
   * key may be given as its verifier key. With null, the first start makes a key in the data folder, and production warns.
   */
  abstract readonly signingKey: string | null;
  /** The longest time in seconds for which an event waits for its checkpoint. */
  abstract readonly interval: number;
  /** The witnesses that are asked to cosign each checkpoint. */
  abstract readonly witnesses: readonly WitnessPlace[];
  /** The number of witnesses whose cosignatures a verifier needs. The policy of the log says so. */
  abstract readonly witnessQuorum: number;
  /** A folder to which checkpoints are added; null without one. */
  abstract readonly anchorFolder: string | null;
  /** A bucket to which checkpoints are added; null without one. */
  abstract readonly anchorBucket: BucketPlace | null;
  /** The address of an RFC 3161 time stamp authority; null without one. */
  abstract readonly timeStampUrl: string | null;
  /** The shortest time in seconds between two time stamps. */
  abstract readonly timeStampInterval: number;
}

const SIGNING = /^[\w.-]{1,32}:[A-Za-z0-9+/]{43}=$/;
const VERIFIER = /^[^\s+,:]+(?::\d+)?[^\s+,:]*\+[0-9a-f]{8}\+[A-Za-z0-9+/]{44}$/;

const S3_NAMES = {
  bucket: 'SEAL_ANCHOR_S3_BUCKET',
  region: 'SEAL_ANCHOR_S3_REGION',
  endpoint: 'SEAL_ANCHOR_S3_ENDPOINT',
  prefix: 'SEAL_ANCHOR_S3_PREFIX',
};

export function readSealing(env: Variables): SealSettings {
  const signingKey = env.text('SEAL_SIGNING_KEY');
  const [first = '', ...earlier] = listIn(signingKey);
  if (signingKey !== null && !(SIGNING.test(first) && earlier.every((key) => SIGNING.test(key) || VERIFIER.test(key))))
    env.fault(
      'SEAL_SIGNING_KEY',
      'must be a comma list of <key id>:<base64 of 32 bytes>, where earlier keys may be verifier keys',
    );
  const witnesses = readWitnesses(env);
  return {
    signingKey,
    interval: env.number('SEAL_INTERVAL', 60, { min: 1, max: 3_600 }),
    witnesses,
    witnessQuorum: env.number('SEAL_WITNESS_QUORUM', Math.min(1, witnesses.length), { max: witnesses.length }),
    anchorFolder: readFolder(env),
    anchorBucket:
      env.text(S3_NAMES.bucket) === null
        ? null
        : readBucket(env, S3_NAMES, 'checkpoints', 'when SEAL_ANCHOR_S3_BUCKET is set'),
    timeStampUrl: env.url('SEAL_TIMESTAMP_URL', null),
    timeStampInterval: env.number('SEAL_TIMESTAMP_INTERVAL', 3_600, { min: 1 }),
  };
}

function readFolder(env: Variables): string | null {
  const folder = env.text('SEAL_ANCHOR_DIRECTORY');
  if (folder !== null && !isAbsolute(folder)) env.fault('SEAL_ANCHOR_DIRECTORY', 'must be an absolute path');
  return folder;
}

/** SEAL_WITNESSES: `<verifier key> <url>`, comma separated. */
function readWitnesses(env: Variables): WitnessPlace[] {
  const name = 'SEAL_WITNESSES';
  const witnesses = env.list(name).map((text) => {
    const [key = '', url = '', ...rest] = text.split(/\s+/);
    const { protocol = '', hostname = '' } = urlIn(url) ?? {};
    if (!isWitnessKey(key) || !/^https?:$/.test(protocol) || rest.length > 0)
      env.fault(
        name,
        'must be a comma list of <verifier key> <url>, where the key is of Ed25519 cosignatures (type 0x04)',
      );
    else if (protocol === 'http:') env.refusePlaintext(name, hostname);
    return { name: key.split('+')[0] ?? '', key, url: url.replace(/\/+$/, '') };
  });
  for (const part of [({ name: own }: WitnessPlace) => own, ({ key }: WitnessPlace) => key.split('+')[2]])
    if (new Set(witnesses.map(part)).size < witnesses.length)
      env.fault(name, 'must not have two witnesses with one name or one key');
  return witnesses;
}

/** `<name>+<id>+<base64 of type and key>`. The id shows a key that was copied wrongly. */
function isWitnessKey(text: string): boolean {
  const [, name = '', id, encoded = ''] = /^([^\s+,]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]{44})$/.exec(text) ?? [];
  const typed = Buffer.from(encoded, 'base64');
  return typed[0] === 4 && hash('sha256', Buffer.concat([Buffer.from(`${name}\n`), typed])).slice(0, 8) === id;
}

/** For the start of the service. */
export function placesOutside({ witnesses, anchorFolder, anchorBucket, timeStampUrl }: SealSettings): string[] {
  return [
    ...witnesses.map(({ name }) => `witness ${name}`),
    ...(anchorFolder === null ? [] : [`directory ${anchorFolder}`]),
    ...(anchorBucket === null ? [] : [`S3 bucket ${anchorBucket.bucket}`]),
    ...(timeStampUrl === null ? [] : [`time stamp authority ${new URL(timeStampUrl).host}`]),
  ];
}
