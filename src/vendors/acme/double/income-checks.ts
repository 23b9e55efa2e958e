// The income checks of acme, and the page on which a person acts. The same person always gets the same invented income.
import { randomBytes } from 'node:crypto';
import { MadeUp } from '../../../vendor-kit/double/made-up.js';
import { personaNamed } from './personas.js';

/** The journal's entry, without personal data. Times are milliseconds since 1970. */
export interface IncomeCheck {
  readonly id: string;
  readonly persona: string;
  readonly source: 'payroll' | 'bank';
  /** The client's name for the check. */
  readonly reference: string | null;
  /** The number of the invented income. */
  readonly file: number;
  readonly startedAt: number;
  /** The person's rounds that are left, and the link of the current round. */
  readonly rounds: number;
  readonly link: { readonly token: string; readonly until: number };
}

const LINK_MS = 1_800_000;
/** The persona of a check without a person. */
export const UNNAMED = 'unnamed';

type State = 'awaiting_person' | 'link_expired' | 'collecting' | 'no_record' | 'ready';

export function newCheck(
  facts: Pick<IncomeCheck, 'id' | 'persona' | 'source' | 'reference' | 'file'>,
  now: number,
): IncomeCheck {
  const persona = personaNamed(facts.persona);
  const asks = persona.is === 'approved' && persona.income === 'asks';
  const rounds = asks ? 2 : facts.persona === UNNAMED ? 1 : 0;
  return { ...facts, startedAt: now, rounds, link: newLink(now) };
}

export function newLink(now: number): IncomeCheck['link'] {
  return { token: randomBytes(24).toString('base64url'), until: now + LINK_MS };
}

/** The person has acted: the next round, or the end of the rounds. */
export function acted(check: IncomeCheck, now: number): IncomeCheck {
  return { ...check, rounds: check.rounds - 1, link: newLink(now) };
}

export function checkState(
  { persona: name, rounds, link, startedAt }: IncomeCheck,
  now: number,
  slowMs: number,
): State {
  if (rounds > 0) return now < link.until ? 'awaiting_person' : 'link_expired';
  const persona = personaNamed(name);
  if (persona.is !== 'approved') return 'ready';
  if (persona.income === 'none') return 'no_record';
  return persona.pace === 'slow' && now < startedAt + slowMs ? 'collecting' : 'ready';
}

/** `pages`: the address of the pages for persons. */
export function checkBody(check: IncomeCheck, state: State, pages: string): object {
  const { id, link, file, source, startedAt } = check;
  if (state === 'awaiting_person')
    return {
      id,
      state,
      link: linkBody(link, pages),
    };
  if (state !== 'ready') return { id, state };
  const made = new MadeUp('acme income', file);
  const today = new Date(startedAt);
  const gross = made.between(150, 900) * 1_000;
  const stub = (round: number): object => {
    const days = 5 + 14 * round;
    return { paid_on: made.daysBefore(today, days, days), gross: dollars(gross), net: dollars(gross * 0.75) };
  };
  const fromPayroll = source === 'payroll';
  return {
    id,
    state,
    jobs: [
      {
        employer: made.oneOf(['Example Logistics', 'Sample Foods', 'Specimen Health Services']),
        position: fromPayroll ? made.oneOf(['Accountant', 'Driver', 'Nurse']) : null,
        from: fromPayroll ? made.daysBefore(today, 400, 3_000) : null,
        to: null,
      },
    ],
    pay: { yearly: dollars(gross * 26), currency: 'USD', cycle: 'biweekly' },
    stubs: [0, 1, 2, 3, 4, 5].map(stub),
  };
}

export function linkBody({ token, until }: IncomeCheck['link'], pages: string): object {
  return { url: `${pages}/connect/${token}`, expires_at: new Date(until).toISOString() };
}

function dollars(cents: number): string {
  return (cents / 100).toFixed(2);
}

/** The page of a round, or the end of one. The person acts with one press of `button`. */
export function connectPage(button: string | null): string {
  const content =
    button === null
      ? '<h1>Thank you</h1><p>You can close this window.</p>'
      : `<h1>acme needs you</h1><form method="post"><button>${button}</button></form>`;
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>acme</title></head><body>${content}</body></html>`;
}
