// Ids of what the frame sends, such as idempotency keys.

/** An id that nobody guesses. A page over plain HTTP on a local network has no crypto.randomUUID. */
export function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
