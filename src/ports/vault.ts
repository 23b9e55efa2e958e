import { Unavailable } from '../kernel/unavailable.js';

/** The subject's data key was destroyed on request, so its values can never be opened again. */
export class SubjectErased extends Error {
  override readonly name = 'SubjectErased';
}

/** The opened value is not the sealed one: another key, another place, or changed bytes. */
export class NotAuthentic extends Error {
  override readonly name: string = 'NotAuthentic';
}

/** A setting or a right is wrong, so a later try does not help. `message` names it for the operator, and no secret. */
export class VaultMisconfigured extends Unavailable {
  override readonly name: string = 'VaultMisconfigured';
}

/** The result of wrapping all keys again. */
export interface Rewrapped {
  /** The master key that wraps everything now. */
  readonly masterKeyId: string;
  /** The number of keys that another master key wrapped before. The others already had the right one. */
  readonly rewrapped: number;
  /** The number of data keys and installation keys that were opened at the end. */
  readonly dataKeys: number;
  readonly installationKeys: number;
}

/** The origin of a subject in the vault, and its present entries. */
export interface SubjectOrigin {
  /** ISO 8601 UTC; null where an earlier version made it. */
  readonly madeAt: string | null;
  /** The entry for which its data key was made; null when a sealed value came first. */
  readonly madeFor: string | null;
  /** The store's names for the entries. */
  readonly entries: readonly string[];
}

/** The subjects of a vault, for an audit. Also the injection token. */
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
 * Subjects and entry names are ids, never personal data. A value is durable when `put` answers. Nothing is logged. Every method throws Unavailable
 * while the store cannot be reached.
 */
export abstract class Vault {
  /** Stores or replaces `entry` of `subject`, creating the subject's data key on first use. Throws SubjectErased. */
  abstract put(subject: string, entry: string, value: Uint8Array): Promise<void>;

  /** The value; null when it was never put. Throws SubjectErased, and NotAuthentic for a value that cannot be opened. */
  abstract get(subject: string, entry: string): Promise<Uint8Array | null>;

  /**
   * Seals a value for storage elsewhere (in Redis, whose files keep deleted data) under the subject's data key. The key is made on first use and
   * durable when this answers. Once the subject is erased, the value cannot be opened any more. `context` names the place. Throws SubjectErased.
   */
  abstract seal(subject: string, context: string, value: Uint8Array): Promise<Uint8Array>;

  /** Opens a value that `seal` gave for that subject and context. Throws SubjectErased, and NotAuthentic for any other value. */
  abstract open(subject: string, context: string, sealed: Uint8Array): Promise<Uint8Array>;

  /** Removes one entry; nothing happens when it is absent. */
  abstract remove(subject: string, entry: string): Promise<void>;

  /** Destroys the subject's data key and removes its values. Repeatable. Later puts and gets throw SubjectErased. */
  abstract erase(subject: string): Promise<void>;

  /** A random 32-byte key for keyed hashes, made on first use. A rotation of the master key does not change it. `name` separates purposes. */
  abstract installationKey(name: string): Promise<Uint8Array>;

  /** The ids of all master keys that are needed to open stored data. */
  abstract masterKeyIds(): Promise<ReadonlySet<string>>;

  /**
   * Throws MasterKeysMissing when one of them was not given or has other bytes. Throws VaultMisconfigured for a store that keeps erased data. Meant
   * for the start of a process: it reads little and writes nothing.
   */
  abstract checkMasterKeys(): Promise<void>;

  /**
   * Wraps every key again under the first master key and opens each at the end. Then the other master keys are not needed any more. It may run beside
   * any use of the vault, in any process. Subjects erased meanwhile stay erased. A run that broke off can be repeated.
   */
  abstract rewrap(): Promise<Rewrapped>;

  /** Throws when the vault cannot be read now. Cheap. */
  abstract ping(): Promise<void>;
}
