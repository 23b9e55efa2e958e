// The lint rules that only deciders decide (no function of this name crosses a module), and that one file reads the
// machine's time. A further rule keeps the time limits of signals. The test tries the rules on samples that break them.
import { ESLint, Linter } from 'eslint';
import { describe, expect, it } from '@jest/globals';
import { parser } from 'typescript-eslint';

const eslint = new ESLint({ cwd: process.cwd() });

async function faultsIn(path: string, code: string, name = 'no-restricted-syntax'): Promise<string[]> {
  const { rules } = (await eslint.calculateConfigForFile(path)) as Linter.Config;
  const rule = rules?.[name];
  const config: Linter.Config = {
    files: ['**/*.ts'],
    languageOptions: { parser: parser as Linter.Parser },
    rules: rule ? { [name]: rule } : {},
  };
  return new Linter().verify(code, config, 'a.ts').map(({ message }) => message);
}

const USE_CASE = 'src/modules/parties/application/register-party.ts';

describe('a function named decide', () => {
  it.each([
    ['a property', 'const change = { decider, id, decide: (state: State) => decider.decide(command, state) };'],
    ['a method', 'const change = { decider, decide(state: State) { return []; } };'],
    ['a name of its own', 'const change = { decider, decide };'],
    ['a quoted name', "const change = { ...decider, 'decide': () => [] };"],
    ['an assignment', 'change.decide = () => [];'],
    ['a class', 'class Change { decide(): readonly Event[] { return []; } }'],
    ['a field', 'class Change { readonly decide = () => []; }'],
  ])('is refused in a use case as %s', async (_as, code) => {
    expect(await faultsIn(USE_CASE, code)).toEqual(['The decider decides: hand on { decider, id, command }.']);
  });

  it.each([
    USE_CASE,
    'src/published/verifications.ts',
    'src/external-calls/external-call.ts',
    'src/erasure-evidence.ts',
  ])('is refused in %s', async (path) => {
    expect(await faultsIn(path, 'const change = { decide: () => [] };')).toHaveLength(1);
  });

  it.each(['src/modules/parties/domain/party-decider.ts', 'src/platform/aggregates/aggregate-store.ts'])(
    'is allowed in %s',
    async (path) => {
      expect(await faultsIn(path, 'const decider = { decide: () => [] };')).toEqual([]);
    },
  );

  it('may be called by a use case, and may be taken from its decider', async () => {
    const code = 'const { decide } = decider; if (decider.decide(command, state).length === 0) leave();';
    expect(await faultsIn(USE_CASE, code)).toEqual([]);
  });
});

describe("the machine's time", () => {
  const READS = [
    'const now = Date.now();',
    'const now = new Date();',
    "const now = Date['now']();",
    'const { now } = Date;',
  ];

  it.each([
    USE_CASE,
    'src/platform/aggregates/aggregate-store.ts',
    'src/adapters/delivery-queue/bullmq.ts',
    'src/vendors/stripe/payment.ts',
    'src/modules/parties/domain/party-decider.ts',
    'src/kernel/ids.ts',
  ])('is not read in %s', async (path) => {
    for (const code of READS) expect([code, await faultsIn(path, code)]).toEqual([code, [expect.any(String)]]);
    expect(await faultsIn(path, 'const later = new Date(0); const now = machineNow();')).toEqual([]);
  });

  it.each(['src/kernel/machine-time.ts', 'src/vendors/stripe/double/timers.ts'])('may be read in %s', async (path) => {
    expect(await faultsIn(path, READS.join(' '))).toEqual([]);
  });
});

it.each([
  USE_CASE,
  'packages/cli/service.mjs',
  'scripts/demo/server.mjs',
  'web/frame/api/client.ts',
  'test/support/service.ts',
])('a signal joined of others is refused in %s, because Node 20 may lose its time limit', async (path) => {
  const joined = 'const signal = AbortSignal.any([one, other]); const { any } = AbortSignal;';
  expect(await faultsIn(path, joined, 'no-restricted-properties')).toHaveLength(2);
  expect(await faultsIn(path, 'const signal = AbortSignal.timeout(5);', 'no-restricted-properties')).toEqual([]);
});
