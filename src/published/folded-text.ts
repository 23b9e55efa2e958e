// One spelling for what people type and paste, so that it is judged, sent and kept without the accidents of a keyboard
// (docs/contract/general.md#text). The frame of the component has the same rules (web/frame/steps/details/folded.ts).

const APOSTROPHES = /[\u0060\u00B4\u02B9-\u02BC\u2018-\u201B\u2032\uFF07]/g;
const HYPHENS = /[\u2010-\u2015\u2212\uFE63\uFF0D]/g;
/** A letter or mark of a script in which a joiner (U+200C, U+200D) changes how its neighbours are written. */
const JOINED =
  '(?=[\\p{L}\\p{M}])[' +
  'Arab Beng Deva Gujr Guru Khmr Knda Mlym Mong Mymr Orya Sinh Syrc Taml Telu Tibt'.replace(/(\w+) ?/g, '\\p{scx=$1}') +
  ']';
/** Direction marks, whatever has no width, and the two that choose between a text and an emoji. */
const UNSEEN = new RegExp(
  `(?<!${JOINED})[\\u200C\\u200D]|[\\u200C\\u200D](?!${JOINED})|(?![\\u200C\\u200D])(?=\\p{DI})\\p{Cf}|[\\uFE0E\\uFE0F]`,
  'gu',
);

/** A text without any says nothing. */
export const HAS_VISIBLE = /(?!\p{DI})\S/u;

/** Of a name, an address, or a code. Folding twice changes nothing. */
export function folded(text: string): string {
  const seen = text.replace(UNSEEN, '').normalize('NFC');
  return seen
    .replace(APOSTROPHES, "'")
    .replace(HYPHENS, '-')
    .replace(/\p{Z}+/gu, ' ')
    .replace(/^ | $/g, '');
}

/** In spaces and `( ) - . /` a phone number says nothing. What else stands there is not taken away: it may make it another number. */
export function phoneDigits(text: string): string {
  return folded(text).replace(/[ ()\-./]/g, '');
}

/** In capitals. Of other alphabets nothing becomes one of their letters. */
export function stateCode(text: string): string {
  return folded(text).replace(/[a-z]+/g, (letters) => letters.toUpperCase());
}

/** Nine digits of a postal code with a space between them are written with a dash. */
export function zipCode(text: string): string {
  return folded(text).replace(/^(\d{5}) (\d{4})$/, '$1-$2');
}
