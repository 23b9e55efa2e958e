// The published personas (docs/sandbox.md), chosen by last name and middle name, with the sandbox's behaviour for each.
import type { Fault } from '../../../vendor-kit/double/vendor-calls.js';
import { codeAskedFor } from './codes-asked-for.js';

export type Shown = 'eviction' | 'background' | 'bankruptcy' | 'fraud-alert' | 'active-duty' | 'new-address';

export type Persona = {
  /** The journal stores the name, because the session outlives the registration call. A persona must therefore never be renamed. */
  readonly name: string;
} & (
  | {
      readonly behaviour: 'confirm';
      /** The vendor answers slowly at the registration, at a re-authentication and at the report. */
      readonly slow?: true;
      readonly duplicateGuard?: true;
      /** The state of the credit file at the pull: the number with which it answers, or too thin for a score. */
      readonly file?: number | 'thin';
      /** An entry that the file certainly has. */
      readonly shows?: Shown;
    }
  | {
      readonly behaviour: 'step-up';
      readonly otp: boolean;
      readonly kba: boolean;
      /** The person is locked at the first wrong answer, and the reply has the end of the lock. */
      readonly strict?: true;
      /** The session ends before it can be answered. */
      readonly expired?: true;
    }
  | { readonly behaviour: 'refuse'; readonly code: number }
  | { readonly behaviour: 'fault'; readonly fault: Fault | 'down-once' }
);

const PERSONAS: readonly Persona[] = [
  { name: 'otptest', behaviour: 'step-up', otp: true, kba: false },
  { name: 'kbatest', behaviour: 'step-up', otp: false, kba: true },
  { name: 'choicetest', behaviour: 'step-up', otp: true, kba: true },
  { name: 'lockedtest', behaviour: 'step-up', otp: true, kba: false, strict: true },
  { name: 'expiredtest', behaviour: 'step-up', otp: true, kba: false, expired: true },
  { name: 'notfound', behaviour: 'refuse', code: 3014 },
  { name: 'fraudtest', behaviour: 'refuse', code: 18 },
  { name: 'sanctiontest', behaviour: 'refuse', code: 2503 },
  { name: 'alerttest', behaviour: 'refuse', code: 1999 },
  { name: 'deceasedtest', behaviour: 'refuse', code: 3901 },
  { name: 'addresstest', behaviour: 'refuse', code: 407 },
  { name: 'alreadytest', behaviour: 'confirm', duplicateGuard: true },
  { name: 'frozentest', behaviour: 'confirm', file: 9132 },
  { name: 'nohittest', behaviour: 'confirm', file: 9193 },
  { name: 'thinfiletest', behaviour: 'confirm', file: 'thin' },
  { name: 'evictiontest', behaviour: 'confirm', shows: 'eviction' },
  { name: 'backgroundtest', behaviour: 'confirm', shows: 'background' },
  { name: 'bankruptcytest', behaviour: 'confirm', shows: 'bankruptcy' },
  { name: 'fraudalerttest', behaviour: 'confirm', shows: 'fraud-alert' },
  { name: 'activedutytest', behaviour: 'confirm', shows: 'active-duty' },
  { name: 'newaddresstest', behaviour: 'confirm', shows: 'new-address' },
  { name: 'slowtest', behaviour: 'confirm', slow: true },
  // The income vendor also uses these personas.
  { name: 'nopayrolltest', behaviour: 'confirm' },
  { name: 'noincometest', behaviour: 'confirm' },
  { name: 'incomeerrortest', behaviour: 'confirm' },
  { name: 'slowincometest', behaviour: 'confirm' },
  { name: 'timeouttest', behaviour: 'fault', fault: 'silent' },
  { name: 'downtest', behaviour: 'fault', fault: 'down' },
  { name: 'resettest', behaviour: 'fault', fault: 'reset' },
  { name: 'redirecttest', behaviour: 'fault', fault: 'redirect' },
  { name: 'garbledtest', behaviour: 'fault', fault: 'garbled' },
  { name: 'flakytest', behaviour: 'fault', fault: 'down-once' },
];

const BY_NAME = new Map(PERSONAS.map((persona) => [persona.name, persona]));
const ORDINARY: Persona = { name: 'ordinary', behaviour: 'confirm' };

/** A middle name that selects a number at the registration has priority over the last name. */
export function personaOf(names: { readonly middleName?: string; readonly lastName?: string }): Persona {
  const asked = codeAskedFor(names.middleName);
  if (asked?.step === 'registration') return { name: 'upstream-code', behaviour: 'refuse', code: asked.code };
  return personaNamed(names.lastName ?? '');
}

export function personaNamed(name: string): Persona {
  return BY_NAME.get(name.trim().toLowerCase()) ?? ORDINARY;
}
