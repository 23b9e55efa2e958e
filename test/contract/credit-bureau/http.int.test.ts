import { IdvCreditBureau } from '../../../src/vendors/idv/credit.js';
import { SANDBOX_CREDENTIAL, sandboxHarness } from '../../support/sandbox-harness.js';
import { type CreditBureauHarness, describeCreditBureau } from './suite.js';

async function sandboxOverHttp(): Promise<CreditBureauHarness> {
  const sandbox = await sandboxHarness();
  const adapters: IdvCreditBureau[] = [];
  return {
    open: async ({ timeoutMs }) => {
      const adapter = new IdvCreditBureau({ baseUrl: sandbox.url, credential: SANDBOX_CREDENTIAL, timeoutMs });
      adapters.push(adapter);
      return adapter;
    },
    register: (lastName, more) => sandbox.register(lastName, more),
    answerOtp: (vendorSession, code) => sandbox.answerOtp(vendorSession, code),
    calls: async (attemptId) => {
      const { received, executed, billed } = await sandbox.control(`calls?key=${attemptId}`);
      return { received, executed, billed };
    },
    loseNextAnswer: async () => void (await sandbox.control('lost-answers', { calls: 1 })),
    outage: async (seconds) => void (await sandbox.control('outage', { seconds })),
    close: async () => {
      await Promise.all(adapters.map((adapter) => adapter.close()));
      await sandbox.close();
    },
  };
}

describeCreditBureau('over HTTP', sandboxOverHttp);
