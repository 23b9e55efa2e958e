// Formats card details and finds their errors. Pure.

export const FIELDS = ['number', 'expiry', 'cvc', 'postalCode'] as const;
export type FieldName = (typeof FIELDS)[number];
export type CardValues = Readonly<Record<FieldName, string>>;

const LENGTHS = { number: 19, cvc: 4, postalCode: 5 };

export function digitsOf(text: string): string {
  return text.replaceAll(/\D/g, '');
}

/** The text in the field: numbers in groups of four, month and year separated. */
export function written(name: FieldName, text: string): string {
  if (name === 'expiry') return writtenExpiry(text);
  const digits = digitsOf(text).slice(0, LENGTHS[name]);
  return name === 'number' ? digits.replaceAll(/(.{4})(?=.)/g, '$1 ') : digits;
}

/** A month of one digit gets a zero, and a full year loses its century. */
function writtenExpiry(text: string): string {
  const typed = digitsOf(text.replace(/^\s*(\d)\s*\//, '0$1').replace(/^\s*([2-9])/, '0$1'));
  const digits = typed.slice(2).startsWith('20') && typed.length >= 6 ? typed.slice(0, 2) + typed.slice(4) : typed;
  const year = digits.slice(2, digits.slice(2).startsWith('20') ? 5 : 4);
  return year === '' ? digits : `${digits.slice(0, 2)} / ${year}`;
}

/** The code of a field's error, in the terms of the processor's library. */
export function problemOf(name: FieldName, text: string, now: Date): string | null {
  const digits = digitsOf(text);
  switch (name) {
    case 'number':
      if (digits.length < 13) return 'incomplete_number';
      return passesLuhn(digits) ? null : 'invalid_number';
    case 'expiry': {
      const month = Number(digits.slice(0, 2));
      if (digits.length !== 4 || month < 1 || month > 12) return 'incomplete_expiry';
      // A card is valid to the end of its month.
      const end = new Date(2_000 + Number(digits.slice(2)), month);
      return now >= end ? 'invalid_expiry_year_past' : null;
    }
    case 'cvc':
      return digits.length < 3 ? 'incomplete_cvc' : null;
    case 'postalCode':
      return digits.length < 5 ? 'incomplete_zip' : null;
    default:
      return name satisfies never;
  }
}

function passesLuhn(number: string): boolean {
  const sum = Array.from(number)
    .reverse()
    .reduce((total, digit, place) => {
      const value = Number(digit) * (place % 2 === 1 ? 2 : 1);
      return total + (value > 9 ? value - 9 : value);
    }, 0);
  return sum % 10 === 0;
}
