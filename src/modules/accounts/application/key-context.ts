import type { ActionContext } from '../../../kernel/context.js';
import type { AccessKeyState } from '../domain/access-key.js';

/** A key's events belong to its account and environment, not to the operator who acts. */
export function contextOf(key: AccessKeyState, context: ActionContext): ActionContext {
  return key.status === 'unknown' ? context : { ...context, accountId: key.accountId, environment: key.environment };
}
