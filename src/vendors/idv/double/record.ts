// What the vendor remembers beside its calls: sessions by token, and persons that it turned away once.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { CallRecord, type Execution } from '../../../vendor-kit/double/call-record.js';
import type { Subject } from './subject.js';

export const OPERATIONS = ['registration', 'otp', 'otp-resend', 'kba', 'report'] as const;
export type Operation = (typeof OPERATIONS)[number];

export interface Session {
  readonly token: string;
  readonly persona: string;
  readonly wrongAnswers: number;
  /** Milliseconds since 1970. */
  readonly lockedUntil: number | null;
  /** Answered rightly, or never open for an answer. */
  readonly over: boolean;
  /** The person was confirmed, which entitles to reports. */
  readonly verified: boolean;
  readonly subject: Subject;
}

/** Kept in the journal: no personal data. A person who was turned away is there as a keyed digest. */
export type Effect = { readonly session: Session } | { readonly turnedAway: string };

export type IdentityExecution = Execution<Effect>;

export class VendorRecord extends CallRecord<Operation, Effect> {
  private readonly sessions: Map<string, Session>;
  private readonly turnedAway: Set<string>;

  constructor(folder: string) {
    const sessions = new Map<string, Session>();
    const turnedAway = new Set<string>();
    super(
      join(folder, 'identity-vendor.jsonl'),
      OPERATIONS,
      (effect) => {
        if ('session' in effect) sessions.set(effect.session.token, effect.session);
        else turnedAway.add(effect.turnedAway);
      },
      // A report is billed once per key, so a client that does not know the end of a call asks again.
      ['report'],
    );
    this.sessions = sessions;
    this.turnedAway = turnedAway;
  }

  session(token: string): Session | null {
    return this.sessions.get(token) ?? null;
  }

  /** True the first time for a person. */
  turnAwayOnce(person: string): boolean {
    if (this.turnedAway.has(person)) return false;
    this.note({ turnedAway: person });
    return true;
  }
}

export function newSession(opened: Pick<Session, 'persona' | 'over' | 'verified' | 'subject'>): Session {
  return { token: `vs_${randomUUID().replaceAll('-', '')}`, wrongAnswers: 0, lockedUntil: null, ...opened };
}
