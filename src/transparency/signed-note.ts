// Notes with Ed25519 signatures in the form of C2SP signed-note, and the keys that sign and verify them.
import { createPrivateKey, createPublicKey, hash, type KeyObject, sign, verify } from 'node:crypto';

const ED25519 = 1;
const KEY_BYTES = 32;
const ID_BYTES = 4;
/** The DER encoding of a PKCS #8 private key of Ed25519 (RFC 8410), before the 32 bytes of the key. */
const PRIVATE_KEY_BEGINNING = Buffer.from('302e020100300506032b657004220420', 'hex');
/** Another limit of the number of signatures would be a rule of its own. The size of a note limits it too. */
const MAX_NOTE_CHARACTERS = 100_000;

/** A key whose signatures a note may have. */
export interface NoteKey {
  readonly name: string;
  readonly id: Buffer;
  verifies(text: string, signature: Uint8Array): boolean;
}

export class VerifierKey implements NoteKey {
  readonly id: Buffer;
  private readonly key: KeyObject;

  constructor(
    readonly name: string,
    /** The 32 bytes of RFC 8032. */
    readonly publicKey: Buffer,
    /** The signature type, which is the first byte of the encoded key. */
    private readonly type = ED25519,
  ) {
    this.id = hash('sha256', Buffer.concat([Buffer.from(`${name}\n`), this.typed()]), 'buffer').subarray(0, ID_BYTES);
    const jwk = { kty: 'OKP', crv: 'Ed25519', x: publicKey.toString('base64url') };
    this.key = createPublicKey({ key: jwk, format: 'jwk' });
  }

  /** Null for a text that is not a verifier key of Ed25519 with this signature type, or that names another id than its own. */
  static parse(text: string, type = ED25519): VerifierKey | null {
    const [, name = '', encoded = ''] = /^([^\s+]+)\+[0-9a-f]{8}\+([A-Za-z0-9+/]{44})$/.exec(text) ?? [];
    const bytes = Buffer.from(encoded, 'base64');
    if (bytes.length !== 1 + KEY_BYTES || bytes[0] !== type) return null;
    const key = new VerifierKey(name, bytes.subarray(1), type);
    return key.text === text ? key : null;
  }

  /** The vkey. */
  get text(): string {
    return `${this.name}+${this.id.toString('hex')}+${this.typed().toString('base64')}`;
  }

  verifies(text: string, signature: Uint8Array): boolean {
    return verify(null, Buffer.from(text), this.key, signature);
  }

  private typed(): Buffer {
    return Buffer.concat([Buffer.of(this.type), this.publicKey]);
  }
}

export class SignerKey {
  readonly verifier: VerifierKey;
  readonly #key: KeyObject;

  /** `secret`: the 32 bytes of the private key. */
  constructor(name: string, secret: Uint8Array) {
    const key = Buffer.concat([PRIVATE_KEY_BEGINNING, secret]);
    this.#key = createPrivateKey({ key, format: 'der', type: 'pkcs8' });
    const { x = '' } = createPublicKey(this.#key).export({ format: 'jwk' });
    this.verifier = new VerifierKey(name, Buffer.from(x, 'base64url'));
  }

  /** `text` ends with a newline. */
  note(text: string): string {
    const signature = Buffer.concat([this.verifier.id, sign(null, Buffer.from(text), this.#key)]);
    return `${text}\n— ${this.verifier.name} ${signature.toString('base64')}\n`;
  }
}

/** The signed text. Null if no key signed the note, or if a signature of one of the keys is wrong. Signatures of other keys are ignored. */
export function openNote(note: string, keys: readonly NoteKey[]): string | null {
  const end = note.lastIndexOf('\n\n');
  if (end < 0 || note.length > MAX_NOTE_CHARACTERS || /[\x00-\x09\x0b-\x1f]/.test(note)) return null;
  const text = note.slice(0, end + 1);
  let signed = false;
  for (const line of note
    .slice(end + 2)
    .split('\n')
    .slice(0, -1)) {
    const [, name, encoded = ''] = /^— ([^\s+]+) ([A-Za-z0-9+/]+=*)$/.exec(line) ?? [];
    if (name === undefined) return null;
    const bytes = Buffer.from(encoded, 'base64');
    const key = keys.find((known) => known.name === name && known.id.equals(bytes.subarray(0, ID_BYTES)));
    if (key === undefined) continue;
    if (!key.verifies(text, bytes.subarray(ID_BYTES))) return null;
    signed = true;
  }
  return signed && note.endsWith('\n') ? text : null;
}
