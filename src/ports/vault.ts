import { Unavailable } from '../kernel/unavailable.js';

/** The subject's data key was destroyed on request; what was kept under it is gone for good. */
export class SubjectErased extends Error {
  override readonly name = 'SubjectErased';
}

/** What was opened is not what was sealed: another key, another place, or changed bytes. */
export class NotAuthentic extends Error {
  override readonly name: string = 'NotAuthentic';
}

/** A setting or a right is wrong, so that trying again later does not help. `message` names it for the operator, and no secret. */
export class VaultMisconfigured extends Unavailable {
  override readonly name: string = 'VaultMisconfigured';
}

/** What wrapping all keys anew came to. */
export interface Rewrapped {
  /** Under which everything is wrapped now. */
  readonly masterKeyId: string;
  /** Keys that another master key wrapped before; the others were found wrapped as they should be. */
  readonly rewrapped: number;
  /** Data keys and installation keys that were opened at the end. */
  readonly dataKeys: number;
  readonly installationKeys: number;
}

/** How a subject came into the vault, and what is kept of it now. */
export interface SubjectOrigin {
  /** ISO 8601 UTC; null where an earlier version made it. */
  readonly madeAt: string | null;
  /** The entry that its data key was made for; null where something was sealed first. */
  readonly madeFor: string | null;
  /** What the store calls the entries. */
  readonly entries: readonly string[];
}

/** Which subjects a vault has, for an audit. Also the injection token. */
export abstract class VaultSubjects {
  /** All of them, erased ones too, some at a time. */
  abstract subjectNames(): AsyncIterable<readonly string[]>;

  abstract originOf(subject: string): Promise<SubjectOrigin>;
}

/**
 * Keeps what must be kept of a person (vendor tokens, questions, later report bodies and contact data), encrypted with
 * AES-256-GCM under a random data key per subject that is itself wrapped by the master key. The additional
 * authenticated data binds a value to its subject, entry name and key version, so that stored values cannot be swapped.
 *
 * Subjects and entry names are ids, never personal data. A value is durable when `put` answers. Nothing is logged. Every method throws
 * Unavailable while the store cannot be reached.
 */
export abstract class Vault {
  /** Stores or replaces `entry` of `subject`, creating the subject's data key on first use. Throws SubjectErased. */
  abstract put(subject: string, entry: string, value: Uint8Array): Promise<void>;

  /** The value; null when nothing was ever put there. Throws SubjectErased, and NotAuthentic for what cannot be opened. */
  abstract get(subject: string, entry: string): Promise<Uint8Array | null>;

  /**
   * Seals what is to lie elsewhere (in Redis, whose files forget nothing) under the subject's data key, which is made on first use and durable
   * when this answers: once the subject is erased, it cannot be opened any more. `context` says where it lies. Throws SubjectErased.
   */
  abstract seal(subject: string, context: string, value: Uint8Array): Promise<Uint8Array>;

  /** Opens what `seal` gave for that subject and context. Throws SubjectErased, and NotAuthentic for anything else. */
  abstract open(subject: string, context: string, sealed: Uint8Array): Promise<Uint8Array>;

  /** Removes one entry; nothing happens when it is absent. */
  abstract remove(subject: string, entry: string): Promise<void>;

  /** Destroys the subject's data key and removes its values. Repeatable. Later puts and gets throw SubjectErased. */
  abstract erase(subject: string): Promise<void>;

  /**
   * A random 32-byte key of the installation for keyed hashes, made on first use, the same ever after (also across
   * rotations of the master key). `name` separates purposes.
   */
  abstract installationKey(name: string): Promise<Uint8Array>;

  /** Ids of the master keys that stored data needs: without one of them something could not be opened. */
  abstract masterKeyIds(): Promise<ReadonlySet<string>>;

  /**
   * Throws MasterKeysMissing when one of those was not given, or was given with other bytes, and VaultMisconfigured for a store that
   * keeps what is erased. For a start, which reads little and writes nothing.
   */
  abstract checkMasterKeys(): Promise<void>;

  /**
   * Wraps every key anew under the first master key, and opens each of them at the end, so that the other master keys are needed no
   * more. May run beside any use of the vault, in whatever process; what is erased meanwhile stays erased. A run that broke off is
   * repeated.
   */
  abstract rewrap(): Promise<Rewrapped>;

  /** Throws when the vault cannot be read now. Cheap. */
  abstract ping(): Promise<void>;
}
