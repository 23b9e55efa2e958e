import type { ActionContext } from '../../../kernel/context.js';
import type { AccessKeyState } from '../domain/access-key.js';

/** The events of a key belong to the key's account and environment, not to the operator who acts. */
export function contextOf(key: AccessKeyState, context: ActionContext): ActionContext {
  return key.status === 'unknown' ? context : { ...context, accountId: key.accountId, environment: key.environment };
}
