import type { ActionContext } from '../kernel/context.js';
import type { Environment } from '../kernel/environment.js';

/** What a session grant says about the sessions opened under it. */
export interface GrantFacts {
  readonly grantId: string;
  /** The account that embeds: the child's, when the grant was made on its behalf. */
  readonly accountId: string;
  readonly environment: Environment;
  /** To whom a consent shares the report. */
  readonly recipientAccountId: string | null;
}

/** Grants as other modules see them; a token that was exchanged with one names it (`Principal.grantId`). */
export abstract class SessionGrants {
  /** Null for malformed and unknown ids. */
  abstract find(grantId: string): Promise<GrantFacts | null>;

  /**
   * A session of a person begins under the grant: what the caller who minted it said about the session is kept under that person's
   * vault subject from now on, and is erased with it. Safe to repeat; nothing happens when there is nothing.
   */
  abstract entrustDetails(grantId: string, subjectId: string, context: ActionContext): Promise<void>;
}
