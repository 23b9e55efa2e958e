// Keys as text, encrypted under the master keys, and the keys of the installation that every vault keeps this way.
import { decrypt, encrypt, freshBytes } from './aead.js';
import { KEY_BYTES, type MasterKeys } from './master-keys.js';
import { checkedName } from './names.js';

/** Nothing says that the key was destroyed, and it is not there: what is stored was tampered with, or restored in part. */
export class DataKeyMissing extends Error {
  override readonly name = 'DataKeyMissing';

  constructor(which: number | string) {
    super(`Data key ${which} is missing although nothing says that it was destroyed.`);
  }
}

/** `<master key id>:<base64>`. `where` is authenticated, so that a wrapped key opens in its own place only. */
export function wrapKey(keys: MasterKeys, purpose: string, where: string, key: Uint8Array): string {
  const keyId = keys.currentId;
  return `${keyId}:${encrypt(keys.derive(purpose, keyId), where, key).toString('base64')}`;
}

export function unwrapKey(keys: MasterKeys, purpose: string, where: string, wrapped: string): Buffer {
  const colon = wrapped.indexOf(':');
  return decrypt(keys.derive(purpose, wrapped.slice(0, colon)), where, Buffer.from(wrapped.slice(colon + 1), 'base64'));
}

const PURPOSE = 'vault-installation-keys';

/** Reads each installation key once a process. */
export class InstallationKeys {
  private readonly known = new Map<string, Promise<Uint8Array>>();

  /** `stored` answers the text that is stored under a name, after storing what `make` gives when there was none; the first to store wins. */
  constructor(
    private readonly keys: MasterKeys,
    private readonly stored: (name: string, make: () => string) => Promise<string>,
  ) {}

  get(name: string): Promise<Uint8Array> {
    const known = this.known.get(name);
    if (known !== undefined) return known;
    const key = this.load(name);
    this.known.set(name, key);
    // A failure is not the answer for ever.
    key.catch(() => this.known.delete(name));
    return key;
  }

  private async load(name: string): Promise<Uint8Array> {
    const where = `installation-key/${checkedName(name)}`;
    const wrapped = await this.stored(name, () => wrapKey(this.keys, PURPOSE, where, freshBytes(KEY_BYTES)));
    return unwrapKey(this.keys, PURPOSE, where, wrapped);
  }
}
