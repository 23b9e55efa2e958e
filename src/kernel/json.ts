/** A value that survives JSON unchanged: no undefined, Date, BigInt, NaN or infinity. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };
export type JsonObject = { readonly [key: string]: JsonValue };
