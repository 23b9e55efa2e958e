import type { Actor } from './actor.js';
import type { Environment } from './environment.js';
import { newId } from './ids.js';

/** Whom something belongs to; both are null only for facts of the installation itself. */
export interface Owner {
  readonly accountId: string | null;
  readonly environment: Environment | null;
}

/** What a request has led to so far. All contexts that come from one request share it. */
export interface Effect {
  /** Whether an event was appended or a vendor was asked. */
  done: boolean;
  /** When the vendor that turned the last call away wants to be asked again. */
  retryAfterSeconds?: number;
}

/** On whose behalf, by whom and within what a command runs; becomes the metadata of every event it leads to. */
export interface ActionContext extends Owner {
  readonly actor: Actor;
  /** The request this belongs to; `Service-Request-Id` on the wire. */
  readonly correlationId: string;
  /** Id of the event or request that caused this. */
  readonly causationId: string;
  /** The session grant that the caller's token was issued under; never stored. */
  readonly grantId?: string;
  /** The chain of platform tokens that began with one exchange, by which strangers are counted; never stored. */
  readonly lineage?: string;
  /** Absent where no request asks. Never stored. */
  readonly effect?: Effect;
  /** No caller reads the result at once: read models learn of it through their subscription only, which is much cheaper. */
  readonly skipReadYourWrites?: true;
  /** Why an operator does it; recorded with every event. It holds no personal data. */
  readonly reason?: string;
}

/** The context of a caller that belongs to an account. */
export interface CallerContext extends ActionContext {
  readonly accountId: string;
  readonly environment: Environment;
}

/**
 * Whether something is the caller's: of its account and environment, opened under its grant if it was opened under one
 * (docs/contract/server.md#sessions-of-a-grant), and of no party unless a server with an API key asks (docs/contract/platform.md#sessions-of-parties).
 * Servers with a secret key are asked for neither: they do not come here.
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

/** The context of something the service does by itself, such as a timer run. */
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
