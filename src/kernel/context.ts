import type { Actor } from './actor.js';
import type { Environment } from './environment.js';
import { newId } from './ids.js';

/** The account and environment that something belongs to. Both are null only for facts of the installation itself. */
export interface Owner {
  readonly accountId: string | null;
  readonly environment: Environment | null;
}

/** The effects of a request so far. All contexts of one request share it. */
export interface Effect {
  /** Whether an event was appended or a vendor was asked. */
  done: boolean;
  /** The pause that the vendor asked for with its last refusal, in seconds. */
  retryAfterSeconds?: number;
}

/** The owner, the actor and the request of a command. It becomes the metadata of every event of that command. */
export interface ActionContext extends Owner {
  readonly actor: Actor;
  /** The request that caused this; `Service-Request-Id` on the wire. */
  readonly correlationId: string;
  /** The id of the event or request that caused this. */
  readonly causationId: string;
  /** The session grant of the caller's token. It is never stored. */
  readonly grantId?: string;
  /** The chain of platform tokens that began with one exchange. Limits on strangers count by it. It is never stored. */
  readonly lineage?: string;
  /** Absent when no request caused this. It is never stored. */
  readonly effect?: Effect;
  /** No caller reads the result at once. So only the subscriptions of read models get it, which costs less. */
  readonly skipReadYourWrites?: true;
  /** The operator's reason, recorded with every event. It holds no personal data. */
  readonly reason?: string;
}

/** The context of a caller that belongs to an account. */
export interface CallerContext extends ActionContext {
  readonly accountId: string;
  readonly environment: Environment;
}

/**
 * Whether the caller may use an object of its account and environment. If the object was opened under a grant, the caller needs that grant
 * (docs/contract/server.md#sessions-of-a-grant). A party's sessions are open only to a server with an API key
 * (docs/contract/platform.md#sessions-of-parties). Servers with a secret key are not checked here.
 */
export function isOpenTo(
  owner: Owner | null,
  { grantId, partyId }: { readonly grantId?: string | null; readonly partyId?: string | null },
  caller: Owner & Partial<Pick<ActionContext, 'grantId' | 'actor'>>,
): boolean {
  return (
    owner !== null &&
    owner.accountId === caller.accountId &&
    owner.environment === caller.environment &&
    (grantId === undefined || grantId === null || grantId === caller.grantId) &&
    (partyId === undefined || partyId === null || caller.actor?.kind === 'api-key')
  );
}

/** The context of work that the service does by itself, such as a timer run. */
export function systemContext(part: string, owner: Owner | null): ActionContext {
  const correlationId = newId();
  return {
    accountId: owner?.accountId ?? null,
    environment: owner?.environment ?? null,
    actor: { kind: 'system', id: part },
    correlationId,
    causationId: correlationId,
  };
}
