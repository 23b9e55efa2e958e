// Mistakes of a vendor's author that a certification tells. The certified vendor is acme with one mistake each.
import { describe, expect, it } from '@jest/globals';
import { certificationOf, type CaseResult } from '../../../src/vendor-kit/certification/certification.js';
import { FAULTS } from '../../../src/vendor-kit/certification/faults.js';
import type { Observation } from '../../../src/vendor-kit/certification/laboratory.js';
import { newCall } from '../../../src/vendor-kit/certification/operations.js';
import { routeOf, type SeenRequest } from '../../../src/vendor-kit/certification/proxy.js';
import { brokenVerdictRules } from '../../../src/vendor-kit/certification/rules.js';
import type { IdentityVendor } from '../../../src/ports/identity-vendor.js';
import type { IdentityCapability, OpenVendor, Vendor } from '../../../src/vendor-kit/define-vendor.js';
import type { Role } from '../../../src/vendor-kit/double/certified-double.js';
import { double, personas } from '../../../src/vendors/acme/double/certified.js';
import { vendor } from '../../../src/vendors/acme/vendor.js';

const { identity } = vendor.capabilities as { readonly identity: IdentityCapability };
const challenged = personas.filter(({ registration }) => registration?.kind === 'step-up' && registration.otp === true);

/** The problems by the names of the cases, of an adapter whose methods are replaced. */
async function problemsOf(
  change: (adapter: IdentityVendor) => Partial<IdentityVendor>,
  operations: Partial<IdentityCapability['operations']> = {},
): Promise<(name: string) => CaseResult['problems'] | undefined> {
  const changed: Vendor = {
    ...vendor,
    capabilities: { identity: { ...identity, operations: { ...identity.operations, ...operations } } },
    async open(settings, timeoutMs): Promise<OpenVendor> {
      const { identity: adapter, close } = await vendor.open(settings, timeoutMs);
      if (adapter === undefined) throw new Error('acme verifies identities');
      return { identity: Object.assign(adapter, change(adapter)), close };
    },
  };
  const results = await certificationOf(changed, { ...double, errors: [] }, challenged, {
    bronzeOnly: true,
    withChanges: false,
  });
  return (wanted) => results.find(({ name }) => name === wanted)?.problems;
}

describe('a certification', () => {
  it('is red for a declared operation that no persona tests', async () => {
    const problems = await problemsOf(() => ({}), { reauthenticate: 'at-most-once' });
    expect(problems('verdicts')).toContain('vendor.ts declares reauthenticate, and no persona tests it');
    expect(problems('expireAuthentication')).toBeNull();
    expect(problems('outcomes of executed calls')).toEqual([]);
    expect(problems('answers about another check')).toEqual([]);
  });

  it('is red when an executed code is told as not executed', async () => {
    const problems = await problemsOf((adapter) => {
      const outcomeOf = adapter.outcomeOf.bind(adapter);
      return {
        outcomeOf: async (...asked) => {
          const past = await outcomeOf(...asked);
          return past.kind === 'answer' ? { kind: 'not-executed' } : past;
        },
      };
    });
    expect(problems('outcomes of executed calls')).toContain(
      'verifyOtp: right: outcomeOf tells not-executed, but the vendor has executed the call',
    );
  });

  it('is red when an answer about another check confirms a person', async () => {
    const problems = await problemsOf((adapter) => {
      const verifyOtp = adapter.verifyOtp.bind(adapter);
      return {
        verifyOtp: async (...sent) => {
          const verdict = await verifyOtp(...sent);
          return verdict.kind === 'unintelligible' ? { kind: 'confirmed' } : verdict;
        },
      };
    });
    expect(problems('answers about another check')).toContain(
      'verifyOtp: right: the verdict is confirmed, from an answer about another check',
    );
  });
});

describe('the rule about a lost answer', () => {
  const fault = FAULTS.find(({ name }) => name === 'reset after the request is executed');
  if (fault === undefined) throw new Error('no such fault');
  const request = (role: Role, harmed = false): SeenRequest => ({
    ...{ role, harmed, forwarded: true, method: role === 'verdict' ? 'GET' : 'POST', url: `/v1/${role}?a=b` },
    ...{ ids: [], headers: {}, body: '', answer: { status: 200, headers: {}, body: '{}' } },
  });
  const seen = (...requests: readonly SeenRequest[]): Observation => {
    return { call: newCall(), verdict: { kind: 'confirmed' }, thrown: null, requests, ends: [] };
  };
  const problems = (...requests: readonly SeenRequest[]): readonly string[] =>
    brokenVerdictRules({
      operation: {
        ...{ capability: 'identity', method: 'verifyOtp', name: 'verifyOtp: right', semantics: 'at-most-once' },
        expected: { kind: 'confirmed' },
        prepare: () => Promise.reject(new Error('not prepared')),
      },
      clean: seen(request('answer')),
      role: 'answer',
      fault,
      seen: seen(...requests),
    });

  it('accepts a verdict that the adapter has read from the check again', () => {
    expect(problems(request('answer', true), request('verdict'))).toEqual([]);
  });

  it('names the requests when the verdict comes from nowhere', () => {
    expect(problems(request('answer', true))).toEqual([
      'the verdict is confirmed, but the vendor did not say so in an answer to POST /v1/answer (answer, met by the fault)',
    ]);
  });
});

describe('the role of a request', () => {
  const roles = {
    answer: ['POST /v1/checks/*'],
    submit: ['POST /v1/checks/new'],
    verdict: ['POST /v1/checks/* "look"'],
  };
  it.each([
    ['is of the pattern with the text of the body', '/v1/checks/7', '{"do":"look"}', 'verdict', ['7']],
    ['is of the pattern with the fewest ids', '/v1/checks/new', '{}', 'submit', []],
    ['is of the pattern with an id', '/v1/checks/7?page=1', '{"do":"code"}', 'answer', ['7']],
    ['is unknown for another path', '/v1/other', '{}', null, []],
  ])('%s', (_, url, body, role, ids) => {
    expect(routeOf({ ...double, roles }, { method: 'POST', url, body })).toMatchObject({ role, ids });
  });
});
