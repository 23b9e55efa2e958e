// The personas of acme: the last name of a person selects the behaviour of the double, in any letter case.

/** The methods of a challenge, in acme's words. */
export type Method = 'one_time_code' | 'questions';
/** The state of a credit file. `thin`: the file has no score. */
export type File = 'no_file' | 'frozen' | 'blocked' | 'minor' | 'disputed' | 'thin';

export type Persona = {
  /** The journal stores the name, so a persona must never be renamed. */
  readonly name: string;
} &
  /** `income`: acme's page asks the person in two rounds, or no source knows the person. */
  (
    | {
        readonly is: 'approved';
        readonly pace?: 'slow' | 'hangs';
        readonly file?: File;
        readonly income?: 'asks' | 'none';
      }
    /** `strict`: the first wrong answer locks the verification. */
    | { readonly is: 'challenged'; readonly methods: readonly Method[]; readonly strict?: true }
    | { readonly is: 'declined'; readonly reason: string }
    | { readonly is: 'failed'; readonly code: string; readonly pointer?: string }
    /** People decide, 48 hours later by the clock of the double, or when a test tells the decision. */
    | { readonly is: 'reviewed'; readonly decision: 'approved' | 'declined' }
    /** The person must show a document on acme's page. */
    | { readonly is: 'documented' }
    | { readonly is: 'refused'; readonly status: 429 | 503 }
    /** The double answers nothing and executes nothing. */
    | { readonly is: 'unanswered' }
  );

const PERSONAS: readonly Persona[] = [
  { name: 'otptest', is: 'challenged', methods: ['one_time_code'] },
  { name: 'kbatest', is: 'challenged', methods: ['questions'] },
  { name: 'choicetest', is: 'challenged', methods: ['one_time_code', 'questions'] },
  { name: 'lockedtest', is: 'challenged', methods: ['one_time_code'], strict: true },
  { name: 'notfound', is: 'declined', reason: 'identity_not_found' },
  { name: 'fraudtest', is: 'declined', reason: 'fraud_reported' },
  { name: 'sanctiontest', is: 'declined', reason: 'sanctions_hit' },
  { name: 'alerttest', is: 'declined', reason: 'watchlist_hit' },
  { name: 'deceasedtest', is: 'declined', reason: 'deceased' },
  { name: 'minortest', is: 'declined', reason: 'minor' },
  { name: 'addresstest', is: 'failed', code: 'address_unknown', pointer: '/person/address/line1' },
  { name: 'moredatatest', is: 'failed', code: 'more_data_needed' },
  { name: 'sourcetest', is: 'failed', code: 'source_unavailable' },
  { name: 'reviewtest', is: 'reviewed', decision: 'approved' },
  { name: 'reviewdeclinedtest', is: 'reviewed', decision: 'declined' },
  { name: 'slowtest', is: 'approved', pace: 'slow' },
  { name: 'latetest', is: 'approved', pace: 'hangs' },
  { name: 'frozentest', is: 'approved', file: 'frozen' },
  { name: 'blockedtest', is: 'approved', file: 'blocked' },
  { name: 'nohittest', is: 'approved', file: 'no_file' },
  { name: 'disputedtest', is: 'approved', file: 'disputed' },
  { name: 'thinfiletest', is: 'approved', file: 'thin' },
  { name: 'documenttest', is: 'documented' },
  { name: 'payrolltest', is: 'approved', income: 'asks' },
  { name: 'noincometest', is: 'approved', income: 'none' },
  { name: 'busytest', is: 'refused', status: 429 },
  { name: 'downtest', is: 'refused', status: 503 },
  { name: 'timeouttest', is: 'unanswered' },
];

const BY_NAME = new Map(PERSONAS.map((persona) => [persona.name, persona]));
const ORDINARY: Persona = { name: 'ordinary', is: 'approved' };

export function personaNamed(name = ''): Persona {
  return BY_NAME.get(name.trim().toLowerCase()) ?? ORDINARY;
}
