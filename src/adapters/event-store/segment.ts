// Events of the embedded log that are compressed together. Neighbouring events have similar fields and values, so a text of 800 characters takes
// about 100 bytes. The measurements and the choice of the method are in docs/adr/0021.
import { promisify } from 'node:util';
import { brotliCompress, brotliDecompressSync, constants } from 'node:zlib';
import { EventsUnreadable } from '../../ports/event-store.js';

const compress = promisify(brotliCompress);
/** Higher qualities take twice the time and save no space. */
const QUALITY = 4;
/** JSON has no such character outside its strings, and escapes it inside them. */
const SEPARATOR = '\n';
/** More bytes than a segment of the largest events can have. */
const MAX_BYTES = 32 * 2 ** 20;

export class SegmentUnreadable extends EventsUnreadable {
  constructor(
    first: number,
    readonly last: number,
    reason: string,
  ) {
    super(`The segment of positions ${first} to ${last} ${reason}`);
  }
}

/** Returns only data that was read back successfully, because the uncompressed copies are deleted afterwards. */
export async function packSegment(texts: readonly string[]): Promise<Buffer> {
  const joined = texts.join(SEPARATOR);
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: QUALITY,
    [constants.BROTLI_PARAM_SIZE_HINT]: joined.length,
  };
  const packed = await compress(joined, { params });
  if (unpacked(packed) !== joined) throw new Error('A compressed segment of the log does not give its events back.');
  return packed;
}

/** Throws SegmentUnreadable. */
export function textsOf(packed: Buffer, first: number, count: number): readonly string[] {
  const last = first + count - 1;
  let texts: readonly string[];
  try {
    texts = unpacked(packed).split(SEPARATOR);
  } catch {
    throw new SegmentUnreadable(first, last, 'cannot be decompressed');
  }
  if (texts.length !== count) throw new SegmentUnreadable(first, last, `has ${texts.length} events`);
  return texts;
}

function unpacked(packed: Buffer): string {
  return brotliDecompressSync(packed, { maxOutputLength: MAX_BYTES }).toString('utf8');
}
