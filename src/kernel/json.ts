/** A value that survives JSON unchanged: no undefined, Date, BigInt, NaN or infinity. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };
export type JsonObject = { readonly [key: string]: JsonValue };

/** What a cache keeps beside each value: its key, its place and two objects. */
const ENTRY_BYTES = 300;
/** What a character of JSON takes as an object in memory; measured on documents of the read models. */
const BYTES_PER_CHARACTER = 2;

/** Bytes that a value and its entry in a cache take, estimated from the JSON of the value. */
export function cachedBytes(value: unknown): number {
  return ENTRY_BYTES + JSON.stringify(value).length * BYTES_PER_CHARACTER;
}
