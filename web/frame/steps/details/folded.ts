// One spelling for typed and pasted text, by the rules of the service (docs/contract/general.md#text). test/unit/embedded checks both with the same
// samples. Pure.

const APOSTROPHES = /[\u0060\u00B4\u02B9-\u02BC\u2018-\u201B\u2032\uFF07]/g;
const HYPHENS = /[\u2010-\u2015\u2212\uFE63\uFF0D]/g;
/** A letter or mark of a script in which a joiner (U+200C, U+200D) changes its neighbours. */
const JOINED =
  '(?=[\\p{L}\\p{M}])[' +
  'Arab Beng Deva Gujr Guru Khmr Knda Mlym Mong Mymr Orya Sinh Syrc Taml Telu Tibt'.replace(/(\w+) ?/g, '\\p{scx=$1}') +
  ']';
/** Direction marks, characters without width, and the two characters that choose between text and emoji. */
const UNSEEN = new RegExp(
  `(?<!${JOINED})[\\u200C\\u200D]|[\\u200C\\u200D](?!${JOINED})|(?![\\u200C\\u200D])(?=\\p{DI})\\p{Cf}|[\\uFE0E\\uFE0F]`,
  'gu',
);

/** A text without visible characters counts as empty. */
export const HAS_VISIBLE = /(?!\p{DI})\S/u;

/** Simplifies a name, an address, or a code. A second call changes nothing more. */
export function folded(text: string): string {
  const seen = text.replace(UNSEEN, '').normalize('NFC');
  return seen
    .replace(APOSTROPHES, "'")
    .replace(HYPHENS, '-')
    .replace(/\p{Z}+/gu, ' ')
    .replace(/^ | $/g, '');
}

/** Spaces and `( ) - . /` have no meaning in a phone number. Other characters stay, because without them it could be another number. */
export function phoneDigits(text: string): string {
  return folded(text).replace(/[ ()\-./]/g, '');
}

/** Converts to capitals. Letters of other alphabets do not become Latin letters. */
export function stateCode(text: string): string {
  return folded(text).replace(/[a-z]+/g, (letters) => letters.toUpperCase());
}

/** A postal code of nine digits with a space gets a dash instead. */
export function zipCode(text: string): string {
  return folded(text).replace(/^(\d{5}) (\d{4})$/, '$1-$2');
}
