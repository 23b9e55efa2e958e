// The reply of the direct API to the result of a use case about a party.
import { expect } from '@jest/globals';
import { DomainError } from '../../src/kernel/domain-error.js';
import type { PartyAnswer } from '../../src/modules/parties/application/party-answer.js';
import { SURFACES } from '../../src/surfaces/all.js';

export interface DirectReply {
  readonly status: number;
  readonly payload: unknown;
  readonly errors: readonly unknown[];
}

export async function directReply(answered: Promise<PartyAnswer>): Promise<DirectReply> {
  try {
    const { json, accepted } = await answered;
    return { status: accepted ? 200 : 422, payload: JSON.parse(json), errors: [] };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    const { status, body } = SURFACES.reply(error, { id: 'request', url: '/api/idv/agents/a' });
    const told = (typeof body === 'string' ? JSON.parse(body) : body) as Omit<DirectReply, 'status'>;
    return { status, ...told };
  }
}

/** The reply when the vendor refuses a request. */
export function refusedWith(status: number, errorCode: number, errorOnField: string | null = null): object {
  return { status, payload: null, errors: [expect.objectContaining({ errorCode, errorOnField })] };
}
