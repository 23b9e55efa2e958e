// Asks witnesses to cosign checkpoints (C2SP tlog-witness, tlog-cosignature). A witness remembers the last tree of the log and refuses any tree that
// does not continue it.
import { hash } from 'node:crypto';
import { Agent, request } from 'undici';
import { limited } from '../kernel/with-timeout.js';
import { SealBroken } from './log-folder.js';
import { consistencyProof, type SubtreeHashes, type TreeHead } from './merkle-tree.js';
import { type NoteKey, openNote, VerifierKey } from './signed-note.js';

const COSIGNATURE_V1 = 4;
const TIME_BYTES = 8;
/** The limit of one whole call to a witness. A checkpoint waits for it. */
const LIMIT_MS = 5_000;
const MAX_ANSWER_BYTES = 64_000;

/** The key of a witness, whose signatures have the time of the signature. */
export class WitnessKey implements NoteKey {
  private constructor(private readonly key: VerifierKey) {}

  /** Null for a text that is not a verifier key of Ed25519 cosignatures. */
  static parse(text: string): WitnessKey | null {
    const key = VerifierKey.parse(text, COSIGNATURE_V1);
    return key && new WitnessKey(key);
  }

  get name(): string {
    return this.key.name;
  }

  get id(): Buffer {
    return this.key.id;
  }

  verifies(text: string, signature: Uint8Array): boolean {
    const bytes = Buffer.from(signature);
    if (bytes.length <= TIME_BYTES) return false;
    const message = `cosignature/v1\ntime ${bytes.readBigUInt64BE()}\n${text}`;
    return this.key.verifies(message, bytes.subarray(TIME_BYTES));
  }
}

/** The tree that a witness is to cosign. */
export interface Cosignable extends TreeHead {
  readonly note: string;
  readonly hashes: SubtreeHashes;
}

export class Witness {
  readonly name: string;
  private readonly key: WitnessKey;
  private readonly agent = new Agent({ maxResponseSize: MAX_ANSWER_BYTES });
  /** The size of the tree that the witness cosigned last, as far as this process knows. */
  private size: number | null = null;

  /** `key`: the verifier key. `url`: the submission prefix, which is also the monitoring prefix. */
  constructor(
    key: string,
    private readonly url: string,
  ) {
    const parsed = WitnessKey.parse(key);
    if (parsed === null) throw new TypeError('A witness needs a verifier key of Ed25519 cosignatures.');
    this.key = parsed;
    this.name = parsed.name;
  }

  /**
   * The lines of the cosignature; empty if the note has one already. `before`: the size that the witness probably knows. Throws SealBroken if the
   * witness knows another history of the log, and other errors if the witness gives no cosignature.
   */
  async cosign(tree: Cosignable, before: number): Promise<string> {
    const old = this.size ?? before;
    let answer = await this.add(tree, old);
    const known = answer.status === CONFLICT && SIZE.test(answer.text) ? Number(answer.text) : old;
    if (known > tree.size)
      throw new SealBroken(`The witness ${this.name} has cosigned ${known} events, but this log has ${tree.size}.`);
    if (known !== old) answer = await this.add(tree, known);
    if (answer.status === UNPROVED)
      throw new SealBroken(`The witness ${this.name} has cosigned another history of the first ${known} events.`);
    if (answer.status !== 200) throw new Error(`The witness ${this.name} answered with ${answer.status}.`);
    this.size = tree.size;
    return this.isCosigned(tree.note) ? '' : this.linesOf(answer.text, tree.note);
  }

  isCosigned(note: string): boolean {
    return openNote(note, [this.key]) !== null;
  }

  /** The last checkpoint of the log that the witness cosigned; null before the first. */
  async checkpoint(origin: string): Promise<string | null> {
    const { status, text } = await this.ask('GET', `${hash('sha256', origin)}/checkpoint`);
    if (status === 404) return null;
    if (status === 200 && this.isCosigned(text)) return text;
    throw new Error(`The witness ${this.name} answered with ${status}, and with no checkpoint that it cosigned.`);
  }

  private async add({ size, note, hashes }: Cosignable, old: number): Promise<Answer> {
    const proof = await consistencyProof(Math.min(old, size), size, hashes);
    const lines = proof.map((each) => `${each.toString('base64')}\n`).join('');
    return this.ask('POST', 'add-checkpoint', `old ${Math.min(old, size)}\n${lines}\n${note}`);
  }

  private linesOf(text: string, note: string): string {
    const lines = text.split('\n').filter((line) => line !== '' && this.isCosigned(`${note}${line}\n`));
    if (lines.length === 0) throw new Error(`The witness ${this.name} gave no cosignature of its key.`);
    return lines.map((line) => `${line}\n`).join('');
  }

  private ask(method: 'GET' | 'POST', path: string, body: string | null = null): Promise<Answer> {
    return limited(LIMIT_MS, [], async (signal) => {
      const { statusCode, body: answer } = await request(`${this.url}/${path}`, {
        method,
        body,
        signal,
        dispatcher: this.agent,
      });
      return { status: statusCode, text: await answer.text() };
    });
  }
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

const CONFLICT = 409;
const SIZE = /^\d{1,15}\n$/;
const UNPROVED = 422;
