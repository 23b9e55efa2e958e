// Groups digits while a person types them. Pure.

export interface Mask {
  readonly groups: readonly number[];
  readonly separator: string;
  /** The digits of a text that was typed, pasted or filled in, in the order of the mask. */
  read(text: string): string;
}

const digitsOf = (text: string): string => text.replace(/\D/g, '');

export const SSN: Mask = { groups: [3, 2, 4], separator: '-', read: digitsOf };

/** MM/DD/YYYY. A day or month of one digit gets a zero when the slash is typed. Browsers fill in YYYY-MM-DD. */
export const BIRTH_DATE: Mask = {
  groups: [2, 2, 4],
  separator: '/',
  read(text) {
    const iso = /^\s*(\d{4})-(\d{2})-(\d{2})\s*$/.exec(text);
    if (iso) return `${iso[2] ?? ''}${iso[3] ?? ''}${iso[1] ?? ''}`;
    return digitsOf(
      text
        .trim()
        .replace(/^(\d)[/.-]/, '0$1/')
        .replace(/^(\d\d)[/.-]?(\d)[/.-]/, '$1/0$2/'),
    );
  },
};

export interface Written {
  readonly digits: string;
  readonly text: string;
  readonly caret: number;
}

/** The field's text after an input. The caret stays after the same digit. */
export function write(mask: Mask, text: string, caret: number): Written {
  const digits = mask.read(text).slice(0, lengthOf(mask));
  const atEnd = caret >= text.length;
  const formatted = format(mask, digits);
  const before = digitsOf(text.slice(0, caret)).length;
  return { digits, text: formatted, caret: atEnd ? formatted.length : behind(formatted, before) };
}

export function format({ groups, separator }: Mask, digits: string): string {
  const parts: string[] = [];
  let from = 0;
  for (const length of groups) {
    if (from < digits.length) parts.push(digits.slice(from, from + length));
    from += length;
  }
  return parts.join(separator);
}

export function lengthOf({ groups }: Mask): number {
  return groups.reduce((sum, length) => sum + length, 0);
}

function behind(text: string, digits: number): number {
  let seen = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (seen === digits) return at;
    if (/\d/.test(text.charAt(at))) seen += 1;
  }
  return text.length;
}
