/** The reports module as others see it. */
export abstract class Reports {
  /** When the released report of a session expires or expired (ISO 8601 UTC); null while none was released. */
  abstract expiryOf(sessionId: string): Promise<string | null>;
}
