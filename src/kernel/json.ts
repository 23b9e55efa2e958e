/** A value that JSON preserves unchanged: no undefined, Date, BigInt, NaN or infinity. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };
export type JsonObject = { readonly [key: string]: JsonValue };

/** The overhead of a cache entry: its key, its slot and two objects. */
const ENTRY_BYTES = 300;
/** The bytes of memory for each character of a value's JSON, as measured on documents of the read models. */
const BYTES_PER_CHARACTER = 2;

/** The bytes that a value and its cache entry take, estimated from the JSON of the value. */
export function cachedBytes(value: unknown): number {
  return ENTRY_BYTES + JSON.stringify(value).length * BYTES_PER_CHARACTER;
}
