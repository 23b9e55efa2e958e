// The installation's master keys (VAULT_MASTER_KEY) and the keys derived from them. All code that encrypts uses this class.
import { createHmac, hkdfSync } from 'node:crypto';
import { VaultMisconfigured } from '../../ports/vault.js';

export const KEY_BYTES = 32;

/** VAULT_MASTER_KEY cannot be used. The message names the faulty part, never its content. */
export class InvalidMasterKeys extends Error {
  override readonly name = 'InvalidMasterKeys';
}

/** This process lacks a named master key. The cause may be a rotation that removed the key too early. */
export class UnknownMasterKey extends Error {
  override readonly name = 'UnknownMasterKey';

  constructor(keyId: string) {
    super(`The master key '${keyId}' is not among the configured ones.`);
  }
}

/** Stored data needs master keys that this process does not have. The message names their ids, never their content. */
export class MasterKeysMissing extends VaultMisconfigured {
  constructor(missing: readonly string[], different: readonly string[]) {
    const named = (ids: readonly string[]): string => ids.map((id) => `'${id}'`).join(', ');
    super(
      [
        ...(missing.length > 0 ? [`VAULT_MASTER_KEY lacks ${named(missing)}, under which stored data is sealed.`] : []),
        ...(different.length > 0
          ? [
              `VAULT_MASTER_KEY gives another key as ${named(different)} than the one under which stored data is sealed.`,
            ]
          : []),
      ].join(' '),
    );
  }
}

/**
 * Format: `<key id>:<base64 of 32 bytes>`, comma separated. The first key encrypts new data, and all keys decrypt old data. To rotate, put the new
 * key at the front and keep the old keys.
 *
 * A master key itself never encrypts data. Every use has a key of its own, which is derived with HKDF-SHA-256 under a label. The bytes are private
 * fields, so a log of this object shows nothing.
 */
export class MasterKeys {
  readonly currentId: string;
  readonly #keys: ReadonlyMap<string, Uint8Array>;
  readonly #derived = new Map<string, Buffer>();

  private constructor(keys: ReadonlyMap<string, Uint8Array>, currentId: string) {
    this.#keys = keys;
    this.currentId = currentId;
  }

  static parse(text: string): MasterKeys {
    const keys = new Map<string, Uint8Array>();
    const parts = text.split(',').map((part) => part.trim());
    for (const [index, part] of parts.entries()) {
      const colon = part.indexOf(':');
      const id = part.slice(0, Math.max(colon, 0));
      const encoded = part.slice(colon + 1);
      const bytes = Buffer.from(encoded, 'base64');
      const place = `Key ${index + 1} of ${parts.length}`;
      if (!/^[A-Za-z0-9_-]{1,32}$/.test(id))
        throw new InvalidMasterKeys(
          `${place} needs an id of 1 to 32 letters, digits, dashes or underscores before a colon.`,
        );
      // Node's decoder skips unknown characters, so a damaged key would become another key without an error.
      if (bytes.length !== KEY_BYTES || bytes.toString('base64') !== encoded)
        throw new InvalidMasterKeys(`${place} must be the base64 of exactly ${KEY_BYTES} bytes.`);
      if (keys.has(id)) throw new InvalidMasterKeys(`${place} repeats the id of an earlier one.`);
      keys.set(id, bytes);
    }
    const [currentId = ''] = keys.keys();
    return new MasterKeys(keys, currentId);
  }

  has(keyId: string): boolean {
    return this.#keys.has(keyId);
  }

  /** The key for one purpose, such as `sealed-payloads`. The same master key always gives the same key. */
  derive(purpose: string, keyId: string = this.currentId): Buffer {
    const label = `${keyId}/${purpose}`;
    const known = this.#derived.get(label);
    if (known !== undefined) return known;
    const master = this.#keys.get(keyId);
    if (master === undefined) throw new UnknownMasterKey(keyId);
    const key = Buffer.from(hkdfSync('sha256', master, Buffer.alloc(0), `vault-master-key/${purpose}`, KEY_BYTES));
    this.#derived.set(label, key);
    return key;
  }
}

/** Derives a key from a key that is already uniformly random: the expand step of HKDF-SHA-256 alone (RFC 5869, section 3.3). */
export function expandKey(key: Uint8Array, info: string): Buffer {
  return createHmac('sha256', key).update(info).update(Buffer.of(1)).digest();
}
