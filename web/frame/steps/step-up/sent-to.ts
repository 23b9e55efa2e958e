// The end of the phone number to which the service sends the code, if this frame knows it.

/** Only the last four digits stay in memory after the details are sent. */
const ends = new Map<string, string>();

export function rememberEnd(sessionId: string, phoneNumber: string): void {
  ends.set(sessionId, phoneNumber.slice(-4));
}

/** Undefined if the details were typed elsewhere. */
export function endOf(sessionId: string | undefined): string | undefined {
  return ends.get(sessionId ?? '');
}
