// How card details are written, and what is wrong with them: pure.

export const FIELDS = ['number', 'expiry', 'cvc', 'postalCode'] as const;
export type FieldName = (typeof FIELDS)[number];
export type CardValues = Readonly<Record<FieldName, string>>;

const LENGTHS: Readonly<Record<FieldName, number>> = { number: 19, expiry: 4, cvc: 4, postalCode: 5 };

export function digitsOf(text: string): string {
  return text.replaceAll(/\D/g, '');
}

/** As it stands in the field: numbers in groups of four, month and year apart. */
export function written(name: FieldName, text: string): string {
  // A month of one digit that the reader ended with a slash, or that no second digit can follow.
  const typed = name === 'expiry' ? text.replace(/^\s*(\d)\s*\//, '0$1/').replace(/^\s*([2-9])/, '0$1') : text;
  // An expiry filled in with the year in full.
  const year = name === 'expiry' ? typed.replace(/^(\D*\d{2}\D+)20(\d{2})\D*$/, '$1$2') : typed;
  const digits = digitsOf(year).slice(0, LENGTHS[name]);
  switch (name) {
    case 'number':
      return digits.replaceAll(/(.{4})(?=.)/g, '$1 ');
    case 'expiry':
      return digits.length > 2 ? `${digits.slice(0, 2)} / ${digits.slice(2)}` : digits;
    case 'cvc':
    case 'postalCode':
      return digits;
    default:
      return name satisfies never;
  }
}

/** The code of what is wrong with a field, as the processor's library names it. */
export function problemOf(name: FieldName, text: string, now: Date): string | null {
  const digits = digitsOf(text);
  switch (name) {
    case 'number':
      if (digits.length < 13) return 'incomplete_number';
      return passesLuhn(digits) ? null : 'invalid_number';
    case 'expiry': {
      const month = Number(digits.slice(0, 2));
      if (digits.length < 4 || month < 1 || month > 12) return 'incomplete_expiry';
      // A card is good to the end of its month.
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
