import type { ActionContext } from '../kernel/context.js';
import type { EndUserType } from '../kernel/end-user-type.js';
import type { Environment } from '../kernel/environment.js';
import type { UserType } from './accounts.js';

/** What a session grant says about the sessions opened under it. */
export interface GrantFacts {
  readonly grantId: string;
  /** The account that embeds: the child's, when the grant was made on its behalf. */
  readonly accountId: string;
  readonly environment: Environment;
  /** To whom a consent shares the report. */
  readonly recipientAccountId: string | null;
  /** Whom a session under it screens; null: any person. */
  readonly userType: UserType | null;
  /** For whom it is done; OTHER: in a word of the caller's own. Null: the grant says nothing of it. */
  readonly endUserType: EndUserType | 'OTHER' | null;
  /** Cents that the platform keeps of the payment; null: the grant says nothing of it. */
  readonly applicationFeeCents: number | null;
}

/** The session that began under a grant last. */
export interface BegunSession {
  readonly sessionId: string;
  /** ISO 8601 UTC. */
  readonly begunAt: string;
}

/** Grants as other modules see them; a token that was exchanged with one names it (`Principal.grantId`). */
export abstract class SessionGrants {
  /** Null for malformed and unknown ids. */
  abstract find(grantId: string): Promise<GrantFacts | null>;

  /**
   * Has the session begin under the grant, in the place of the one that the caller knows to be over; `replaces` is null for the first.
   * Gives the session that has the grant then: another one where another request was faster, or where the one before is not `replaces`.
   */
  abstract begin(
    grantId: string,
    sessionId: string,
    replaces: string | null,
    context: ActionContext,
  ): Promise<BegunSession>;

  /**
   * A session of a person begins under the grant: what the caller who minted it said about the session is kept under that person's
   * vault subject from now on, and is erased with it. Safe to repeat; nothing happens when there is nothing.
   */
  abstract entrustDetails(grantId: string, subjectId: string, context: ActionContext): Promise<void>;
}
