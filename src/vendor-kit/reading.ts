// Readers that take a vendor's JSON apart, field by field: what passes has the port's shape and nothing beside it.
import { isRecord } from './answer.js';

/** Gives the value in its type, or throws Unreadable. */
export type Reader<Value> = (value: unknown) => Value;

/** Never leaves this file: `readWith` turns it into null. It does not quote what was read. */
class Unreadable extends Error {
  override readonly name = 'Unreadable';
}

const MAX_TEXT = 500;
const DATE = /^\d{4}-\d\d-\d\d$/;

/** Null when the value, or anything in it, is not as expected. */
export function readWith<Value>(reader: Reader<Value>, value: unknown): Value | null {
  try {
    return reader(value);
  } catch (error) {
    if (error instanceof Unreadable) return null;
    throw error;
  }
}

/** Fields that are not named are left out. */
export function fields<Shape extends object>(readers: {
  readonly [Name in keyof Shape]-?: Reader<Shape[Name]>;
}): Reader<Shape> {
  const names = Object.keys(readers) as (keyof Shape & string)[];
  return (value) => {
    if (!isRecord(value)) throw new Unreadable();
    return Object.fromEntries(names.map((name) => [name, readers[name](value[name])])) as Shape;
  };
}

export function listOf<Item>(reader: Reader<Item>, most: number): Reader<readonly Item[]> {
  return (value) => {
    if (!Array.isArray(value) || value.length > most) throw new Unreadable();
    return value.map((item) => reader(item));
  };
}

/** Null is taken, a field left out is not. */
export function orNull<Value>(reader: Reader<Value>): Reader<Value | null> {
  return (value) => (value === null ? null : reader(value));
}

export function oneOf<const Word extends string>(words: readonly Word[]): Reader<Word> {
  return (value) => words.find((word) => word === value) ?? unreadable();
}

/** Not empty, up to 500 characters. */
export const text: Reader<string> = (value) =>
  typeof value === 'string' && value !== '' && value.length <= MAX_TEXT ? value : unreadable();

export function textLike(pattern: RegExp): Reader<string> {
  return (value) => (typeof value === 'string' && pattern.test(value) ? value : unreadable());
}

/** A day that exists, YYYY-MM-DD. */
export const date: Reader<string> = (value) => {
  if (typeof value !== 'string' || !DATE.test(value)) return unreadable();
  const time = new Date(`${value}T00:00:00Z`);
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(value) ? value : unreadable();
};

/** A whole number, both ends included. */
export function whole(least: number, most: number): Reader<number> {
  return (value) =>
    typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= most ? value : unreadable();
}

export const cents: Reader<number> = whole(0, 99_999_999_999);

function unreadable(): never {
  throw new Unreadable();
}
