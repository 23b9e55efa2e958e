/** The reports module as others see it. */
export abstract class Reports {
  /** When the released report of a session expires or expired (ISO 8601 UTC); null while none was released. */
  abstract expiryOf(sessionId: string): Promise<string | null>;
  /** Whether the bureau has said last that what it knows the person by entitles to no report, or not any more. */
  abstract isOutOfReach(sessionId: string): Promise<boolean>;
}
