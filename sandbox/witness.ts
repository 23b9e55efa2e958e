// A witness of transparency logs (C2SP tlog-witness), for trials and tests. The witness remembers the last checkpoint of each log, and cosigns only
// checkpoints that continue it. The key is published here, so the cosignatures prove nothing to others.
import { createHash, createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { SandboxPart } from '../src/vendor-kit/double/sandbox-part.js';

export const SANDBOX_WITNESS_NAME = 'sandbox.example/witness';
const PRIVATE_KEY = createPrivateKey({
  key: Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), sha256(SANDBOX_WITNESS_NAME)]),
  format: 'der',
  type: 'pkcs8',
});
const PUBLIC_KEY = Buffer.from(createPublicKey(PRIVATE_KEY).export({ format: 'jwk' }).x ?? '', 'base64url');
const KEY_ID = keyId(SANDBOX_WITNESS_NAME, Buffer.of(4, ...PUBLIC_KEY));
export const SANDBOX_WITNESS_KEY = `${SANDBOX_WITNESS_NAME}+${KEY_ID.toString('hex')}+${Buffer.of(4, ...PUBLIC_KEY).toString('base64')}`;

const MAX_PROOF_LINES = 63;
const EMPTY_ROOT = sha256('').toString('base64');
const SIZE = /^(0|[1-9]\d{0,14})$/;

interface Head {
  readonly size: number;
  /** In base64. */
  readonly root: string;
}

interface Seen extends Head {
  /** The checkpoint with the signature of the log and the cosignature. */
  readonly note: string;
}

export interface WitnessOptions {
  /** Where the witness remembers the logs. */
  readonly file: string;
  /** A policy of C2SP tlog-policy. The witness serves the logs whose keys are in it. */
  readonly policyFile: string;
  readonly now: () => number;
}

export class SandboxWitness implements SandboxPart {
  private readonly seen: Map<string, Seen>;

  constructor(private readonly options: WitnessOptions) {
    this.seen = new Map(Object.entries(JSON.parse(contentOf(options.file) ?? '{}') as Record<string, Seen>));
  }

  mount(server: FastifyInstance): void {
    server.register((scope, _options, done) => {
      scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, parsed) => parsed(null, body));
      scope.post<{ Body: string | undefined }>('/witness/add-checkpoint', (request, reply) => {
        const { status, type = 'text/plain', body } = this.add(request.body ?? '');
        return reply.code(status).type(type).send(body);
      });
      scope.get<{ Params: { hash: string } }>('/witness/:hash/checkpoint', ({ params }, reply) => {
        const found = [...this.seen].find(([origin]) => sha256(origin).toString('hex') === params.hash);
        return reply
          .code(found ? 200 : 404)
          .type('text/plain')
          .send(found?.[1].note ?? '');
      });
      done();
    });
  }

  close(): void {
    // Each answer is on the disk already.
  }

  /** Synchronous, so that no other request comes between the comparison and the change of the remembered checkpoint. */
  private add(body: string): Answer {
    const request = requestIn(body);
    if (request === null) return answer(400);
    const { old, size, root, proof, text, note, origin } = request;
    const keys = this.keysOf(origin);
    if (keys.length === 0) return answer(404);
    if (!isSigned(text, note, origin, keys)) return answer(403);
    if (old > size) return answer(400);
    const seen = this.seen.get(origin) ?? { size: 0, root: EMPTY_ROOT };
    if (old !== seen.size) return { status: 409, type: 'text/x.tlog.size', body: `${seen.size}\n` };
    if (!continues(seen, { size, root }, proof)) return answer(422);
    const line = this.cosignature(text);
    this.remember(origin, { size, root, note: `${note}${line}` });
    return { status: 200, body: line };
  }

  private keysOf(origin: string): Buffer[] {
    return (contentOf(this.options.policyFile) ?? '').split('\n').flatMap((policyLine) => {
      const [kind, key = ''] = policyLine.trim().split(/\s+/);
      const [, name, encoded = ''] = /^([^+]+)\+[0-9a-f]{8}\+(.+)$/.exec(key) ?? [];
      const typed = Buffer.from(encoded, 'base64');
      return kind === 'log' && name === origin && typed.length === 33 && typed[0] === 1 ? [typed.subarray(1)] : [];
    });
  }

  private cosignature(text: string): string {
    const time = Math.floor(this.options.now() / 1_000);
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64BE(BigInt(time));
    const signature = sign(null, Buffer.from(`cosignature/v1\ntime ${time}\n${text}`), PRIVATE_KEY);
    return `— ${SANDBOX_WITNESS_NAME} ${Buffer.concat([KEY_ID, bytes, signature]).toString('base64')}\n`;
  }

  private remember(origin: string, seen: Seen): void {
    this.seen.set(origin, seen);
    const { file } = this.options;
    mkdirSync(dirname(file), { recursive: true });
    const handle = openSync(`${file}.new`, 'w', 0o600);
    writeSync(handle, JSON.stringify(Object.fromEntries(this.seen)));
    fsyncSync(handle);
    closeSync(handle);
    renameSync(`${file}.new`, file);
  }
}

