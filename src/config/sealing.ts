import { listIn, type Variables } from './variables.js';

/** The transparency log: its keys, and how often it is sealed. This class is also the injection token. */
export abstract class SealSettings {
  /**
   * `<key id>:<base64 of 32 bytes>`, comma separated. The first key signs, and the others are earlier keys, whose checkpoints stay valid. An earlier
   * key may be given as its verifier key. With null, the first start makes a key in the data folder, and production warns.
   */
  abstract readonly signingKey: string | null;
  /** The longest time in seconds for which an event waits for its checkpoint. */
  abstract readonly interval: number;
}

const SIGNING = /^[\w.-]{1,32}:[A-Za-z0-9+/]{43}=$/;
const VERIFIER = /^[^\s+,:]+(?::\d+)?[^\s+,:]*\+[0-9a-f]{8}\+[A-Za-z0-9+/]{44}$/;

export function readSealing(env: Variables): SealSettings {
  const signingKey = env.text('SEAL_SIGNING_KEY');
  const [first = '', ...earlier] = listIn(signingKey);
  if (signingKey !== null && !(SIGNING.test(first) && earlier.every((key) => SIGNING.test(key) || VERIFIER.test(key))))
    env.fault(
      'SEAL_SIGNING_KEY',
      'must be a comma list of <key id>:<base64 of 32 bytes>, where earlier keys may be verifier keys',
    );
  return { signingKey, interval: env.number('SEAL_INTERVAL', 60, { min: 1, max: 3_600 }) };
}
