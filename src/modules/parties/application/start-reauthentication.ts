import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { Device } from '../../../kernel/applicant.js';
import { foldedDevice } from '../../../published/folded-applicant.js';
import { Clock } from '../../../kernel/clock.js';
import type { CallerContext } from '../../../kernel/context.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { PartyAccess, type NamedParty } from './party-access.js';
import type { PartyAnswer } from './party-answer.js';
import { PartyPolicy } from './party-policy.js';
import { PartyReferences } from './party-references.js';
import { ReauthenticationService } from './reauthentication-service.js';

/** Asks the vendor for a challenge, even while the old authentication holds. This ends a challenge that is still open. */
@UseCase()
export class StartReauthentication extends Command<PartyAnswer> {
  constructor(
    readonly request: {
      readonly named: NamedParty;
      readonly attemptId: string;
      /** Never stored. */
      readonly device: Partial<Device>;
    },
    readonly context: CallerContext,
  ) {
    super();
  }
}

@Handles(StartReauthentication)
export class StartReauthenticationHandler implements ICommandHandler<StartReauthentication> {
  constructor(
    private readonly access: PartyAccess,
    private readonly references: PartyReferences,
    private readonly reauthentication: ReauthenticationService,
    private readonly policy: PartyPolicy,
    private readonly clock: Clock,
  ) {}

  async execute({ request: { named, attemptId, device }, context }: StartReauthentication): Promise<PartyAnswer> {
    const found = await this.access.find(named, context);
    const reference = await this.references.find(found.partyId, found.loaded.state, context);
    if (reference === null) throw new DomainError('party.token_missing');
    const command = {
      kind: 'reauthenticate',
      ...this.policy.attempt(attemptId, this.clock.now()),
      reference,
    } as const;
    const input = { kind: 'start', device: foldedDevice(device) } as const;
    return this.reauthentication.take(found, { command, input }, reference, context);
  }
}
