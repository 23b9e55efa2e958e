// The identity vendor over HTTP, for workers. identity-wire.ts has the wire format.
import {
  type AnswerVerdict,
  type Applicant,
  type Device,
  type ExpiryVerdict,
  IdentityVendor,
  type NoVerdict,
  type PastOutcome,
  type ReauthenticationVerdict,
  type RegistrationVerdict,
  type ResendVerdict,
  type StandingVerdict,
  type VendorCall,
} from '../../ports/identity-vendor.js';
import { type Reading, type VendorAnswer, readerAbout } from '../../vendor-kit/http/answer.js';
import type { Conversation, VendorClient } from '../../vendor-kit/http/client.js';
import { type IdvOptions, idvClient, unlessAboutTheCall } from './dialect.js';
import {
  authenticationBody,
  authSessionIn,
  personBody,
  readAnswer,
  readExpiry,
  readOutcome,
  readReauthentication,
  readRegistration,
  readResend,
  readStanding,
  registrationBody,
} from './identity-wire.js';

const API = '/identity/v1';

const REGISTRATION: Reading<RegistrationVerdict, PastOutcome> = {
  fromAnswer: readRegistration,
  fromPast: (past) => (past.kind === 'registration' ? past.verdict : null),
};
const ANSWER: Reading<AnswerVerdict, PastOutcome> = {
  fromAnswer: readAnswer,
  fromPast: (past) => (past.kind === 'answer' ? past.verdict : null),
};
const RESEND: Reading<ResendVerdict, PastOutcome> = {
  fromAnswer: readResend,
  fromPast: (past) => (past.kind === 'resend' ? past.verdict : null),
};

const REAUTHENTICATION: Reading<ReauthenticationVerdict, PastOutcome> = {
  fromAnswer: readReauthentication,
  fromPast: (past) => (past.kind === 'reauthentication' ? past.verdict : null),
};

/** A success repeats the session of its request. */
function about<Verdict>(
  session: string,
  { fromAnswer, fromPast }: Reading<Verdict, PastOutcome>,
): Reading<Verdict, PastOutcome> {
  return { fromAnswer: readerAbout(session, authSessionIn, fromAnswer), fromPast };
}

/**
 * Sends a POST that starts or answers a session only once. When the outcome is unknown, it asks the vendor for the attempt's outcome within the same
 * time limit. Reads at most 256 kB.
 */
export class IdvIdentityVendor extends IdentityVendor {
  private readonly http: VendorClient;

  constructor(options: IdvOptions) {
    super();
    this.http = idvClient(options);
  }

  override async register(call: VendorCall, applicant: Applicant): Promise<RegistrationVerdict> {
    return this.send(call, '/registrations', registrationBody(applicant), REGISTRATION);
  }

  override async verifyOtp(call: VendorCall, vendorSession: string, code: string): Promise<AnswerVerdict> {
    return this.send(
      call,
      `/sessions/${encodeURIComponent(vendorSession)}/otp`,
      { code },
      about(vendorSession, ANSWER),
    );
  }

  override async resendOtp(call: VendorCall, vendorSession: string): Promise<ResendVerdict> {
    return this.send(
      call,
      `/sessions/${encodeURIComponent(vendorSession)}/otp/resend`,
      {},
      about(vendorSession, RESEND),
    );
  }

  override async verifyKba(
    call: VendorCall,
    vendorSession: string,
    answers: readonly { readonly questionId: number; readonly answerId: number }[],
  ): Promise<AnswerVerdict> {
    const body = { answers: answers.map(({ questionId, answerId }) => ({ questionId, answerId })) };
    return this.send(call, `/sessions/${encodeURIComponent(vendorSession)}/kba`, body, about(vendorSession, ANSWER));
  }

  override async reauthenticate(
    call: VendorCall,
    personToken: string,
    device: Partial<Device>,
  ): Promise<ReauthenticationVerdict> {
    return this.send(call, '/authentications', authenticationBody(personToken, device), REAUTHENTICATION);
  }

  override async authenticationStatus(call: VendorCall, personToken: string): Promise<StandingVerdict> {
    return this.repeatable(call, '/authentications/status', personToken, readStanding);
  }

  override async expireAuthentication(call: VendorCall, personToken: string): Promise<ExpiryVerdict> {
    return this.repeatable(call, '/authentications/expire', personToken, readExpiry);
  }

  override async outcomeOf(call: VendorCall): Promise<PastOutcome> {
    return this.http.within(call, (vendor) => this.outcome(call, vendor));
  }

  /** Lets calls in progress end, each within its time limit. */
  async close(): Promise<void> {
    await this.http.close();
  }

  private send<Verdict extends { readonly kind: string }>(
    call: VendorCall,
    path: string,
    json: object,
    reading: Reading<Verdict, PastOutcome>,
  ): Promise<Verdict | NoVerdict> {
    return this.http.within(call, (vendor) =>
      vendor.sendOnce<Verdict>({ method: 'POST', path: API + path, json }, reading.fromAnswer, () =>
        this.settle(call, reading, vendor),
      ),
    );
  }

  private repeatable<Verdict extends { readonly kind: string }>(
    call: VendorCall,
    path: string,
    personToken: string,
    read: (answer: VendorAnswer) => Verdict,
  ): Promise<Verdict | NoVerdict> {
    const request = { method: 'POST', path: API + path, json: personBody(personToken) } as const;
    return this.http.within(call, (vendor) => vendor.ask<Verdict>(request, unlessAboutTheCall(read)));
  }

  private async settle<Verdict>(
    call: VendorCall,
    reading: Reading<Verdict, PastOutcome>,
    vendor: Conversation,
  ): Promise<Verdict | NoVerdict> {
    const past = await this.outcome(call, vendor);
    if (past.kind === 'not-executed') return { kind: 'unavailable' };
    // The outcome could not be learned, so the call may have been executed.
    return reading.fromPast(past) ?? { kind: 'timed-out' };
  }

  /** The query is not repeated, because the caller asks again later. */
  private outcome(call: VendorCall, vendor: Conversation): Promise<PastOutcome> {
    const path = `${API}/outcomes/${encodeURIComponent(call.attemptId)}`;
    return vendor.sendOnce<PastOutcome>({ method: 'GET', path }, readOutcome, async () => ({ kind: 'unavailable' }));
  }
}
