import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { IdvIdentityVendor } from '../../../src/vendors/idv/identity.js';
import { SandboxIdentityVendor } from '../../../src/vendors/idv/double/identity-vendor.js';
import { startSandbox } from '../../../sandbox/server.js';
import { SLOW_MS } from '../../support/sandbox-harness.js';
import { type IdentityVendorHarness, describeIdentityVendor } from './suite.js';

async function sandboxOverHttp(): Promise<IdentityVendorHarness> {
  const folder = mkdtempSync(join(tmpdir(), 'identity-vendor-'));
  const credential = 'test-credential';
  const sandbox = await startSandbox({
    host: '127.0.0.1',
    port: 0,
    parts: [new SandboxIdentityVendor({ folder, credential, slowMs: SLOW_MS })],
  });
  const adapters: IdvIdentityVendor[] = [];
  const control = async (path: string, body?: object): Promise<unknown> => {
    const post = body && {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    };
    const response = await fetch(`${sandbox.url}/control/${path}`, post);
    if (!response.ok) throw new Error(`control ${path} answered ${response.status}`);
    return response.json();
  };
  return {
    open: async ({ timeoutMs }) => {
      const adapter = new IdvIdentityVendor({ baseUrl: sandbox.url, credential, timeoutMs });
      adapters.push(adapter);
      return adapter;
    },
    calls: async (attemptId) => {
      const { received, executed } = (await control(`calls?key=${attemptId}`)) as {
        received: number;
        executed: number;
      };
      return { received, executed };
    },
    loseNextAnswer: async () => void (await control('lost-answers', { calls: 1 })),
    outage: async (seconds) => void (await control('outage', { seconds })),
    close: async () => {
      await Promise.all(adapters.map((adapter) => adapter.close()));
      await sandbox.close();
      rmSync(folder, { recursive: true });
    },
  };
}

describeIdentityVendor('over HTTP', sandboxOverHttp);
