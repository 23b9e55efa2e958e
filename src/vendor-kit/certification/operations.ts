// The operations of a vendor's certification that are about a person, for each persona.
import { randomUUID } from 'node:crypto';
import type { Applicant } from '../../kernel/applicant.js';
import type { Capability } from '../../kernel/vendor-choice.js';
import type { UserAction } from '../../kernel/user-action.js';
import type { KnownPerson, VendorSubject } from '../../kernel/vendor-subject.js';
import type { KbaQuestion } from '../../ports/identity-vendor.js';
import type { DeliverySemantics, VendorCall } from '../../ports/vendor-call.js';
import type { OpenVendor, Vendor, VendorPorts } from '../define-vendor.js';
import type { Charge, CheckoutSession, PaymentIntent } from '../../ports/payment-processor.js';
import type { CertifiedDouble, CertifiedPersona, ExpectedVerdict } from '../double/certified-double.js';

export interface Verdict {
  readonly kind: string;
  readonly vendorSession?: string;
  readonly personToken?: string;
  readonly kba?: readonly KbaQuestion[] | null;
  readonly retryAfterSeconds?: number;
  readonly reply?: object;
  readonly report?: object;
  readonly intent?: PaymentIntent;
  readonly session?: CheckoutSession;
  readonly open?: UserAction['open'];
  readonly until?: string;
}

/** Makes the call whose verdict is judged. */
export type Act = (adapters: OpenVendor, call: VendorCall) => Promise<Verdict>;
/** Asks for the verdict after the person has acted. */
export type Again = (adapters: OpenVendor, call: VendorCall, needsUser: Verdict) => Promise<Verdict>;

export interface Operation {
  readonly capability: Capability;
  /** The name of the port's operation, and the persona or the answer. */
  readonly method: string;
  readonly name: string;
  readonly semantics: DeliverySemantics;
  readonly expected: ExpectedVerdict;
  /** The person whose own data are sent. */
  readonly applicant?: Partial<Applicant>;
  /** The charge that is sent. */
  readonly charge?: Charge;
  /** Absent if the operation itself asks again. */
  readonly again?: Again;
  /** Makes the earlier calls, without faults. */
  prepare(adapters: OpenVendor): Promise<Act>;
}

/** The values are rare, so that they can be searched for. Day and month of the birth date can be exchanged. */
export const PERSON: Applicant = {
  userType: 'CONSUMER',
  firstName: 'Quillonora',
  lastName: 'Ordinarius',
  dateOfBirth: '04071983',
  ssn: '666127843',
  phoneNumber: '2025550187',
  phoneType: 'C',
  email: 'quillonora.certified@example.test',
  address: { street: '4711 Canarywharf Lane', city: 'Springfield', state: 'IL', zip: '62704' },
  ipAddress: '203.0.113.77',
  jscPayload: 'fingerprint-of-a-certified-device',
  termsAcceptedAt: '2026-01-02T03:04:05.678Z',
};

/** Verdicts that give a person, a file or money to the caller. An answer that was changed must never lead to one of them. */
const GRANTING: ReadonlySet<string> = new Set(['confirmed', 'report', 'completed', 'refunded']);

export function grants({ kind, intent, session }: ExpectedVerdict | Verdict): boolean {
  return GRANTING.has(kind) || fits({ status: 'succeeded' }, intent) || fits({ status: 'complete' }, session);
}

function subjectOf(person: KnownPerson): VendorSubject {
  return {
    person,
    purpose: 'TENANT_SCREENING',
    endUserType: 'INDEPENDENT_OWNER',
    askedBy: 'account-of-certification',
    consent: { acceptedAt: PERSON.termsAcceptedAt ?? null, termsVersion: '1' },
  };
}

const ofSession = (token: string): VendorSubject => subjectOf({ kind: 'session', token });

export function newCall(): VendorCall {
  const [attemptId, correlationId] = [randomUUID(), randomUUID()];
  return { attemptId, correlationId, environment: 'test', subject: null, accountId: 'account-of-certification' };
}

export function personOf({ person }: CertifiedPersona): Applicant {
  return { ...PERSON, ...person };
}

/** Whether the verdict has every expected fact. */
export function fits(expected: unknown, actual: unknown): boolean {
  if (typeof expected !== 'object' || expected === null) return Object.is(expected, actual);
  if (typeof actual !== 'object' || actual === null) return false;
  return Object.entries(expected).every(([name, value]) => fits(value, (actual as Record<string, unknown>)[name]));
}