interface Answer {
  readonly status: number;
  readonly type?: string;
  readonly body: string;
}

interface AddCheckpoint extends Seen {
  readonly old: number;
  readonly proof: readonly Buffer[];
  readonly text: string;
  readonly origin: string;
}

/** Null for a body of another form. */
function requestIn(body: string): AddCheckpoint | null {
  const end = body.indexOf('\n\n');
  const [first = '', ...proofLines] = body.slice(0, end).split('\n');
  const note = body.slice(end + 2);
  const text = note.slice(0, note.lastIndexOf('\n\n') + 1);
  const [origin = '', size = '', root = ''] = text.split('\n');
  const old = first.replace(/^old /, '');
  const isRequest = end > 0 && old !== first && SIZE.test(old) && SIZE.test(size);
  if (!isRequest || proofLines.length > MAX_PROOF_LINES) return null;
  const proof = proofLines.map((line) => Buffer.from(line, 'base64'));
  return { old: Number(old), size: Number(size), root, proof, text, note, origin };
}

function answer(status: number): Answer {
  return { status, body: '' };
}

/** At least one trusted key signed, and no signature of a trusted key is wrong. */
function isSigned(text: string, note: string, origin: string, keys: readonly Buffer[]): boolean {
  let signed = false;
  for (const line of note.slice(text.length + 1).split('\n')) {
    const [, name, encoded = ''] = /^— ([^\s+]+) ([A-Za-z0-9+/]+=*)$/.exec(line) ?? [];
    const bytes = Buffer.from(encoded, 'base64');
    for (const key of keys) {
      if (name !== origin || !keyId(origin, Buffer.of(1, ...key)).equals(bytes.subarray(0, 4))) continue;
      const jwk = { kty: 'OKP', crv: 'Ed25519', x: key.toString('base64url') };
      if (!verify(null, Buffer.from(text), createPublicKey({ key: jwk, format: 'jwk' }), bytes.subarray(4)))
        return false;
      signed = true;
    }
  }
  return signed;
}

/** Whether the remembered tree is the beginning of the new one. */
function continues(first: Head, second: Head, proof: readonly Buffer[]): boolean {
  if (second.size === 0 && second.root !== EMPTY_ROOT) return false;
  if (first.size === second.size) return proof.length === 0 && first.root === second.root;
  if (first.size === 0) return proof.length === 0;
  const path = Number.isInteger(Math.log2(first.size)) ? [Buffer.from(first.root, 'base64'), ...proof] : [...proof];
  const roots = rootsOf(first.size, second.size, path);
  return roots?.[0].toString('base64') === first.root && roots[1].toString('base64') === second.root;
}

/** RFC 9162, section 2.1.4.2. */
function rootsOf(first: number, second: number, [start, ...path]: readonly Buffer[]): [Buffer, Buffer] | null {
  if (start === undefined) return null;
  let [fn, sn, fr, sr] = [first - 1, second - 1, start, start];
  const up = (): void => void ([fn, sn] = [Math.floor(fn / 2), Math.floor(sn / 2)]);
  while (fn % 2 === 1) up();
  for (const hash of path) {
    if (sn === 0) return null;
    if (fn % 2 === 1 || fn === sn) {
      [fr, sr] = [node(hash, fr), node(hash, sr)];
      while (fn % 2 === 0 && fn !== 0) up();
    } else sr = node(sr, hash);
    up();
  }
  return sn === 0 ? [fr, sr] : null;
}

function node(left: Buffer, right: Buffer): Buffer {
  return sha256(Buffer.concat([Buffer.of(1), left, right]));
}

function keyId(name: string, typed: Buffer): Buffer {
  return sha256(Buffer.concat([Buffer.from(`${name}\n`), typed])).subarray(0, 4);
}

function sha256(content: string | Buffer): Buffer {
  return createHash('sha256').update(content).digest();
}

function contentOf(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
