// Describes known callers for the events of their requests: the token, the origin, and keyed hashes of the address and the user agent.
import { createHmac } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { AskedBy, Caller } from '../../kernel/asked-by.js';
import type { Vault } from '../../ports/vault.js';

/** Separates the hashes from every other keyed hash of the installation. */
const KEY = 'asked-by';

/** A request never fails because its caller cannot be described. While the vault is unavailable, its events have no hashes. */
export function describeCallers(fastify: FastifyInstance, vault: Pick<Vault, 'installationKey'>): void {
  fastify.addHook('preHandler', async (request) => {
    if (request.principal !== undefined) request.askedBy = await askedBy(request, vault);
  });
}

async function askedBy(request: FastifyRequest, vault: Pick<Vault, 'installationKey'>): Promise<AskedBy> {
  const { tokenId, origin } = request.principal ?? {};
  return {
    ...(tokenId !== undefined && { tokenId }),
    ...(origin !== undefined && { origin }),
    ...(await hashesOf(callerOf(request), vault)),
  };
}

async function hashesOf({ address, agent }: Caller, vault: Pick<Vault, 'installationKey'>): Promise<AskedBy> {
  const key = await vault.installationKey(KEY).catch(() => null);
  if (key === null) return {};
  const hashOf = (text: string): string => createHmac('sha256', key).update(text).digest('base64url').slice(0, 22);
  return { addressHash: hashOf(`address ${address}`), ...(agent !== null && { agentHash: hashOf(`agent ${agent}`) }) };
}

/** The longest user agent that is kept. */
const MAX_AGENT_LENGTH = 512;

export function callerOf({ ip, headers }: Pick<FastifyRequest, 'ip' | 'headers'>): Caller {
  return { address: ip, agent: headers['user-agent']?.slice(0, MAX_AGENT_LENGTH) ?? null };
}
