// A PDF and its name, packed together for the temporary store. The name may be a person's, so it is encrypted with the file and never part of an
// address.

export interface PdfFile {
  readonly filename: string;
  readonly content: Uint8Array;
}

const DEFAULT = 'report';
const MAX_LENGTH = 100;

/** A name that is safe on every system: without path, quotes and control characters, and with the ending `.pdf`. */
export function plainFilename(given: string | null): string {
  const last = (given ?? '').normalize('NFKD').split(/[\\/]/).at(-1) ?? '';
  const plain = last
    .replace(/\.pdf$/i, '')
    .replace(/\p{M}/gu, '')
    .replace(/[^A-Za-z0-9 ._-]/g, '_')
    .slice(0, MAX_LENGTH)
    .replace(/^[ ._-]+|[ ._-]+$/g, '');
  return `${plain === '' ? DEFAULT : plain}.pdf`;
}

/** Packs one byte with the length of the name, then the name, then the file. */
export function packed({ filename, content }: PdfFile): Uint8Array {
  const name = Buffer.from(filename, 'latin1');
  return Buffer.concat([Buffer.from([name.length]), name, content]);
}

export function unpacked(stored: Uint8Array): PdfFile {
  const end = 1 + (stored[0] ?? 0);
  return { filename: Buffer.from(stored.subarray(1, end)).toString('latin1'), content: stored.subarray(end) };
}
