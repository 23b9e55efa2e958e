// What the vendor remembers beside its calls: sessions and persons by token, and persons that it turned away once.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { CallRecord, type Execution } from '../../../vendor-kit/double/call-record.js';
import type { Subject } from './subject.js';

export const OPERATIONS = ['registration', 'otp', 'otp-resend', 'kba', 'reauthentication', 'expiry', 'report'] as const;
export type Operation = (typeof OPERATIONS)[number];

/** A registration or re-authentication, and the challenge that it led to. */
export interface Session {
  /** `authSession` of the wire. */
  readonly token: string;
  readonly persona: string;
  readonly wrongAnswers: number;
  /** Milliseconds since 1970. */
  readonly lockedUntil: number | null;
  /** Answered rightly, or never open for an answer. */
  readonly over: boolean;
  readonly subject: Subject;
  /** By which the vendor knows the person: from the confirmation on, of a re-authentication from the beginning. */
  readonly userToken?: string;
  /** By what it can be met. Absent of a registration: what the persona says. */
  readonly methods?: Methods;
  /** In journals of earlier versions: the person was confirmed and is known by the token of the session. */
  readonly verified?: boolean;
}

export interface Methods {
  readonly otp: boolean;
  readonly kba: boolean;
}

/** Somebody whose identity was confirmed. */
export interface Person {
  /** `UserToken` of the wire. */
  readonly token: string;
  readonly persona: string;
  readonly subject: Subject;
  /** Milliseconds since 1970; null when it was ended since, or is from before the vendor took note of it. */
  readonly authenticatedAt: number | null;
}

/** Kept in the journal: no personal data. A person who was turned away is there as a keyed digest. */
export type Effect =
  | { readonly session: Session; readonly person?: Person }
  | { readonly person: Person }
  | { readonly turnedAway: string };

export type IdentityExecution = Execution<Effect>;

export class VendorRecord extends CallRecord<Operation, Effect> {
  private readonly sessions: Map<string, Session>;
  private readonly persons: Map<string, Person>;
  private readonly turnedAway: Set<string>;

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
      // A report is billed once per key, and nothing ends twice, so a client that does not know the end of a call asks again.
      ['report', 'expiry'],
    );
    this.sessions = sessions;
    this.persons = persons;
    this.turnedAway = turnedAway;
  }

  session(token: string): Session | null {
    return this.sessions.get(token) ?? null;
  }

  person(token: string): Person | null {
    return this.persons.get(token) ?? null;
  }

  /** All of them, or those with this SSN. */
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

/** A session of an earlier version, whose token the service knows the person by already, names the person as well. */
export function newUserToken({ token }: Session): string {
  return token.startsWith('vs_') ? token : `ut_${randomUUID().replaceAll('-', '')}`;
}
