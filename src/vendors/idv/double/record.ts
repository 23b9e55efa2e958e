// The vendor's record other than its calls: sessions and persons by token, and persons that it rejected once.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { type Answer, CallRecord, type Execution } from '../../../vendor-kit/double/call-record.js';
import { type Details, PersonTokens } from './person-tokens.js';
import type { Subject } from './subject.js';

export const OPERATIONS = ['registration', 'otp', 'otp-resend', 'kba', 'reauthentication', 'expiry', 'report'] as const;
export type Operation = (typeof OPERATIONS)[number];

/** A registration or re-authentication, and its challenge. */
export interface Session {
  /** `authSession` on the wire. */
  readonly token: string;
  readonly persona: string;
  readonly wrongAnswers: number;
  /** Milliseconds since 1970. */
  readonly lockedUntil: number | null;
  /** The session was answered correctly, or was never open for answers. */
  readonly over: boolean;
  readonly subject: Subject;
  /** The name in the vendor's token for the person. A registration has it after the confirmation, a re-authentication from the beginning. */
  readonly userToken?: string;
  /** The methods of answering. Absent for a registration, whose persona decides. */
  readonly methods?: Methods;
  /** In journals of earlier versions: the person was confirmed, and the session's token identifies them. */
  readonly verified?: boolean;
}

export interface Methods {
  readonly otp: boolean;
  readonly kba: boolean;
}

/** A person whose identity was confirmed. */
export interface Person {
  /** The name in `UserToken` on the wire. */
  readonly token: string;
  readonly persona: string;
  readonly subject: Subject;
  /** Milliseconds since 1970. Null after the authentication was ended, and for older records without the time. */
  readonly authenticatedAt: number | null;
}

/** The journal's entry, without personal data. A person who was rejected appears as a keyed digest. */
export type Effect =
  | { readonly session: Session; readonly person?: Person }
  | { readonly person: Person }
  | { readonly turnedAway: string };

export type IdentityExecution = Execution<Effect>;

export class VendorRecord extends CallRecord<Operation, Effect> {
  private readonly sessions: Map<string, Session>;
  private readonly persons: Map<string, Person>;
  private readonly turnedAway: Set<string>;
  private readonly tokens: PersonTokens;
  /** Keyed by the token of an open challenge. The details are only in memory, so a restart loses them. */
  private readonly challenged = new Map<string, Details>();

  constructor(folder: string) {
    const sessions = new Map<string, Session>();
    const persons = new Map<string, Person>();
    const turnedAway = new Set<string>();
    super(
      join(folder, 'identity-vendor.jsonl'),
      OPERATIONS,
      (effect) => {
        if ('turnedAway' in effect) {
          turnedAway.add(effect.turnedAway);
          return;
        }
        if ('session' in effect) {
          const { session } = effect;
          sessions.set(session.token, session);
          if (session.verified === true) persons.set(session.token, personOf(session, session.token, null));
        }
        if (effect.person !== undefined) persons.set(effect.person.token, effect.person);
      },
      // A report is billed once for each key, and an authentication ends once. A client may therefore repeat these calls when it does not know their
      // end.
      ['report', 'expiry'],
    );
    this.sessions = sessions;
    this.persons = persons;
    this.turnedAway = turnedAway;
    this.tokens = new PersonTokens(this.keyFor('person tokens'));
  }

  session(token: string): Session | null {
    return this.sessions.get(token) ?? null;
  }

  person(token: string): Person | null {
    return this.persons.get(this.tokens.opened(token)?.name ?? '') ?? null;
  }

  /** Null for a token without details: a token of an earlier version, or of a challenge that outlived a restart. */
  detailsIn(token: string): Details | null {
    return this.tokens.opened(token)?.details ?? null;
  }

  /** The answer about an identity, with the details in its `UserToken`. Memory keeps the details while a challenge is open. */
  completed(answer: Answer, given: Details | null = null): Answer {
    const body: { readonly authSession?: string; readonly UserToken?: string } =
      typeof answer.body === 'string' ? {} : answer.body;
    const { authSession, UserToken } = body;
    const details = given ?? this.challenged.get(authSession ?? '');
    if (authSession === undefined || details === undefined) return answer;
    if (UserToken === undefined) {
      this.challenged.set(authSession, details);
      return answer;
    }
    this.challenged.delete(authSession);
    return isName(UserToken)
      ? { ...answer, body: { ...body, UserToken: this.tokens.sealed(UserToken, details) } }
      : answer;
  }

  /** All persons, or the persons with this SSN. */
  personsWith(ssn: string | null): readonly Person[] {
    const persons = [...this.persons.values()];
    if (ssn === null) return persons;
    const digest = this.digestOf(ssn);
    return persons.filter(({ subject }) => subject.ssnDigest === digest);
  }

  /** True the first time for a person. */
  turnAwayOnce(person: string): boolean {
    if (this.turnedAway.has(person)) return false;
    this.note({ turnedAway: person });
    return true;
  }
}

export function newSession(opened: Pick<Session, 'persona' | 'over' | 'subject' | 'userToken' | 'methods'>): Session {
  return { token: randomUUID(), wrongAnswers: 0, lockedUntil: null, ...opened };
}

export function personOf({ persona, subject }: Session, token: string, authenticatedAt: number | null): Person {
  return { token, persona, subject, authenticatedAt };
}

/** An older session's token already identifies the person to the service, so it stays the person's token. */
export function newUserToken({ token }: Session): string {
  return token.startsWith('vs_') ? token : `ut_${randomUUID().replaceAll('-', '')}`;
}

/** Whether details can be encrypted into the token: the token has none, and is not of an earlier version. */
function isName(userToken: string): boolean {
  return /^ut_[0-9a-f]+$/.test(userToken);
}
