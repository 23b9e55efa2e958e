import type { Device } from '../../kernel/applicant.js';
import { ExternalCall, type Attempt } from '../../external-calls/external-call.js';
import type { AggregateStore } from '../../platform/aggregates/aggregate-store.js';
import type { IdentityVendor, VendorCall } from '../../ports/identity-vendor.js';
import type { AnswerLimit } from '../domain/answer-limit.js';
import type { AskCommand, KbaAnswer } from '../domain/challenge.js';
import type { ChallengeHolder } from './challenge-holder.js';
import type { Attempted, ChallengeRecorder } from './challenge-recorder.js';
import type { VendorVerdict } from './vendor-verdict.js';

/** The input of a call to the vendor. */
export type CallInput =
  | { readonly kind: 'otp'; readonly code: string }
  | { readonly kind: 'kba'; readonly answers: readonly KbaAnswer[] }
  | { readonly kind: 'resend' }
  | { readonly kind: 'start'; readonly device: Partial<Device> };

/** The input for a command that the domain has accepted. */
export function inputOf(command: AskCommand): CallInput {
  switch (command.kind) {
    case 'answer-otp':
      return { kind: 'otp', code: String(command.code) };
    case 'answer-kba': {
      const answers = command.answers as readonly KbaAnswer[];
      return { kind: 'kba', answers: answers.map(({ questionId, answerId }) => ({ questionId, answerId })) };
    }
    case 'resend-otp':
      return { kind: 'resend' };
    default:
      return command satisfies never;
  }
}

/** The calls to the identity vendor about the challenges of one kind of holder. */
export abstract class ChallengeCall<State, Limit extends AnswerLimit = AnswerLimit> extends ExternalCall<CallInput> {
  override readonly vendor = 'identity-vendor';
  override readonly semantics = 'at-most-once';

  protected abstract readonly holder: ChallengeHolder<State, Limit>;

  constructor(
    private readonly aggregates: AggregateStore,
    private readonly identityVendor: IdentityVendor,
    private readonly recorder: ChallengeRecorder,
  ) {
    super();
  }

  override async askAndRecord(call: VendorCall, attempt: Attempt, input: CallInput): Promise<void> {
    const attempted = await this.attempted(attempt);
    // The attempt has ended, because another answer of the person ended the holder or the recovery job has settled it.
    if (this.holder.read(attempted.known.state)?.call?.attemptId !== attempt.attemptId)
      return this.recorder.notExecuted(this.holder, attempted);
    const token = await this.holder.tokenOf(attempt.id, attempted.known.state);
    // The person was erased in the meantime.
    const verdict = token === null ? ({ kind: 'session-over' } as const) : await this.ask(call, token, input);
    await this.recorder.record(this.holder, attempted, verdict);
  }

  override async recordNotAsked(attempt: Attempt): Promise<void> {
    await this.recorder.record(this.holder, await this.attempted(attempt), { kind: 'unavailable' });
  }

  private ask(call: VendorCall, token: string, input: CallInput): Promise<VendorVerdict> {
    switch (input.kind) {
      case 'otp':
        return this.identityVendor.verifyOtp(call, token, input.code);
      case 'kba':
        return this.identityVendor.verifyKba(call, token, input.answers);
      case 'resend':
        return this.identityVendor.resendOtp(call, token);
      case 'start':
        return this.identityVendor.reauthenticate(call, token, input.device);
      default:
        input satisfies never;
        throw new Error('The input of a call is of an unknown kind');
    }
  }

  private async attempted({ id, attemptId, context }: Attempt): Promise<Attempted<State>> {
    return { id, attemptId, context, known: await this.aggregates.load(this.holder.decider, id) };
  }
}
