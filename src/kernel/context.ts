import type { Actor } from './actor.js';
import type { Environment } from './environment.js';
import { newId } from './ids.js';

/** On whose behalf, by whom and within what a command runs; becomes the metadata of every event it leads to. */
export interface ActionContext {
  readonly accountId: string | null;
  readonly environment: Environment | null;
  readonly actor: Actor;
  /** The request this belongs to; `X-Request-Id` on the wire. */
  readonly correlationId: string;
  /** Id of the event or request that caused this. */
  readonly causationId: string;
  /** The session grant that the caller's token was issued under; never stored. */
  readonly grantId?: string;
  /** Nobody waits to read what comes of it: read models learn of it through their subscription only, which is much cheaper. */
  readonly skipReadYourWrites?: true;
}

/** Whether who asks may touch what was opened under a grant, if under one (decisions 11.5). Servers with a secret key are asked for no grant. */
export function isOpenTo(
  { grantId }: { readonly grantId?: string | null },
  caller: Pick<ActionContext, 'grantId'>,
): boolean {
  return grantId === undefined || grantId === null || grantId === caller.grantId;
}

/** The context of something the service does by itself, such as a timer run. */
export function systemContext(part: string, of: Pick<ActionContext, 'accountId' | 'environment'>): ActionContext {
  const correlationId = newId();
  return {
    accountId: of.accountId,
    environment: of.environment,
    actor: { kind: 'system', id: part },
    correlationId,
    causationId: correlationId,
  };
}
