// How what goes through Redis becomes bytes before it is sealed.

/** `unpack` makes of what `pack` gave an equal value. */
export interface Packing<Value> {
  pack(value: Value): Uint8Array;
  unpack(bytes: Uint8Array): Value;
}

/** For what JSON can say. */
export function asJson(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}

export function fromJson(bytes: Uint8Array): unknown {
  return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));
}
