// The part of a session's result that only the vault stores.
import type { UserAction } from '../../../kernel/user-action.js';
import { readEntry } from '../../../ports/vault-entry.js';
import type { Vault } from '../../../ports/vault.js';
import { type KbaQuestion, secretsEntry, type SessionSecretsContent } from '../domain/session.js';
import type { SessionSummary } from './session-summary.js';

/** Both are null after the person was erased. */
export interface KeptSecrets {
  /** The questions while they are open. */
  readonly questions: readonly KbaQuestion[] | null;
  /** How the person opens the vendor, while the person must act there. */
  readonly userAction: UserAction | null;
}

export async function keptSecrets(vault: Vault, sessionId: string, session: SessionSummary): Promise<KeptSecrets> {
  const asksQuestions = 'stepUp' in session && session.stepUp.kba;
  const round = session.status === 'SUBMITTED' && session.review?.userActs ? session.review : null;
  if (!asksQuestions && round === null) return { questions: null, userAction: null };
  const secrets = await readEntry<SessionSecretsContent>(vault, session.subjectId, secretsEntry(sessionId));
  const { questions, open } = secrets === null || secrets === 'erased' ? { questions: null } : secrets;
  return {
    questions: asksQuestions ? questions : null,
    userAction: round === null || open === undefined ? null : { open, until: round.until },
  };
}
