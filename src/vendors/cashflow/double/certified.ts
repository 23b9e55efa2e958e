// The double in its certification: the roles of its requests, and its personas with the verdicts that they must get.
import type { CertifiedDouble, CertifiedPersona } from '../../../vendor-kit/double/certified-double.js';
import { CashflowDouble } from './cashflow.js';

const credential = 'certified-credential-of-cashflow';

export const double: CertifiedDouble = {
  roles: { submit: ['POST /v1/inquiries'], verdict: ['GET /v1/inquiries/*'] },
  errors: [
    { operation: 'start', status: 404, body: { error: { code: 'not_found' } }, verdict: { kind: 'unintelligible' } },
    { operation: 'start', status: 409, body: { error: { code: 'key_closed' } }, verdict: { kind: 'unavailable' } },
    { operation: 'start', status: 409, body: { error: { code: 'call_in_progress' } }, verdict: { kind: 'timed-out' } },
    {
      operation: 'outcomeOf',
      status: 404,
      body: { error: { code: 'not_found' } },
      verdict: { kind: 'unintelligible' },
    },
  ],
  start(folder) {
    // The reference of each persona is its name.
    const personOf = (persona: string) => ({ persona, file: 1 });
    const part = new CashflowDouble({ folder, credential, personOf, paceMs: 0 });
    return { part, settings: (url) => ({ url, credential }) };
  },
};

export const personas: readonly CertifiedPersona[] = [
  { reference: 'ordinary', income: { route: 'BANKING', verdict: { kind: 'completed' } } },
  { reference: 'noincometest', income: { route: 'BANKING', verdict: { kind: 'failed', reason: 'NO_MATCH' } } },
  { reference: 'incomeerrortest', income: { route: 'BANKING', verdict: { kind: 'failed', reason: 'VENDOR_ERROR' } } },
  { reference: 'slowincometest', income: { route: 'BANKING', verdict: { kind: 'in-progress', lookAgainAfter: 1 } } },
];
