// The keys of the log: the one that signs, and all whose checkpoints are valid.
import { readCheckpoint, type Checkpoint } from './checkpoint.js';
import { openNote, SignerKey, VerifierKey } from './signed-note.js';

export class SealKeys {
  readonly signer: SignerKey;
  /** The keys under the present origin, the signing one first. */
  readonly verifiers: readonly VerifierKey[];

  /** `text`: as SEAL_SIGNING_KEY. The origin is the host of `publicUrl` and `/log`. */
  constructor(
    text: string,
    publicUrl: string,
    readonly origin = `${new URL(publicUrl).host}/log`,
  ) {
    const [own = '', ...earlier] = text.split(',').map((key) => key.trim());
    this.signer = new SignerKey(origin, secretIn(own));
    const others = earlier.map((key) => VerifierKey.parse(key) ?? new SignerKey(origin, secretIn(key)).verifier);
    this.verifiers = [this.signer.verifier, ...others];
  }

  /** Null if none of the keys signed the checkpoint. A key is valid for checkpoints of an earlier origin too, because PUBLIC_URL may change. */
  open(note: string): Checkpoint | null {
    const checkpoint = readCheckpoint(note);
    if (checkpoint === null) return null;
    const keys = this.verifiers.map(({ publicKey }) => new VerifierKey(checkpoint.origin, publicKey));
    return openNote(note, [...this.verifiers, ...keys]) === null ? null : checkpoint;
  }
}

/** `key`: `<key id>:<base64>`. */
function secretIn(key: string): Buffer {
  return Buffer.from(key.slice(key.indexOf(':') + 1), 'base64');
}
