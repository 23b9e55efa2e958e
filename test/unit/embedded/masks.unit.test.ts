// The frame groups digits while a person types, pastes or corrects them.
import { describe, expect, it } from '@jest/globals';
import { BIRTH_DATE, format, SSN, write } from '../../../web/frame/parts/masks.js';

/** `|` marks the caret, in the input and in the result. */
function input(mask: typeof SSN, marked: string): string {
  const { text, caret } = write(mask, marked.replace('|', ''), marked.indexOf('|'));
  return `${text.slice(0, caret)}|${text.slice(caret)}`;
}

describe('An SSN', () => {
  it.each([
    ['1|', '1|'],
    ['123|', '123|'],
    ['1234|', '123-4|'],
    ['123-45|', '123-45|'],
    ['123-456|', '123-45-6|'],
    ['123-45-67890|', '123-45-6789|'],
    ['123456789|', '123-45-6789|'],
    [' 123 45 6789 |', '123-45-6789|'],
    ['abc|', '|'],
  ])('%s is shown as %s when it is typed or pasted', (typed, stands) => expect(input(SSN, typed)).toBe(stands));

  it('keeps the caret in place when a digit in the middle is removed or inserted', () => {
    expect(input(SSN, '12|-45-6789')).toBe('12|4-56-789');
    expect(input(SSN, '1293|-45-678')).toBe('129-3|4-5678');
  });

  it('keeps every digit when a separator is removed', () => expect(input(SSN, '123|45')).toBe('123|-45'));

  it('returns its digits without separators', () => expect(write(SSN, '123-45-6789', 11).digits).toBe('123456789'));
});

describe('A birth date', () => {
  it.each([
    ['04121990|', '04/12/1990|'],
    ['04/12/1990|', '04/12/1990|'],
    ['4/|', '04|'],
    ['4/7/1990|', '04/07/1990|'],
    ['4-7-1990|', '04/07/1990|'],
    ['1990-04-12|', '04/12/1990|'],
    ['04/12/19901|', '04/12/1990|'],
  ])('%s is shown as %s when it is typed, pasted or filled in', (typed, stands) =>
    expect(input(BIRTH_DATE, typed)).toBe(stands),
  );

  it('is shown in groups of digits', () => {
    expect(format(BIRTH_DATE, '0412')).toBe('04/12');
    expect(format(BIRTH_DATE, '')).toBe('');
  });
});
