// Calls about the authentication of a party. These calls need no reserved attempt: a question changes nothing, and a second request to end an
// authentication does no harm at the vendor.
import { Injectable } from '@nestjs/common';
import { ExternalCall, type Attempt } from '../../../external-calls/external-call.js';
import type { DeliverySemantics } from '../../../ports/vendor-call.js';
import {
  IdentityVendor,
  type ExpiryVerdict,
  type StandingVerdict,
  type VendorCall,
} from '../../../ports/identity-vendor.js';
import type { Reference } from '../domain/party.js';
import { PartyReferences } from './party-references.js';
import { PartySecrets } from './party-secrets.js';

type Verdict = StandingVerdict | ExpiryVerdict;
/** The kind of the vendor's answer. The vault stores the answer itself, if the vendor gave one. */
type End = Verdict['kind'];

@Injectable()
export abstract class AuthenticationCall extends ExternalCall<Reference, End> {
  override readonly vendor = 'identity-vendor';

  constructor(
    protected readonly identityVendor: IdentityVendor,
    private readonly references: PartyReferences,
    private readonly secrets: PartySecrets,
  ) {
    super();
  }

  override async askAndRecord(
    call: VendorCall,
    { id: partyId, attemptId }: Attempt,
    reference: Reference,
  ): Promise<End> {
    const token = await this.references.tokenOf(partyId, reference);
    if (token === null) return 'unavailable';
    const verdict = await this.ask(call, token);
    if (verdict.kind !== 'timed-out') await this.secrets.keepAnswer(reference, partyId, attemptId, verdict);
    return verdict.kind;
  }

  override async recordNotAsked(): Promise<End> {
    return 'unavailable';
  }

  protected abstract ask(call: VendorCall, token: string): Promise<Verdict>;
}

@Injectable()
export class AskForStanding extends AuthenticationCall {
  override readonly operation = 'authenticationStatus';
  override readonly semantics: DeliverySemantics = 'query';

  protected override ask(call: VendorCall, token: string): Promise<Verdict> {
    return this.identityVendor.authenticationStatus(call, token);
  }
}

@Injectable()
export class EndAuthentication extends AuthenticationCall {
  override readonly operation = 'expireAuthentication';
  override readonly semantics: DeliverySemantics = 'idempotent';

  protected override ask(call: VendorCall, token: string): Promise<Verdict> {
    return this.identityVendor.expireAuthentication(call, token);
  }
}
