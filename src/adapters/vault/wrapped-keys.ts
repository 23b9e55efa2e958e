// Keys as text, encrypted under the master keys, and the installation keys that every vault stores in this form.
import { NotAuthentic } from '../../ports/vault.js';
import { decrypt, encrypt, freshBytes } from './aead.js';
import { KEY_BYTES, type MasterKeys, MasterKeysMissing } from './master-keys.js';
import { checkedName } from './names.js';

/** The key is missing and its destruction was not recorded. The stored data was altered, or restored in part. */
export class DataKeyMissing extends NotAuthentic {
  override readonly name = 'DataKeyMissing';

  constructor(which: number | string) {
    super(`Data key ${which} is missing without a record of its destruction.`);
  }
}

/** `<master key id>:<base64>`. `where` is authenticated, so a wrapped key opens only under its own name. */
export function wrapKey(keys: MasterKeys, purpose: string, where: string, key: Uint8Array): string {
  return wrapped(keys.derive(purpose, keys.currentId), keys.currentId, where, key);
}

function wrapped(by: Buffer, keyId: string, where: string, key: Uint8Array): string {
  return `${keyId}:${encrypt(by, where, key).toString('base64')}`;
}

export function unwrapKey(keys: MasterKeys, purpose: string, where: string, wrapped: string): Buffer {
  const keyId = wrappingKeyId(wrapped);
  return decrypt(keys.derive(purpose, keyId), where, Buffer.from(wrapped.slice(keyId.length + 1), 'base64'));
}

/** The id of the master key that a text from `wrapKey` needs. */
export function wrappingKeyId(wrapped: string): string {
  return wrapped.slice(0, wrapped.indexOf(':'));
}

/**
 * A vault keeps a mark of every master key that may wrap a key in it. The mark is made before the first such key, and only this master key can open
 * it. A start can therefore tell whether it has the keys for the stored data.
 */
export function markOf(keys: MasterKeys, keyId: string = keys.currentId): string {
  return wrapped(keys.derive(MARKS, keyId), keyId, MARKS, Buffer.alloc(0));
}

/** `marks`: keyed by master key id. A process without the master key made an empty mark, which proves nothing. Throws MasterKeysMissing. */
export function checkMarks(keys: MasterKeys, marks: ReadonlyMap<string, string>): void {
  const missing = [...marks.keys()].filter((id) => !keys.has(id));
  const different = [...marks]
    .filter(([id, mark]) => keys.has(id) && mark !== '' && !opens(keys, mark))
    .map(([id]) => id);
  if (missing.length + different.length > 0) throw new MasterKeysMissing(missing, different);
}

function opens(keys: MasterKeys, mark: string): boolean {
  try {
    unwrapKey(keys, MARKS, MARKS, mark);
    return true;
  } catch (error) {
    if (error instanceof NotAuthentic) return false;
    throw error;
  }
}

const MARKS = 'vault-master-key-marks';
const PURPOSE = 'vault-installation-keys';

/** The stored installation key `wrapped`, converted to the form for the current master key. */
export function rewrappedInstallationKey(keys: MasterKeys, name: string, wrapped: string): string {
  return wrapKey(keys, PURPOSE, whereOf(name), unwrapKey(keys, PURPOSE, whereOf(name), wrapped));
}

/** Reads each installation key once in a process. */
export class InstallationKeys {
  private readonly known = new Map<string, Promise<Uint8Array>>();

  /** `stored` returns the stored text of a name. Without a stored text, it stores the result of `make`. The first process to store succeeds. */
  constructor(
    private readonly keys: MasterKeys,
    private readonly stored: (name: string, make: () => string) => Promise<string>,
  ) {}

  get(name: string): Promise<Uint8Array> {
    const known = this.known.get(name);
    if (known !== undefined) return known;
    const key = this.load(name);
    this.known.set(name, key);
    // A failure must not be cached.
    key.catch(() => this.known.delete(name));
    return key;
  }

  private async load(name: string): Promise<Uint8Array> {
    const where = whereOf(checkedName(name));
    const wrapped = await this.stored(name, () => wrapKey(this.keys, PURPOSE, where, freshBytes(KEY_BYTES)));
    return unwrapKey(this.keys, PURPOSE, where, wrapped);
  }
}

function whereOf(name: string): string {
  return `installation-key/${name}`;
}
