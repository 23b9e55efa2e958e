// Writes the answers of vendors that do not speak the form of the direct API (docs/contract/direct.md#answers-in-the-services-words).
import { derivedId } from '../../../kernel/ids.js';
import type { Decision } from '../../../published/verifications.js';

/** The JSON text of an answer about an identity. `reference` is the id of the session or challenge, which replaces the ids of the vendor. */
export function writtenAnswer(
  decision: Exclude<Decision, { kind: 'refused' }>,
  reference: string,
  subjectId: string,
): string {
  return JSON.stringify({
    success: true,
    userAuthenticated: decision.kind === 'confirmed',
    // The vendor's token gives access to the person's data, so it stays in the vault.
    ...(decision.kind === 'confirmed' && { UserToken: derivedId('user-token', subjectId) }),
    authSession: reference,
    otpEnabled: false,
    kiqEnabled: false,
    clientReferenceId: reference,
    kba: null,
    crossCoreFullResponse: null,
    ...(decision.kind === 'challenge' && challenged(decision, reference)),
    ...(decision.kind === 'needs-user' && { userAction: { until: decision.until, ...decision.open } }),
    ...(decision.kind === 'under-review' && { underReview: true, reviewUntil: decision.until }),
  });
}

function challenged(
  { otp, questions, attemptsRemaining }: Extract<Decision, { kind: 'challenge' }>,
  sessionId: string,
): object {
  return {
    success: attemptsRemaining === null,
    otpEnabled: otp,
    kiqEnabled: questions !== null,
    kba: questions && { sessionId, questions },
    ...(attemptsRemaining !== null && { attemptsRemaining }),
  };
}

/** The JSON text of an answer about an ended authentication. */
export const EXPIRED = '"EXPIRED"';

/** The JSON text of an answer about the authentication. `authenticatedAt` is ISO 8601 UTC; null if it is unknown. */
export function standingAnswer(
  authenticated: boolean,
  authenticatedAt: string | null,
  validitySeconds: number,
): string {
  const expiresAt =
    authenticatedAt && new Date(new Date(authenticatedAt).getTime() + validitySeconds * 1_000).toISOString();
  return JSON.stringify({ authenticated, authenticatedAt, expiresAt });
}
