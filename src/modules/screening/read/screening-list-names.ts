// The names of the lists of screening sessions. Every list is sorted by the time of the submission.
import type { Environment } from '../../../kernel/environment.js';
import { listOf, listsBy } from '../../../kernel/projection.js';
import type { OverallStatus } from '../domain/overall-status.js';
import type { Session } from '../domain/session.js';

/** The list of an account's sessions with the same external id. */
export function externalIdList(values: {
  readonly account: string;
  readonly environment: Environment;
  /** The hash of the external id (see published/external-ids.ts). */
  readonly externalIdHash: string;
}): string {
  return listOf(values);
}

/** Every list that holds the session. The lists by user type are those of one account. */
export function listsOfSession(listed: {
  readonly accountId: string;
  readonly environment: Environment;
  readonly session: Pick<Session, 'userType'>;
  readonly overallStatus: OverallStatus;
  readonly externalIdHash: string | null;
}): string[] {
  const { accountId: account, environment, session, overallStatus, externalIdHash } = listed;
  return [
    ...listsBy({ environment }, { overallStatus }),
    ...listsBy({ account, environment }, { userType: session.userType, overallStatus }),
    ...(externalIdHash === null ? [] : [externalIdList({ account, environment, externalIdHash })]),
  ];
}
