import { Unavailable } from '../kernel/unavailable.js';

/** The subject's data key was destroyed on request, so its values can never be decrypted again. */
export class SubjectErased extends Error {
  override readonly name = 'SubjectErased';
}

/** The value does not decrypt: another key, another name, or changed bytes. */
export class NotAuthentic extends Error {
  override readonly name: string = 'NotAuthentic';
}

/**
 * A setting or a permission is wrong, so a later try would fail too. `message` names the setting or permission for the operator, and contains no
 * secret.
 */
export class VaultMisconfigured extends Unavailable {
  override readonly name: string = 'VaultMisconfigured';
}

/** The result of wrapping all keys again. */
export interface Rewrapped {
  /** The master key that now wraps all keys. */
  readonly masterKeyId: string;
  /** The number of keys that another master key wrapped before. All other keys were already wrapped by the first master key. */
  readonly rewrapped: number;
  /** The number of data keys and installation keys that were decrypted at the end. */
  readonly dataKeys: number;
  readonly installationKeys: number;
}

/** The origin of a subject in the vault, and its present entries. */
export interface SubjectOrigin {
  /** ISO 8601 UTC; null if an earlier version made the subject. */
  readonly madeAt: string | null;
  /** The entry for which the subject's data key was made; null if a sealed value came first. */
  readonly madeFor: string | null;
  /** The store's names for the entries. */
  readonly entries: readonly string[];
}

/** The subjects of a vault, for an audit. This class is also the injection token. */
export abstract class VaultSubjects {
  /** All subjects, including erased ones, in batches. */
  abstract subjectNames(): AsyncIterable<readonly string[]>;

  abstract originOf(subject: string): Promise<SubjectOrigin>;
}

/**
 * Keeps a person's data (vendor tokens, questions, report bodies and contact data), encrypted with AES-256-GCM under a random data key for each
 * subject. The master key wraps the data keys. The additional authenticated data binds a value to its subject, entry name and key version, so stored
 * values cannot be swapped.
 *
 * Subjects and entry names are ids, never personal data. A value is durable when `put` returns. Nothing is logged. Every method throws Unavailable
 * while the store cannot be reached.
 */
export abstract class Vault {
  /** Stores or replaces `entry` of `subject`, and makes the subject's data key at the first use. Throws SubjectErased. */
  abstract put(subject: string, entry: string, value: Uint8Array): Promise<void>;

  /** The value; null if it was never stored. Throws SubjectErased, and NotAuthentic for a value that cannot be decrypted. */
  abstract get(subject: string, entry: string): Promise<Uint8Array | null>;

  /**
   * Encrypts a value under the subject's data key for storage elsewhere (in Redis, whose files keep deleted data). The key is made at the first use
   * and durable when this returns. When the subject is erased, the value cannot be decrypted any more. `context` names the location. Throws
   * SubjectErased.
   */
  abstract seal(subject: string, context: string, value: Uint8Array): Promise<Uint8Array>;

  /** Decrypts a value that `seal` returned for that subject and context. Throws SubjectErased, and NotAuthentic for any other value. */
  abstract open(subject: string, context: string, sealed: Uint8Array): Promise<Uint8Array>;

  /** Removes one entry. A missing entry is not an error. */
  abstract remove(subject: string, entry: string): Promise<void>;

  /** Destroys the subject's data key and removes its values. Safe to repeat. Later puts and gets throw SubjectErased. */
  abstract erase(subject: string): Promise<void>;

  /** A random 32-byte key for keyed hashes, made at the first use. A rotation of the master key does not change it. `name` separates purposes. */
  abstract installationKey(name: string): Promise<Uint8Array>;

  /** The ids of all master keys that are needed to decrypt stored data. */
  abstract masterKeyIds(): Promise<ReadonlySet<string>>;

  /**
   * Throws MasterKeysMissing when a master key was not given or has other bytes. Throws VaultMisconfigured for a store that keeps erased data. Meant
   * for the start of a process: it reads little and writes nothing.
   */
  abstract checkMasterKeys(): Promise<void>;

  /**
   * Wraps every key again under the first master key and decrypts each at the end. Afterwards the other master keys are not needed any more. Any
   * process may use the vault at the same time. Subjects that are erased in the meantime stay erased. An interrupted run can be repeated.
   */
  abstract rewrap(): Promise<Rewrapped>;

  /** Throws if the vault cannot be read now. This check costs little. */
  abstract ping(): Promise<void>;
}
