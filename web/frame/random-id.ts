// Ids of the frame's requests, such as idempotency keys.

/** An id that cannot be guessed. A page over plain HTTP on a local network has no crypto.randomUUID. */
export function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
