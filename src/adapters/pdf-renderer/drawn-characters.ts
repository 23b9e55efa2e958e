// Finds the characters that the fonts of this machine can draw. A browser draws an empty box for every other character, without an error.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Spaces and invisible marks need no font. */
const DRAWN = /(?!\p{DI})[^\p{Z}\p{C}]/u;
const REFERENCE = /&#(?:x([\da-f]{1,6})|(\d{1,7}));?/gi;
const MOST_NAMED = 20;
const CHARACTERS = 0x110000;

/**
 * Asks fontconfig, like the browser. The answer of fontconfig lists the characters of each font as hexadecimal ranges. Null when fontconfig is not
 * installed.
 */
export async function knownCharacters(searchPath: string): Promise<((character: string) => boolean) | null> {
  const asked = promisify(execFile)('fc-list', ['--format', '%{charset} '], {
    env: { PATH: searchPath },
    maxBuffer: 2 ** 24,
  });
  const told = await asked.catch(() => null);
  if (told === null || told.stdout.trim() === '') return null;
  // One byte for each character. A page may contain all characters, and fonts name thousands of ranges.
  const drawn = new Uint8Array(CHARACTERS);
  for (const range of new Set(told.stdout.trim().split(/\s+/))) {
    const [first = 0, last = first] = range.split('-').map((end) => parseInt(end, 16));
    drawn.fill(1, first, last + 1);
  }
  return (character) => drawn[character.codePointAt(0) ?? 0] === 1;
}

/** Adds a note at the end of the page that names the characters without a font. Returns the page unchanged when it has no such characters. */
export function withNoteOfMissing(html: string, isKnown: (character: string) => boolean): string {
  const text = html.replace(REFERENCE, (_, hex?: string, decimal?: string) => {
    const code = hex === undefined ? Number(decimal) : parseInt(hex, 16);
    return code < CHARACTERS ? String.fromCodePoint(code) : '';
  });
  const missing = [...new Set(text)].filter((character) => DRAWN.test(character) && !isKnown(character));
  if (missing.length === 0) return html;
  const named = missing
    .slice(0, MOST_NAMED)
    .map((character) => `U+${character.codePointAt(0)?.toString(16).toUpperCase()}`);
  const more = missing.length > MOST_NAMED ? ` and ${missing.length - MOST_NAMED} more` : '';
  return `${html}<p lang="en" style="font:9pt sans-serif;border-top:1px solid">Empty boxes on this page stand for characters for which no font is installed here: ${named.join(', ')}${more}.</p>`;
}
