// Which characters the fonts of this machine can draw. A browser draws an empty box for another one, and says nothing.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Blanks and marks that show nothing by themselves need no font. */
const DRAWN = /(?!\p{DI})[^\p{Z}\p{C}]/gu;
const REFERENCE = /&#(?:x([\da-f]{1,6})|(\d{1,7}));/gi;
const MOST_NAMED = 20;

/** By fontconfig, which the browser asks too: each font as ranges of hexadecimal numbers. Null where it is not installed. */
export async function knownCharacters(searchPath: string): Promise<((character: string) => boolean) | null> {
  const asked = promisify(execFile)('fc-list', ['--format', '%{charset} '], {
    env: { PATH: searchPath },
    maxBuffer: 2 ** 24,
  });
  const told = await asked.catch(() => null);
  if (told === null || told.stdout.trim() === '') return null;
  const ranges = [...new Set(told.stdout.trim().split(/\s+/))].map((range) =>
    range.split('-').map((end) => parseInt(end, 16)),
  );
  const known = new Map<string, boolean>();
  return (character) => {
    const code = character.codePointAt(0) ?? 0;
    const isKnown = known.get(character) ?? ranges.some(([first = 0, last = first]) => first <= code && code <= last);
    known.set(character, isKnown);
    return isKnown;
  };
}

/** The page with a note at its end that names what no font can draw; as it is where there is nothing to say. */
export function withNoteOfMissing(html: string, isKnown: (character: string) => boolean): string {
  const text = html.replace(REFERENCE, (_, hex?: string, decimal?: string) => {
    const code = hex === undefined ? Number(decimal) : parseInt(hex, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : '';
  });
  const missing = [...new Set(text.match(DRAWN))].filter((character) => !isKnown(character));
  if (missing.length === 0) return html;
  const named = missing
    .slice(0, MOST_NAMED)
    .map((character) => `U+${character.codePointAt(0)?.toString(16).toUpperCase()}`);
  const more = missing.length > MOST_NAMED ? ` and ${missing.length - MOST_NAMED} more` : '';
  return `${html}<p lang="en" style="font:9pt sans-serif;border-top:1px solid">Empty boxes on this page stand for characters for which no font is installed here: ${named.join(', ')}${more}.</p>`;
}
