import type { ActionContext } from '../kernel/context.js';
import type { EndUserType } from '../kernel/end-user-type.js';
import type { PermissiblePurpose } from '../kernel/permissible-purpose.js';
import type { Environment } from '../kernel/environment.js';
import type { UserType } from './accounts.js';

/** The facts in a session grant about the sessions opened under it. */
export interface GrantFacts {
  readonly grantId: string;
  /** The account that embeds the component. The embedding account is the child when the grant was made on the child's behalf. */
  readonly accountId: string;
  readonly environment: Environment;
  /** The account with which a consent shares the report; null if the grant names none. */
  readonly recipientAccountId: string | null;
  /** The kind of users that the grant's sessions screen; null for any kind. */
  readonly userType: UserType | null;
  /** The kind of end user that the screening is for. OTHER: the caller names another kind. Null: the grant names none. */
  readonly endUserType: EndUserType | 'OTHER' | null;
  /** The purpose for which the report may be read; null if the grant names none. */
  readonly purpose: PermissiblePurpose | null;
  /** The cents of the payment that the platform keeps; null if the grant sets none. */
  readonly applicationFeeCents: number | null;
  /** The hash of the caller's own id of the session (see external-ids.ts). Null if the caller gave none, or if the grant is of an older release. */
  readonly externalIdHash: string | null;
}

/** The newest session under a grant. */
export interface BegunSession {
  readonly sessionId: string;
  /** ISO 8601 UTC. */
  readonly begunAt: string;
}

/** Session grants, for other modules. A token that was exchanged with a grant names the grant (`Principal.grantId`). */
export abstract class SessionGrants {
  /** Null for malformed and unknown ids. */
  abstract find(grantId: string): Promise<GrantFacts | null>;

  /**
   * Begins the session under the grant. The new session replaces the ended session `replaces`, which is null for the first session. Returns the
   * session that then has the grant. The result is another session if another request was faster, or if the previous session was not `replaces`.
   */
  abstract begin(
    grantId: string,
    sessionId: string,
    replaces: string | null,
    context: ActionContext,
  ): Promise<BegunSession>;

  /**
   * A session of a person begins under the grant. From now on the details that the grant's creator gave are stored under that person's vault subject,
   * and are erased with it. Does nothing for a grant without details. Safe to repeat.
   */
  abstract moveDetails(grantId: string, subjectId: string, context: ActionContext): Promise<void>;
}
