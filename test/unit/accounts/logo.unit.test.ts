import { describe, expect, it } from '@jest/globals';
import { crc32, deflateSync, inflateSync } from 'node:zlib';
import { reencodedLogo, withLogoWrittenAgain } from '../../../src/modules/accounts/application/logo.js';

const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

function chunk(type: string, data: Buffer = Buffer.alloc(0)): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}

function header(width: number, height: number, ...rest: number[]): Buffer {
  const data = Buffer.alloc(13);
  data.writeUInt32BE(width);
  data.writeUInt32BE(height, 4);
  data.set(rest, 8);
  return chunk('IHDR', data);
}

/** Two red pixels with 8 bits in each channel. */
const HEADER = header(2, 1, 8, 2, 0, 0, 0);
const PIXELS = Buffer.from([0, 255, 0, 0, 255, 0, 0]);
const DATA = chunk('IDAT', deflateSync(PIXELS));
const png = (...chunks: Buffer[]): Buffer => Buffer.concat([SIGNATURE, ...chunks]);

/** The types of the PNG file's chunks, in order. */
function typesIn(file: Buffer): string[] {
  const types: string[] = [];
  for (let at = 8; at < file.length; at += 12 + file.readUInt32BE(at))
    types.push(file.toString('latin1', at + 4, at + 8));
  return types;
}

describe('a logo', () => {
  it('is stored without its texts, its profiles and the bytes after the end of its picture', () => {
    const file = png(
      HEADER,
      chunk('tEXt', Buffer.from('Comment\0<script>')),
      chunk('iCCP', Buffer.from('profile')),
      DATA,
      chunk('IEND'),
      Buffer.from('PK a second file'),
    );
    const logo = reencodedLogo(file) as Buffer;
    expect(typesIn(logo)).toEqual(['IHDR', 'IDAT', 'IEND']);
    expect(inflateSync(logo.subarray(8 + 25 + 8, -16)).equals(PIXELS)).toBe(true);
    expect(reencodedLogo(logo)).toEqual(logo);
  });

  it('keeps its palette and its transparency', () => {
    const file = png(
      header(1, 1, 8, 3, 0, 0, 0),
      chunk('PLTE', Buffer.from([1, 2, 3])),
      chunk('tRNS', Buffer.from([0])),
      chunk('IDAT', deflateSync(Buffer.from([0, 0]))),
      chunk('IEND'),
    );
    expect(typesIn(reencodedLogo(file) as Buffer)).toEqual(['IHDR', 'PLTE', 'tRNS', 'IDAT', 'IEND']);
  });

  const flipped = Buffer.from(DATA);
  flipped[9] = (flipped[9] ?? 0) ^ 1;
  it.each<[string, Buffer]>([
    ['is a GIF', Buffer.from('GIF89a')],
    ['is empty', Buffer.alloc(0)],
    ['has no header', png(DATA, chunk('IEND'))],
    ['has no end', png(HEADER, DATA)],
    ['has a wrong checksum', png(HEADER, flipped, chunk('IEND'))],
    ['has a length beyond the file', png(HEADER, DATA.subarray(0, -1))],
    ['has data that do not inflate', png(HEADER, chunk('IDAT', PIXELS), chunk('IEND'))],
    ['has too few pixels', png(HEADER, chunk('IDAT', deflateSync(PIXELS.subarray(1))), chunk('IEND'))],
    ['has too many pixels', png(HEADER, chunk('IDAT', deflateSync(Buffer.alloc(1e6))), chunk('IEND'))],
    ['has an unknown colour type', png(header(2, 1, 8, 5, 0, 0, 0), DATA, chunk('IEND'))],
    ['has a depth that its colour type does not have', png(header(2, 1, 4, 2, 0, 0, 0), DATA, chunk('IEND'))],
    ['is interlaced', png(header(2, 1, 8, 2, 0, 0, 1), DATA, chunk('IEND'))],
    ['has a palette image without palette', png(header(2, 1, 8, 3, 0, 0, 0), DATA, chunk('IEND'))],
  ])('is refused when it %s', (_, file) => expect(reencodedLogo(file)).toMatch(/must be a PNG file/));

  it('is refused when it is wider than 1,024 pixels, or larger than 64 kB', () => {
    const row = deflateSync(Buffer.alloc(1 + 3 * 1_025));
    expect(reencodedLogo(png(header(1_025, 1, 8, 2, 0, 0, 0), chunk('IDAT', row), chunk('IEND')))).toMatch(
      /1024 pixels/,
    );
    expect(reencodedLogo(Buffer.alloc(64_001))).toMatch(/at most 64000 bytes/);
  });

  it('is encoded again when it is set, and the error for another file names the setting', () => {
    const file = png(HEADER, chunk('tEXt', Buffer.from('secret')), DATA, chunk('IEND'));
    const { brand } = withLogoWrittenAgain({ brand: { logo: file.toString('base64') } });
    expect(typesIn(Buffer.from(brand?.logo ?? '', 'base64'))).toEqual(['IHDR', 'IDAT', 'IEND']);
    const gif = Buffer.from('GIF89a').toString('base64');
    expect(() => withLogoWrittenAgain({ brand: { logo: gif } })).toThrow(
      expect.objectContaining({ code: 'request.invalid', detail: expect.objectContaining({ field: 'logo' }) }),
    );
    for (const settings of [{}, { brand: { logo: null } }]) expect(withLogoWrittenAgain(settings)).toBe(settings);
  });
});
