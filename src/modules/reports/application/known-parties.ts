import { Injectable } from '@nestjs/common';
import type { CallerContext } from '../../../kernel/context.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { Parties, type PartyFacts, type PartyKind } from '../../../published/parties.js';

/** A party that reports are linked to, by the integrator's id. */
export interface NamedParty {
  readonly kind: Exclude<PartyKind, 'renter'>;
  readonly id: string;
}

/** Finds the parties that a request names. Throws when the account has no such party. */
@Injectable()
export class KnownParties {
  constructor(private readonly parties: Parties) {}

  async renter(id: string, context: CallerContext): Promise<PartyFacts> {
    const renter = await this.parties.find('renter', id, context);
    if (!renter) throw new DomainError('party.renter_unknown');
    return renter;
  }

  async recipient({ kind, id }: NamedParty, context: CallerContext): Promise<PartyFacts> {
    const recipient = await this.parties.find(kind, id, context);
    if (!recipient) throw new DomainError('party.recipient_unknown');
    return recipient;
  }
}

/** A party that wrong answers have locked gets no report until the lock ends. */
export function refuseLocked({ lockedUntil }: PartyFacts): void {
  if (lockedUntil !== null) throw new DomainError('party.locked', { blockedUntil: lockedUntil });
}
