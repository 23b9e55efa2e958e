// Reads a PNG or an SVG and writes it again with only its picture. The logo then contains no text, no colour profile, no script and no second file.
import { crc32, deflateSync, inflateSync } from 'node:zlib';
import { wrong, type SettingsToSet } from '../domain/account.js';
import { reencodedSvg } from './svg-logo.js';

const MAX_FILE_BYTES = 64_000;
/** An event can store this many bytes as base64. */
const MAX_LOGO_BYTES = 45_000;
const MAX_SIDE = 1_024;
const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
/** The number of channels and the bit depths for each colour type. */
const COLOURS: Readonly<Record<number, { readonly channels: number; readonly depths: readonly number[] }>> = {
  0: { channels: 1, depths: [1, 2, 4, 8, 16] },
  2: { channels: 3, depths: [8, 16] },
  3: { channels: 1, depths: [1, 2, 4, 8] },
  4: { channels: 2, depths: [8, 16] },
  6: { channels: 4, depths: [8, 16] },
};

const NO_PNG = 'The logo must be a PNG file without faults and without interlacing, or an SVG file.';
const TOO_LARGE = `The logo must be at most ${MAX_FILE_BYTES} bytes, and at most ${MAX_LOGO_BYTES} after it is written again.`;
const TOO_WIDE = `The logo must be at most ${MAX_SIDE} pixels wide and high.`;

/** Returns the settings with the rewritten logo. Throws a DomainError for a file that is not such a picture. */
export function withLogoWrittenAgain(settings: SettingsToSet): SettingsToSet {
  const { brand } = settings;
  if (!brand?.logo) return settings;
  const logo = reencodedLogo(Buffer.from(brand.logo, 'base64'));
  if (typeof logo === 'string') throw wrong('logo', logo);
  return { ...settings, brand: { ...brand, logo: logo.toString('base64') } };
}

/** Returns the picture as it is written again, or a description of the fault for people. */
export function reencodedLogo(file: Buffer): Buffer | string {
  if (file.length > MAX_FILE_BYTES) return TOO_LARGE;
  const logo = /^[\s\uFEFF]*</.test(file.toString('utf8', 0, 64)) ? reencodedSvg(file) : reencodedPng(file);
  return logo.length > MAX_LOGO_BYTES && typeof logo !== 'string' ? TOO_LARGE : logo;
}

/** Returns the PNG with only the chunks IHDR, PLTE, tRNS, IDAT and IEND. */
function reencodedPng(file: Buffer): Buffer | string {
  const chunks = chunksOf(file);
  const form = chunks && formOf(chunks);
  if (!form) return NO_PNG;
  if (form.width > MAX_SIDE || form.height > MAX_SIDE) return TOO_WIDE;
  const pixels = inflated(Buffer.concat(chunks.get('IDAT') ?? []), form.height * (1 + form.rowBytes));
  if (pixels === null) return NO_PNG;
  const kept = ['PLTE', 'tRNS'].flatMap((type) =>
    (chunks.get(type) ?? []).slice(0, 1).map((data) => chunk(type, data)),
  );
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', form.header),
    ...kept,
    chunk('IDAT', deflateSync(pixels, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

interface Form {
  readonly header: Buffer;
  readonly width: number;
  readonly height: number;
  readonly rowBytes: number;
}

/** Null for a picture of an unknown kind, or with interlacing. */
function formOf(chunks: ReadonlyMap<string, Buffer[]>): Form | null {
  const [header] = chunks.get('IHDR') ?? [];
  if (header?.length !== 13) return null;
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const colour = header.readUInt8(9);
  const bits = bitsOf(header);
  const hasPalette = colour !== 3 || chunks.get('PLTE')?.length === 1;
  if (bits === null || !hasPalette || width === 0 || height === 0) return null;
  return { header, width, height, rowBytes: Math.ceil((width * bits) / 8) };
}

/** The bits of one pixel. Null for an unknown colour type, depth or method. */
function bitsOf(header: Buffer): number | null {
  const [depth = 0, colour = 0, ...methods] = header.subarray(8);
  const known = COLOURS[colour];
  const isKnown = known?.depths.includes(depth) === true && methods.every((method) => method === 0);
  return isKnown ? known.channels * depth : null;
}

/** The data of the chunks up to IEND by chunk type; null if a length or a checksum is wrong. */
function chunksOf(file: Buffer): ReadonlyMap<string, Buffer[]> | null {
  if (!file.subarray(0, SIGNATURE.length).equals(SIGNATURE)) return null;
  const chunks = new Map<string, Buffer[]>();
  for (let at = SIGNATURE.length; at + 12 <= file.length;) {
    const end = at + 12 + file.readUInt32BE(at);
    if (end > file.length || crc32(file.subarray(at + 4, end - 4)) !== file.readUInt32BE(end - 4)) return null;
    const type = file.toString('latin1', at + 4, at + 8);
    if (type === 'IEND') return chunks;
    chunks.set(type, [...(chunks.get(type) ?? []), file.subarray(at + 8, end - 4)]);
    at = end;
  }
  return null;
}

/** Null unless the data have exactly the length of the picture. */
function inflated(data: Buffer, length: number): Buffer | null {
  try {
    const pixels = inflateSync(data, { maxOutputLength: length });
    return pixels.length === length ? pixels : null;
  } catch {
    return null;
  }
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  checksum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, checksum]);
}