export function wordsOf({ kind, ...facts }: ExpectedVerdict): string {
  const words = Object.values(facts).filter((fact) => typeof fact === 'string');
  return [kind, ...words].join(' ');
}

/** A preparation that did not succeed. The message has no personal data. */
export class NotPrepared extends Error {
  override readonly name = 'NotPrepared';
}

/** The operations of the ports that are about a person. */
export function personOperations(
  vendor: Vendor,
  double: CertifiedDouble,
  personas: readonly CertifiedPersona[],
): readonly Operation[] {
  return [
    ...identityOperations(vendor, double, personas),
    ...creditOperations(vendor, personas),
    ...incomeOperations(vendor, personas),
  ];
}

export function port<Name extends Capability>(adapters: OpenVendor, capability: Name): VendorPorts[Name] {
  const adapter = adapters[capability];
  if (adapter === undefined) throw new NotPrepared(`the vendor opens no adapter for ${capability}`);
  return adapter as VendorPorts[Name];
}

async function registered(adapters: OpenVendor, persona: CertifiedPersona): Promise<Verdict> {
  const verdict: Verdict = await port(adapters, 'identity').register(newCall(), personOf(persona));
  if (fits(persona.registration, verdict)) return verdict;
  throw new NotPrepared(`the registration was answered with ${verdict.kind}`);
}

/** The reference of a confirmed person. */
const referenceOf = ({ personToken, vendorSession = '' }: Verdict): string => personToken ?? vendorSession;

function identityOperations(
  { capabilities: { identity } }: Vendor,
  { code, answers }: CertifiedDouble,
  personas: readonly CertifiedPersona[],
): readonly Operation[] {
  if (identity === undefined) return [];
  const known = personas.filter(({ registration }) => registration !== undefined);
  const named = (method: keyof VendorPorts['identity'], name: string, expected: ExpectedVerdict) => {
    const { [method]: semantics = 'query' } = identity.operations;
    return { capability: 'identity', method, name: `${method}: ${name}`, semantics, expected } as const;
  };
  const first = known.find(({ registration }) => registration?.kind === 'confirmed');
  const asked = known.find(({ registration }) => registration?.kind === 'step-up' && registration.otp === true);
  const quizzed = known.find(({ registration }) => registration?.kind === 'step-up' && registration.kba !== null);
  const operations: Operation[] = known.map((persona) => ({
    ...named('register', wordsOf(persona.registration ?? { kind: '' }), persona.registration ?? { kind: '' }),
    applicant: personOf(persona),
    again: async (adapters, call, { vendorSession }) => {
      const past = await port(adapters, 'identity').outcomeOf(call, vendorSession);
      return past.kind === 'registration' ? past.verdict : { kind: past.kind };
    },
    prepare: async () => (adapters, call) => port(adapters, 'identity').register(call, personOf(persona)),
  }));
  const challenged = (
    persona: CertifiedPersona,
    act: (adapters: OpenVendor, call: VendorCall, challenge: Verdict) => Promise<Verdict>,
  ): Operation['prepare'] => {
    return async (before) => {
      const challenge = await registered(before, persona);
      return (adapters, call) => act(adapters, call, challenge);
    };
  };
  if (asked !== undefined && code !== undefined) {
    const otp = (given: string): Operation['prepare'] =>
      challenged(asked, (adapters, call, { vendorSession = '' }) =>
        port(adapters, 'identity').verifyOtp(call, vendorSession, given),
      );
    operations.push(
      { ...named('verifyOtp', 'right', { kind: 'confirmed' }), prepare: otp(code.right) },
      { ...named('verifyOtp', 'wrong', { kind: 'wrong' }), prepare: otp(code.wrong) },
      {
        ...named('resendOtp', 'sent', { kind: 'sent' }),
        prepare: challenged(asked, (adapters, call, { vendorSession = '' }) =>
          port(adapters, 'identity').resendOtp(call, vendorSession),
        ),
      },
    );
  }
  if (quizzed !== undefined && answers !== undefined) {
    const kba = (right: boolean): Operation['prepare'] =>
      challenged(quizzed, (adapters, call, { vendorSession = '', kba: questions }) =>
        port(adapters, 'identity').verifyKba(call, vendorSession, answers(questions ?? [], right)),
      );
    operations.push(
      { ...named('verifyKba', 'right', { kind: 'confirmed' }), prepare: kba(true) },
      { ...named('verifyKba', 'wrong', { kind: 'wrong' }), prepare: kba(false) },
    );
  }
  const device = { jscPayload: PERSON.jscPayload };
  for (const persona of known.filter(({ reauthentication }) => reauthentication !== undefined)) {
    const known = (act: (adapters: OpenVendor, call: VendorCall, token: string) => Promise<Verdict>) =>
      challenged(persona, (adapters, call, confirmed) => act(adapters, call, referenceOf(confirmed)));
    operations.push(
      {
        ...named('reauthenticate', 'again', persona.reauthentication ?? { kind: '' }),
        prepare: known((adapters, call, token) => port(adapters, 'identity').reauthenticate(call, token, device)),
      },
      {
        ...named('authenticationStatus', 'known', { kind: 'standing' }),
        prepare: known((adapters, call, token) => port(adapters, 'identity').authenticationStatus(call, token)),
      },
      {
        ...named('expireAuthentication', 'known', { kind: 'expired' }),
        prepare: known((adapters, call, token) => port(adapters, 'identity').expireAuthentication(call, token)),
      },
    );
  }
  if (identity.outcomes !== 'none' && first !== undefined) {
    const past = { kind: 'registration', verdict: { kind: 'confirmed' } };
    const outcome = (call: VendorCall): Act => {
      return (adapters, asking) => port(adapters, 'identity').outcomeOf({ ...asking, attemptId: call.attemptId });
    };
    operations.push(
      {
        ...named('outcomeOf', 'registered', past),
        prepare: async (adapters) => {
          const call = newCall();
          await port(adapters, 'identity').register(call, personOf(first));
          return outcome(call);
        },
      },
      { ...named('outcomeOf', 'never received', { kind: 'not-executed' }), prepare: async () => outcome(newCall()) },
    );
  }
  return operations;
}

