// Time stamps of an authority (RFC 3161). The request is built here. An auditor verifies the answer with OpenSSL and the authority's certificate.
import { hash, randomBytes } from 'node:crypto';
import { Agent, request } from 'undici';
import { limited } from '../kernel/with-timeout.js';

const LIMIT_MS = 10_000;
const MAX_ANSWER_BYTES = 64_000;
/** TimeStampReq with version 1 and the message imprint's algorithm SHA-256, up to the 32 bytes of the digest. */
const BEGINNING = Buffer.from('3043020101' + '3031300d060960864801650304020105000420', 'hex');
/** An INTEGER of eight bytes. */
const NONCE = Buffer.from('0208', 'hex');
/** certReq: TRUE, so that the answer contains the certificate. */
const END = Buffer.from('0101ff', 'hex');
const GRANTED = new Set([0, 1]);

export class TimeStampAuthority {
  readonly name: string;
  private readonly agent = new Agent({ maxResponseSize: MAX_ANSWER_BYTES });

  constructor(private readonly url: string) {
    this.name = `time stamp authority ${new URL(url).host}`;
  }

  /** The TimeStampResp over the content. Throws if the authority grants none, or if the answer is for another content or request. */
  async stamp(content: string): Promise<Buffer> {
    const digest = hash('sha256', content, 'buffer');
    const nonce = randomBytes(8);
    // The first byte makes the number positive, and its encoding the shortest.
    nonce.writeUInt8(0x40 | (nonce.readUInt8() & 0x3f));
    const body = Buffer.concat([BEGINNING, digest, NONCE, nonce, END]);
    const answer = await limited(LIMIT_MS, [], async (signal) => {
      const { statusCode, body: stream } = await request(this.url, {
        method: 'POST',
        headers: { 'content-type': 'application/timestamp-query', accept: 'application/timestamp-reply' },
        body,
        signal,
        dispatcher: this.agent,
      });
      const bytes = Buffer.from(await stream.arrayBuffer());
      if (statusCode !== 200) throw new Error(`The ${this.name} answered with ${statusCode}.`);
      return bytes;
    });
    if (!GRANTED.has(statusOf(answer) ?? -1)) throw new Error(`The ${this.name} granted no time stamp.`);
    if (!isStampOf(answer, digest) || !answer.includes(Buffer.concat([NONCE, nonce])))
      throw new Error(`The ${this.name} gave a time stamp of another request.`);
    return answer;
  }
}

/** Whether the time stamp has this digest as its message imprint. Its signature is not verified. */
export function isStampOf(answer: Buffer, digest: Buffer): boolean {
  return answer.includes(Buffer.concat([BEGINNING.subarray(-19), digest]));
}

/** The PKIStatus: the first INTEGER of the first SEQUENCE in the outer SEQUENCE. Null for another encoding. */
function statusOf(answer: Buffer): number | null {
  const outer = contentStart(answer, 0, 0x30);
  const info = outer === null ? null : contentStart(answer, outer, 0x30);
  const status = info === null ? null : contentStart(answer, info, 0x02);
  return status === null ? null : (answer[status] ?? null);
}

/** The place of the content of the DER element at `place`; null if the element has another tag. */
function contentStart(bytes: Buffer, place: number, tag: number): number | null {
  const length = bytes[place + 1] ?? 0;
  return bytes[place] === tag ? place + 2 + (length < 0x80 ? 0 : length & 0x7f) : null;
}
