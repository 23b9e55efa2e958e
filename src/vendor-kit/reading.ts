// Reads a vendor's JSON with a valibot schema. The result has the port's shape and no other fields.
import * as v from 'valibot';

/** Null if any part of the value breaks the schema. The issues are dropped, because they would quote the value. */
export function read<Schema extends v.GenericSchema>(schema: Schema, value: unknown): v.InferOutput<Schema> | null {
  const { success, output } = v.safeParse(schema, value, { abortEarly: true });
  return success ? output : null;
}

/** Not empty, up to 500 characters. */
export const text = v.pipe(v.string(), v.minLength(1), v.maxLength(500));

export const textLike = (pattern: RegExp) => v.pipe(v.string(), v.regex(pattern));

/** A date that exists, YYYY-MM-DD. */
export const date = v.pipe(v.string(), v.isoDate(), v.check(exists));

/** A time in ISO 8601, as ISO 8601 UTC. */
export const instant = v.pipe(
  v.string(),
  v.isoTimestamp(),
  v.transform((said) => new Date(said).toISOString()),
);

/** An address that a browser may open. Other schemes could run scripts in the page. */
export const webAddress = v.pipe(v.string(), v.maxLength(2_000), v.url(), v.regex(/^https?:\/\//));

/** A whole number, both bounds included. */
export const whole = (least: number, most: number) =>
  v.pipe(v.number(), v.safeInteger(), v.minValue(least), v.maxValue(most));

export const cents = whole(0, 99_999_999_999);

export const listOf = <Item extends v.GenericSchema>(item: Item, most: number) =>
  v.pipe(v.array(item), v.maxLength(most));

function exists(day: string): boolean {
  const time = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(day);
}