function creditOperations(
  { capabilities: { credit } }: Vendor,
  personas: readonly CertifiedPersona[],
): readonly Operation[] {
  if (credit === undefined) return [];
  return personas.flatMap((persona): readonly Operation[] => {
    const { report, reference = '', registration } = persona;
    if (report === undefined) return [];
    const { ipAddress: _ip, jscPayload: _jsc, hdimPayload: _hdim, ...applicant } = personOf(persona);
    const asPerson = credit.needs === 'applicant';
    const subject = async (before: OpenVendor): Promise<VendorSubject> => {
      if (asPerson) return subjectOf({ kind: 'applicant', applicant });
      return ofSession(registration === undefined ? reference : referenceOf(await registered(before, persona)));
    };
    return [
      {
        capability: 'credit',
        method: 'pullReport',
        name: `pullReport: ${wordsOf(report)}`,
        semantics: credit.operations.pullReport,
        expected: report,
        ...(asPerson && { applicant }),
        prepare: async (before) => {
          const about = await subject(before);
          return (adapters, call) => port(adapters, 'credit').pullReport(call, about);
        },
      },
    ];
  });
}

function incomeOperations(
  { capabilities: { income } }: Vendor,
  personas: readonly CertifiedPersona[],
): readonly Operation[] {
  if (income === undefined) return [];
  return personas.flatMap((persona): readonly Operation[] => {
    const { income: wanted, reference } = persona;
    if (wanted === undefined) return [];
    const { route, verdict: expected } = wanted;
    const { ipAddress: _ip, jscPayload: _jsc, hdimPayload: _hdim, ...applicant } = personOf(persona);
    const asPerson = income.needs === 'applicant';
    const subject = asPerson ? subjectOf({ kind: 'applicant', applicant }) : reference ? ofSession(reference) : null;
    const words = `${route.toLowerCase()}, ${wordsOf(expected)}`;
    return [
      {
        capability: 'income',
        method: 'start',
        name: `start: ${words}`,
        semantics: income.operations.start,
        expected: { kind: 'started' },
        ...(asPerson && { applicant }),
        prepare: async () => (adapters, call) => port(adapters, 'income').start(call, route, subject),
      },
      {
        capability: 'income',
        method: 'outcomeOf',
        name: `outcomeOf: ${words}`,
        semantics: income.operations.outcomeOf,
        expected,
        prepare: async (before) => {
          const started = await port(before, 'income').start(newCall(), route, subject);
          if (started.kind !== 'started') throw new NotPrepared(`the inquiry was answered with ${started.kind}`);
          return (adapters, call) => port(adapters, 'income').outcomeOf(call, started.inquiry);
        },
      },
    ];
  });
}
