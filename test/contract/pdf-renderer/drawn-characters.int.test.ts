// The page names characters for which no font is installed (docs/operations/install.md).
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { knownCharacters, withNoteOfMissing } from '../../../src/adapters/pdf-renderer/drawn-characters.js';
import { processorMs } from '../../support/measuring.js';

const ascii = (character: string): boolean => /^[\x20-\x7e]$/.test(character);

describe('a page', () => {
  it('with characters that no font can draw names each of these characters once', () => {
    const page = withNoteOfMissing('<p>\uac00\uac00 &#x1f600; &#44033;&#xac02</p>', ascii);
    expect(page).toContain('no font is installed here: U+AC00, U+1F600, U+AC01, U+AC02.');
  });

  it('with many such characters names twenty and counts the rest', () => {
    const text = Array.from({ length: 30 }, (_, at) => String.fromCodePoint(0xac00 + at)).join('');
    expect(withNoteOfMissing(text, ascii)).toMatch(/U\+AC13 and 10 more\.<\/p>$/);
  });

  it.each(['<p>Ada</p>', '<p>A\u00a0b\u200b\u2028\ufe0f\t\n</p>', '&#x110000; &#9999999; &amp;'])(
    'that can be drawn stays unchanged: %j',
    (html) => expect(withNoteOfMissing(html, ascii)).toBe(html),
  );
});

it('without fontconfig no character is known, and no page names a character', async () => {
  expect(await knownCharacters('/nowhere')).toBeNull();
});

/** Scripts in which people write their names today, by their Unicode names. */
const SCRIPTS =
  'Adlam Arabic Armenian Balinese Bamum Batak Bengali Bopomofo Canadian_Aboriginal Chakma Cham Cherokee Cyrillic Devanagari Ethiopic Georgian Greek Gujarati Gurmukhi Han Hangul Hanifi_Rohingya Hebrew Hiragana Javanese Kannada Katakana Kayah_Li Khmer Lao Latin Lepcha Limbu Lisu Malayalam Mandaic Meetei_Mayek Miao Mongolian Myanmar New_Tai_Lue Newa Nko Nyiakeng_Puachue_Hmong Ol_Chiki Oriya Osage Saurashtra Sinhala Sundanese Syloti_Nagri Syriac Tai_Le Tai_Tham Tai_Viet Tamil Telugu Thaana Thai Tibetan Tifinagh Vai Wancho Yi';

const letters = Array.from({ length: 0x1f000 }, (_, code) => String.fromCodePoint(code));

it('the image installs fonts, and a machine with these fonts can draw every listed script', async () => {
  const image = readFileSync(new URL('../../../Dockerfile', import.meta.url), 'utf8');
  expect(image).toMatch(/fontconfig fonts-liberation fonts-noto-core fonts-noto-cjk/);
  const families = (() => {
    try {
      return execFileSync('fc-list', [':', 'family'], { encoding: 'utf8' });
    } catch {
      // This machine has no fontconfig, but the image has it.
      return '';
    }
  })();
  if (!/Noto Sans Devanagari/.test(families) || !/Noto Sans CJK/.test(families)) return;
  const isKnown = await knownCharacters(process.env['PATH'] ?? '');
  const drawn = (script: string): boolean => {
    const ofScript = new RegExp(`(?=\\p{L})\\p{Script=${script}}`, 'u');
    return isKnown?.(letters.find((letter) => ofScript.test(letter)) ?? '') === true;
  };
  expect(SCRIPTS.split(' ').filter((script) => !drawn(script))).toEqual([]);
});

// This look-up runs before the page is printed, outside the time limit of the page.
it('the characters of a page with every character are looked up in time, even with many font ranges', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fonts-'));
  try {
    // Every second character from U+4E00 on.
    const ranges = Array.from({ length: 10_000 }, (_, at) => (0x4e00 + 2 * at).toString(16)).join(' ');
    writeFileSync(join(folder, 'fc-list'), `#!/bin/sh\necho '20-7e ${ranges}'\n`, { mode: 0o755 });
    const isKnown = (await knownCharacters(folder)) ?? (() => true);
    let page = '';
    expect(processorMs(() => (page = withNoteOfMissing(letters.join(''), isKnown)))).toBeLessThan(1_000);
    expect(page).toContain('U+A1, ');
    expect([isKnown('\u4e00'), isKnown('\u4e01'), isKnown('a')]).toEqual([true, false, true]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
