import type { Actor } from './actor.js';
import type { LastAnswer } from './answered-call.js';
import type { AskedBy, Caller } from './asked-by.js';
import type { Environment } from './environment.js';
import { newId } from './ids.js';
import type { NamedPurpose } from './permissible-purpose.js';

/** The account and environment to which an object belongs. Both are null only for facts of the installation itself. */
export interface Owner {
  readonly accountId: string | null;
  readonly environment: Environment | null;
}

/** The effects of a request until now. All contexts of one request share this object. */
export interface Effect {
  /** Whether an event was appended or a vendor was called. */
  done: boolean;
  /** The seconds that the vendor asked the service to wait in its last refusal. */
  retryAfterSeconds?: number;
}

/** The owner, the actor and the request of a command. All three become the metadata of every event of that command. */
export interface ActionContext extends Owner {
  readonly actor: Actor;
  /** The request that caused the command; `Service-Request-Id` on the wire. */
  readonly correlationId: string;
  /** The id of the event or request that caused the command. */
  readonly causationId: string;
  /** Absent if no request caused the command. A job of a vendor call does not carry it. */
  readonly askedBy?: AskedBy;
  /** A function, so that no job and no log line can contain the clear text. */
  readonly caller?: () => Caller;
  /** The session grant of the caller's token. The grant's id in a context is never stored. */
  readonly grantId?: string;
  /** The chain of platform tokens that began with one exchange. Limits on strangers are counted for this lineage. The lineage is never stored. */
  readonly lineage?: string;
  /** The purpose that the request for a report names. The value in a context is never stored. */
  readonly named?: NamedPurpose;
  /** Absent if no request caused the command. The value is never stored. */
  readonly effect?: Effect;
  /** The account's time of the work, if it is not the present. The value is never stored by itself. */
  readonly at?: Date;
  /** No caller reads the result at once. Read models therefore get the events only through their subscriptions, which costs less. */
  readonly skipReadYourWrites?: true;
  /** Where the answers to the vendor calls of this context are remembered. Absent if the context makes no calls itself. */
  readonly answered?: LastAnswer;
  /** The operator's reason, which is recorded with every event. The reason contains no personal data. */
  readonly reason?: string;
  /** The operator's ticket, which is recorded with every event. */
  readonly ticket?: string;
}

/** The context of a caller that belongs to an account. */
export interface CallerContext extends ActionContext {
  readonly accountId: string;
  readonly environment: Environment;
}

/**
 * Whether the caller may use an object of its account and environment. If the object was opened under a grant, the caller needs that grant
 * (docs/contract/server.md#sessions-of-a-grant). A party's sessions are open only to a server with an API key
 * (docs/contract/platform.md#sessions-of-parties). This function does not check servers with a secret key.
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

/** The context of work that the service does without a request, such as a timer run. */
export function systemContext(part: string, owner: Owner | null): ActionContext {
  const correlationId = newId();
  return {
    accountId: owner?.accountId ?? null,
    environment: owner?.environment ?? null,
    actor: { kind: 'system', id: part },
    correlationId,
    causationId: correlationId,
    answered: {},
  };
}
