import type { ActionContext } from '../kernel/context.js';
import type { EndUserType } from '../kernel/end-user-type.js';
import type { Environment } from '../kernel/environment.js';
import type { UserType } from './accounts.js';

/** The facts that a session grant holds about the sessions opened under it. */
export interface GrantFacts {
  readonly grantId: string;
  /** The account that embeds the component. It is the child account when the grant was made on its behalf. */
  readonly accountId: string;
  readonly environment: Environment;
  /** The account with which a consent shares the report; null: none is named. */
  readonly recipientAccountId: string | null;
  /** The kind of users that its sessions screen; null: any kind. */
  readonly userType: UserType | null;
  /** The kind of end user that the screening is for. OTHER: the caller uses a word of its own. Null: the grant does not say. */
  readonly endUserType: EndUserType | 'OTHER' | null;
  /** Cents of the payment that the platform keeps; null: the grant does not say. */
  readonly applicationFeeCents: number | null;
}

/** The newest session under a grant. */
export interface BegunSession {
  readonly sessionId: string;
  /** ISO 8601 UTC. */
  readonly begunAt: string;
}

/** Session grants, for other modules. A token that was exchanged with a grant names it (`Principal.grantId`). */
export abstract class SessionGrants {
  /** Null for malformed and unknown ids. */
  abstract find(grantId: string): Promise<GrantFacts | null>;

  /**
   * Begins the session under the grant. It replaces the ended session `replaces`, which is null for the first session. Gives the session that then
   * holds the grant. This is another session if another request was faster, or if the previous session was not `replaces`.
   */
  abstract begin(
    grantId: string,
    sessionId: string,
    replaces: string | null,
    context: ActionContext,
  ): Promise<BegunSession>;

  /**
   * A session of a person begins under the grant. From now on the details that the grant's creator gave are kept under that person's
   * vault subject, and are erased with it. Does nothing for a grant without details. Safe to repeat.
   */
  abstract moveDetails(grantId: string, subjectId: string, context: ActionContext): Promise<void>;
}
