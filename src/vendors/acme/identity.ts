// The identity vendor acme over HTTP, for workers. identity-wire.ts has the wire format.
import {
  type AnswerVerdict,
  type Applicant,
  IdentityVendor,
  type NoVerdict,
  type PastOutcome,
  type RegistrationVerdict,
  type ResendVerdict,
  type SessionOver,
  type VendorCall,
} from '../../ports/identity-vendor.js';
import type { Reading } from '../../vendor-kit/http/answer.js';
import type { Conversation, VendorClient } from '../../vendor-kit/http/client.js';
import { type Accepted, type Settled, about, follow } from './accepted.js';
import {
  type Past,
  type Session,
  answersBody,
  isProcessing,
  readAccepted,
  readAnswer,
  pastReader,
  readResend,
  readVerification,
  sessionOf,
  verificationBody,
  verificationPath,
} from './identity-wire.js';
import { referenceOf } from './notices.js';

const ANSWER: Reading<AnswerVerdict, Past> = {
  fromAnswer: readAnswer,
  fromPast: (past) => (past.kind === 'answer' ? past.verdict : null),
};
const RESEND: Reading<ResendVerdict, Past> = {
  fromAnswer: readResend,
  fromPast: (past) => (past.kind === 'resend' ? past.verdict : null),
};

/**
 * Sends each request that begins or answers a verification once. If an answer is lost, the adapter asks for the outcome of its key. The vendor accepts
 * a verification with 202, and the adapter looks for the result within the same time limit.
 */
export class AcmeIdentityVendor extends IdentityVendor {
  constructor(
    private readonly client: VendorClient,
    private readonly workflow: string,
  ) {
    super();
  }

  override register(call: VendorCall, applicant: Applicant): Promise<RegistrationVerdict> {
    const request = {
      method: 'POST',
      path: '/v1/verifications',
      json: verificationBody(applicant, { workflow: this.workflow, reference: referenceOf(call) }),
    } as const;
    return this.client.within(call, async (acme) => {
      const accepted = await acme.sendOnce<Accepted | RegistrationVerdict>(request, readAccepted, async () =>
        settled(await ask(acme, call), (past) => (past.kind === 'verification' ? past.then : null)),
      );
      return accepted.kind === 'accepted' ? verdictIn(await look(acme, accepted)) : accepted;
    });
  }

  override verifyOtp(call: VendorCall, vendorSession: string, code: string): Promise<AnswerVerdict> {
    return this.send(call, vendorSession, ANSWER, () => ({ to: 'code', json: { code } }));
  }

  override resendOtp(call: VendorCall, vendorSession: string): Promise<ResendVerdict> {
    return this.send(call, vendorSession, RESEND, () => ({ to: 'code/resend', json: {} }));
  }

  override verifyKba(
    call: VendorCall,
    vendorSession: string,
    answers: readonly { readonly questionId: number; readonly answerId: number }[],
  ): Promise<AnswerVerdict> {
    return this.send(call, vendorSession, ANSWER, ({ keys }) => ({ to: 'answers', json: answersBody(keys, answers) }));
  }

  override outcomeOf(call: VendorCall, vendorSession?: string): Promise<PastOutcome> {
    const reviewed = vendorSession === undefined ? null : sessionOf(vendorSession);
    return this.client.within(call, async (acme): Promise<PastOutcome> => {
      const past = reviewed === null ? await ask(acme, call) : begun(reviewed);
      if (past.kind !== 'verification') return past;
      if (past.then.kind !== 'accepted') return { kind: 'registration', verdict: past.then };
      const found = await look(acme, past.then);
      return found.kind === 'settled' ? { kind: 'registration', verdict: found.verdict } : found;
    });
  }

  private async send<Verdict extends { readonly kind: string }>(
    call: VendorCall,
    vendorSession: string,
    { fromAnswer, fromPast }: Reading<Verdict, Past>,
    write: (session: Session) => { readonly to: string; readonly json: object },
  ): Promise<Verdict | NoVerdict | SessionOver> {
    const session = sessionOf(vendorSession);
    if (session === null) return { kind: 'session-over' };
    const { to, json } = write(session);
    const request = { method: 'POST', path: `${verificationPath(session.id)}/${to}`, json } as const;
    return this.client.within(call, (acme) =>
      acme.sendOnce<Verdict>(request, about(session.id, fromAnswer), async () =>
        settled(await ask(acme, call, session.id), fromPast),
      ),
    );
  }
}

/** `id`: the verification that the attempt was about. */
function ask(acme: Conversation, { attemptId }: VendorCall, id?: string): Promise<Past | NoVerdict> {
  const read = pastReader(id === undefined ? undefined : (reader) => about(id, reader));
  return acme.ask({ method: 'GET', path: `/v1/requests/${encodeURIComponent(attemptId)}` }, read);
}

/** The verdict of an interrupted request. The vendor may still execute a request whose key it does not know yet. */
function settled<Verdict>(past: Past | NoVerdict, verdictOf: (past: Past) => Verdict | null): Verdict | NoVerdict {
  const known = isPast(past) ? verdictOf(past) : null;
  return known ?? { kind: 'timed-out' };
}

function isPast(past: Past | NoVerdict): past is Past {
  return past.kind !== 'unavailable' && past.kind !== 'timed-out' && past.kind !== 'unintelligible';
}

function begun({ id }: Session): Extract<Past, { kind: 'verification' }> {
  return { kind: 'verification', then: { kind: 'accepted', path: verificationPath(id) } };
}

function look(acme: Conversation, accepted: Accepted): Promise<Settled<RegistrationVerdict> | NoVerdict> {
  return follow(acme, accepted, readVerification, isProcessing);
}

function verdictIn(found: Settled<RegistrationVerdict> | NoVerdict): RegistrationVerdict {
  return found.kind === 'settled' ? found.verdict : found;
}
