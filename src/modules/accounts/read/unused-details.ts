import { Injectable } from '@nestjs/common';
import { exhaustiveEvents, type Projection } from '../../../kernel/projection.js';
import { ReadModels } from '../../../ports/read-models.js';
import { sessionGrant, type SessionGrantEvent } from '../domain/session-grant.js';

const known = exhaustiveEvents<SessionGrantEvent>('unused_grant_details', {
  GrantMinted: true,
  GrantConsumed: true,
  GrantSessionBegun: true,
  GrantDetailsEntrusted: true,
  GrantDetailsHeld: true,
  GrantDetailsErased: true,
});

/** Grants whose details have not moved to a session. The details of a grant are due when the grant expires, unless a legal hold has kept them. */
export const unusedDetails: Projection<{ readonly expiresAt: string | null }> = {
  name: 'unused_grant_details',
  version: 5,
  category: sessionGrant.category,

  evolve(doc, stored) {
    const event = known(stored);
    switch (event.type) {
      case 'GrantMinted':
        return { expiresAt: event.data.detailsSubject === null ? null : event.data.expiresAt };
      case 'GrantConsumed':
      case 'GrantSessionBegun':
        return doc ?? { expiresAt: null };
      case 'GrantDetailsEntrusted':
      case 'GrantDetailsHeld':
      case 'GrantDetailsErased':
        return { expiresAt: null };
      default:
        return event satisfies never;
    }
  },

  view: ({ expiresAt }) => ({ expiresAt }),
  dueAt: ({ expiresAt }) => expiresAt,
};

@Injectable()
export class UnusedDetails {
  constructor(private readonly readModels: ReadModels) {}

  /** The ids of grants with such details that expired at `expiry` or before, the earliest first. */
  of(expiry: Date, limit: number): Promise<string[]> {
    return this.readModels.due(unusedDetails, expiry, limit);
  }
}
