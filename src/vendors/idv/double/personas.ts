// The published personas (docs/sandbox.md), chosen by last name and middle name, with the sandbox's behaviour for each.
import type { Fault } from '../../../vendor-kit/double/vendor-calls.js';
import { codeAskedFor } from './codes-asked-for.js';

export type Persona = {
  /** The journal stores the name, because the session outlives the registration call. So never rename a persona. */
  readonly name: string;
} & (
  | {
      readonly reaction: 'confirm';
      /** Slow at the registration, at a re-authentication and at the report. */
      readonly slow?: true;
      readonly duplicateGuard?: true;
      /** The state of the credit file when the report is pulled: the number that it answers with, or too thin for a score. */
      readonly file?: number | 'thin';
    }
  | {
      readonly reaction: 'step-up';
      readonly otp: boolean;
      readonly kba: boolean;
      /** Locked at the first wrong answer, with the end of the lock in the reply. */
      readonly strict?: true;
      /** The session is over before it can be answered. */
      readonly expired?: true;
    }
  | { readonly reaction: 'refuse'; readonly code: number }
  | { readonly reaction: 'fault'; readonly fault: Fault | 'down-once' }
);

const PERSONAS: readonly Persona[] = [
  { name: 'otptest', reaction: 'step-up', otp: true, kba: false },
  { name: 'kbatest', reaction: 'step-up', otp: false, kba: true },
  { name: 'choicetest', reaction: 'step-up', otp: true, kba: true },
  { name: 'lockedtest', reaction: 'step-up', otp: true, kba: false, strict: true },
  { name: 'expiredtest', reaction: 'step-up', otp: true, kba: false, expired: true },
  { name: 'notfound', reaction: 'refuse', code: 3014 },
  { name: 'fraudtest', reaction: 'refuse', code: 18 },
  { name: 'sanctiontest', reaction: 'refuse', code: 2503 },
  { name: 'alerttest', reaction: 'refuse', code: 1999 },
  { name: 'deceasedtest', reaction: 'refuse', code: 3901 },
  { name: 'addresstest', reaction: 'refuse', code: 407 },
  { name: 'alreadytest', reaction: 'confirm', duplicateGuard: true },
  { name: 'frozentest', reaction: 'confirm', file: 9132 },
  { name: 'nohittest', reaction: 'confirm', file: 9193 },
  { name: 'thinfiletest', reaction: 'confirm', file: 'thin' },
  { name: 'slowtest', reaction: 'confirm', slow: true },
  // The income vendor knows these.
  { name: 'nopayrolltest', reaction: 'confirm' },
  { name: 'noincometest', reaction: 'confirm' },
  { name: 'incomeerrortest', reaction: 'confirm' },
  { name: 'slowincometest', reaction: 'confirm' },
  { name: 'timeouttest', reaction: 'fault', fault: 'silent' },
  { name: 'downtest', reaction: 'fault', fault: 'down' },
  { name: 'resettest', reaction: 'fault', fault: 'reset' },
  { name: 'redirecttest', reaction: 'fault', fault: 'redirect' },
  { name: 'garbledtest', reaction: 'fault', fault: 'garbled' },
  { name: 'flakytest', reaction: 'fault', fault: 'down-once' },
];

const BY_NAME = new Map(PERSONAS.map((persona) => [persona.name, persona]));
const ORDINARY: Persona = { name: 'ordinary', reaction: 'confirm' };

/** A middle name that asks for a number at the registration takes precedence over the last name. */
export function personaOf(names: { readonly middleName?: string; readonly lastName?: string }): Persona {
  const asked = codeAskedFor(names.middleName);
  if (asked?.step === 'registration') return { name: 'upstream-code', reaction: 'refuse', code: asked.code };
  return personaNamed(names.lastName ?? '');
}

export function personaNamed(name: string): Persona {
  return BY_NAME.get(name.trim().toLowerCase()) ?? ORDINARY;
}
