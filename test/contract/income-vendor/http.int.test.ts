import { VoieIncomeVendor } from '../../../src/vendors/voie/income.js';
import { SANDBOX_CREDENTIAL, sandboxHarness } from '../../support/sandbox-harness.js';
import { type IncomeVendorHarness, describeIncomeVendor } from './suite.js';

async function sandboxOverHttp(): Promise<IncomeVendorHarness> {
  const sandbox = await sandboxHarness();
  await sandbox.control('income/pace', { milliseconds: 0 });
  const adapters: VoieIncomeVendor[] = [];
  return {
    open: async ({ timeoutMs }) => {
      const adapter = new VoieIncomeVendor({ baseUrl: sandbox.url, credential: SANDBOX_CREDENTIAL, timeoutMs });
      adapters.push(adapter);
      return adapter;
    },
    register: (lastName, ssn = '666443210') => sandbox.register(lastName, { ssn }),
    calls: async (attemptId) => {
      const { received, executed } = await sandbox.control(`income/calls?key=${attemptId}`);
      return { received, executed };
    },
    pace: async (milliseconds) => void (await sandbox.control('income/pace', { milliseconds })),
    decide: async (inquiry, ending) => void (await sandbox.control(`income/inquiries/${inquiry}`, { ending })),
    loseNextAnswer: async () => void (await sandbox.control('income/lost-answers', { calls: 1 })),
    outage: async (seconds) => void (await sandbox.control('income/outage', { seconds })),
    close: async () => {
      await Promise.all(adapters.map((adapter) => adapter.close()));
      await sandbox.close();
    },
  };
}

describeIncomeVendor('over HTTP', sandboxOverHttp);
