// Public records, background and housing court of an invented file, and the file's alerts.
import type { MadeUp } from '../../../vendor-kit/double/made-up.js';
import { type AdultLife, YEAR } from './adult-life.js';
import type { Shown } from './personas.js';
import type { Shape } from './shape.js';

const COUNTIES = ['North County', 'South County', 'East County', 'West County'] as const;

const OFFENSES = [
  ['Petty theft', 'MISDEMEANOR'],
  ['Disorderly conduct', 'MISDEMEANOR'],
  ['Driving without a license', 'INFRACTION'],
] as const;

/** Invented people have no records before they have been adults for this time. */
const RECORDLESS_DAYS = 2 * YEAR;

export interface Records {
  readonly publicRecords: readonly object[];
  readonly background: readonly object[];
  readonly housingCourt: readonly object[];
}

/** A persona's record always exists. Other records occur by chance, and a worse score makes them more likely. Newest first. */
export function records(made: MadeUp, { chances }: Shape, life: AdultLife, shows: Shown | undefined): Records {
  const byChance = (chance: number, make: () => object): object[] =>
    life.days > RECORDLESS_DAYS && made.percent(chance) ? [make()] : [];
  return {
    publicRecords:
      shows === 'bankruptcy'
        ? [bankruptcy(made, life, chances)]
        : byChance(chances.publicRecord, () => judgment(made, life)),
    background:
      shows === 'background'
        ? [offense(made, life, 'CONVICTED')]
        : byChance(chances.background, () => offense(made, life, 'DISMISSED')),
    housingCourt:
      shows === 'eviction' ? [eviction(made, life)] : byChance(chances.housingCourt, () => housingCase(made, life)),
  };
}

/** The better the score, the older the record. */
function bankruptcy(made: MadeUp, life: AdultLife, chances: Shape['chances']): object {
  const years = chances.publicRecord === 0 ? 5 : chances.publicRecord < 50 ? 3 : 1;
  return {
    type: made.oneOf(['BANKRUPTCY_CHAPTER_7', 'BANKRUPTCY_CHAPTER_13']),
    court: `${made.oneOf(COUNTIES)} Bankruptcy Court`,
    filedOn: life.dayAgo(years * YEAR, (years + 1) * YEAR),
    status: 'DISCHARGED',
    amountCents: null,
  };
}

function judgment(made: MadeUp, life: AdultLife): object {
  return {
    type: 'CIVIL_JUDGMENT',
    court: `${made.oneOf(COUNTIES)} Civil Court`,
    filedOn: life.dayAgo(YEAR, 6 * YEAR),
    status: made.oneOf(['SATISFIED', 'DISMISSED']),
    amountCents: made.between(5, 90) * 10_000,
  };
}

function offense(made: MadeUp, life: AdultLife, disposition: 'CONVICTED' | 'DISMISSED'): object {
  const [name, severity] = made.oneOf<(typeof OFFENSES)[number]>(OFFENSES);
  return {
    jurisdiction: made.oneOf(COUNTIES),
    offense: name,
    severity,
    date: life.dayAgo(YEAR, 5 * YEAR),
    disposition,
  };
}

function eviction(made: MadeUp, life: AdultLife): object {
  return {
    court: `${made.oneOf(COUNTIES)} Housing Court`,
    caseType: 'NONPAYMENT',
    filedOn: life.dayAgo(90, 400),
    outcome: 'JUDGMENT_FOR_LANDLORD',
    judgmentCents: made.between(15, 75) * 10_000,
  };
}

function housingCase(made: MadeUp, life: AdultLife): object {
  return {
    court: `${made.oneOf(COUNTIES)} Housing Court`,
    caseType: made.oneOf(['NONPAYMENT', 'HOLDOVER']),
    filedOn: life.dayAgo(YEAR, 5 * YEAR),
    outcome: made.oneOf(['DISMISSED', 'SETTLED']),
    judgmentCents: null,
  };
}

/** The bureau notes at the pull that an address differs, so this alert has no date. */
export function alerts(life: AdultLife, shows: Shown | undefined): object[] {
  switch (shows) {
    case 'fraud-alert':
      return [{ type: 'FRAUD_ALERT', date: life.dayAgo(20, 300) }];
    case 'active-duty':
      return [{ type: 'ACTIVE_DUTY', date: life.dayAgo(20, 300) }];
    case 'new-address':
      return [{ type: 'ADDRESS_MISMATCH' }];
    default:
      return [];
  }
}
