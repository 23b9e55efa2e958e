// A character for which no font is installed is told on the page (docs/operations.md).
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { knownCharacters, withNoteOfMissing } from '../../../src/adapters/pdf-renderer/drawn-characters.js';

const ascii = (character: string): boolean => /^[\x20-\x7e]$/.test(character);

describe('a page', () => {
  it('with characters that no font can draw says which, once each', () => {
    const page = withNoteOfMissing('<p>\uac00\uac00 &#x1f600; &#44033;</p>', ascii);
    expect(page).toContain('no font is installed here: U+AC00, U+1F600, U+AC01.');
  });

  it('with many of them names twenty and counts the rest', () => {
    const text = Array.from({ length: 30 }, (_, at) => String.fromCodePoint(0xac00 + at)).join('');
    expect(withNoteOfMissing(text, ascii)).toMatch(/U\+AC13 and 10 more\.<\/p>$/);
  });

  it.each(['<p>Ada</p>', '<p>A\u00a0b\u200b\u2028\ufe0f\t\n</p>', '&#x110000; &#9999999; &amp;'])(
    'that can be drawn stays as it is: %j',
    (html) => expect(withNoteOfMissing(html, ascii)).toBe(html),
  );
});

it('without fontconfig nothing is known, and nothing is said', async () => {
  expect(await knownCharacters('/nowhere')).toBeNull();
});

it('the image has fonts for the scripts of names; where they are installed, each script has a font', async () => {
  const image = readFileSync(new URL('../../../Dockerfile', import.meta.url), 'utf8');
  expect(image).toMatch(/fontconfig fonts-liberation fonts-noto-core fonts-noto-cjk/);
  const families = (() => {
    try {
      return execFileSync('fc-list', [':', 'family'], { encoding: 'utf8' });
    } catch {
      // No fontconfig here: the image has it.
      return '';
    }
  })();
  if (!/Noto Sans Devanagari/.test(families) || !/Noto Sans CJK/.test(families)) return;
  const isKnown = await knownCharacters(process.env['PATH'] ?? '');
  const scripts =
    '\u0416\u03a9\u05d0\u0639\u0905\u0995\u0a15\u0a95\u0b95\u0c15\u0c95\u0d15\u0d9a\u0e01\u0e81\u1000\u1780\u10d0\u0531\u1200\u674e\u3042\u30ab\uac00';
  expect(Array.from(scripts).filter((letter) => !isKnown?.(letter))).toEqual([]);
});
