// The calls to the identity vendor of a party that authenticates again. Each is made for one attempt that the party has reserved.
import { Injectable } from '@nestjs/common';
import { ExternalCall, type Attempt as ReservedAttempt } from '../../../external-calls/external-call.js';
import type { VendorReply } from '../../../kernel/vendor-reply.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import {
  IdentityVendor,
  type AnswerVerdict,
  type Device,
  type ReauthenticationVerdict,
  type ResendVerdict,
  type VendorCall,
} from '../../../ports/identity-vendor.js';
import type { Attempt } from '../domain/party.js';
import { party, pendingOf } from '../domain/party-decider.js';
import { PartyReferences } from './party-references.js';
import { PartySecrets } from './party-secrets.js';
import { ReauthenticationRecorder } from './reauthentication-recorder.js';

type Verdict = (ReauthenticationVerdict | AnswerVerdict | ResendVerdict) & { readonly reply?: VendorReply };
/** What a person who was erased meanwhile is answered: nobody is asked. */
const ERASED = { kind: 'session-over' } as const;

@Injectable()
abstract class ReauthenticationCall<Input> extends ExternalCall<Input> {
  override readonly vendor = 'identity-vendor';
  override readonly semantics = 'at-most-once';

  constructor(
    protected readonly aggregates: AggregateStore,
    protected readonly identityVendor: IdentityVendor,
    protected readonly references: PartyReferences,
    protected readonly secrets: PartySecrets,
    protected readonly recorder: ReauthenticationRecorder,
  ) {
    super();
  }

  override async askAndRecord(call: VendorCall, attempt: ReservedAttempt, input: Input): Promise<void> {
    await this.recordUnlessOver(attempt, (pending) => this.ask(call, attempt.id, pending, input));
  }

  override async recordNotAsked(attempt: ReservedAttempt): Promise<void> {
    await this.recordUnlessOver(attempt, async () => ({ kind: 'unavailable' }));
  }

  protected abstract ask(call: VendorCall, partyId: string, pending: Attempt, input: Input): Promise<Verdict>;

  /** Nothing is asked of an attempt that the recovery job has settled. */
  private async recordUnlessOver(
    { id, attemptId, context }: ReservedAttempt,
    ask: (pending: Attempt) => Promise<Verdict>,
  ): Promise<void> {
    const { state } = await this.aggregates.load(party, id);
    const pending = pendingOf(state, attemptId);
    if (pending !== null) await this.recorder.record(id, pending, await ask(pending), context);
  }
}

@Injectable()
export class AskForChallenge extends ReauthenticationCall<Partial<Device>> {
  override readonly operation = 'reauthenticate';

  protected override async ask(
    call: VendorCall,
    partyId: string,
    pending: Attempt,
    device: Partial<Device>,
  ): Promise<Verdict> {
    const token = await this.references.tokenOf(partyId, pending);
    return token === null ? ERASED : this.identityVendor.reauthenticate(call, token, device);
  }
}

@Injectable()
export class VerifyChallengeOtp extends ReauthenticationCall<{ readonly code: string }> {
  override readonly operation = 'verifyReauthenticationOtp';

  protected override async ask(
    call: VendorCall,
    partyId: string,
    { subjectId }: Attempt,
    { code }: { readonly code: string },
  ): Promise<Verdict> {
    const session = await this.secrets.challenge(subjectId, partyId);
    return session === null ? ERASED : this.identityVendor.verifyOtp(call, session, code);
  }
}

type KbaAnswers = Parameters<IdentityVendor['verifyKba']>[2];

@Injectable()
export class VerifyChallengeKba extends ReauthenticationCall<KbaAnswers> {
  override readonly operation = 'verifyReauthenticationKba';

  protected override async ask(
    call: VendorCall,
    partyId: string,
    { subjectId }: Attempt,
    answers: KbaAnswers,
  ): Promise<Verdict> {
    const session = await this.secrets.challenge(subjectId, partyId);
    return session === null ? ERASED : this.identityVendor.verifyKba(call, session, answers);
  }
}

@Injectable()
export class ResendChallengeOtp extends ReauthenticationCall<null> {
  override readonly operation = 'resendReauthenticationOtp';

  protected override async ask(call: VendorCall, partyId: string, { subjectId }: Attempt): Promise<Verdict> {
    const session = await this.secrets.challenge(subjectId, partyId);
    return session === null ? ERASED : this.identityVendor.resendOtp(call, session);
  }
}
