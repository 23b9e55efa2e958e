// The controls of the sandbox, and the host names under which they answer (docs/sandbox.md#controls).
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type RunningSandbox, startSandbox } from '../../sandbox/server.js';
import { SandboxIdentityVendor } from '../../src/vendors/idv/double/identity-vendor.js';

let folder: string;
let sandbox: RunningSandbox;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sandbox-controls-'));
  const vendor = new SandboxIdentityVendor({ folder, credential: 'test-credential' });
  sandbox = await startSandbox({ host: '127.0.0.1', port: 0, parts: [vendor] });
});
afterAll(async () => {
  await sandbox.close();
  rmSync(folder, { recursive: true });
});

/** Uses node:http, because fetch sets Host itself. */
function statusOf(host: string, path: string, body?: object): Promise<number | undefined> {
  const { port } = new URL(sandbox.url);
  const headers = { host, ...(body && { 'content-type': 'application/json' }) };
  return new Promise((resolve, reject) => {
    const call = request({ host: '127.0.0.1', port, path, headers, method: body ? 'POST' : 'GET' }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    call.on('error', reject).end(body && JSON.stringify(body));
  });
}

it.each(['evil.example', 'EVIL.example.com:3001', 'localhost.evil.example', '127.0.0.1.evil.example', 'evil.example.'])(
  '403: under the public name %s, the controls neither show nor change anything',
  async (host) => {
    for (const path of ['/control/calls', '/%63ontrol/calls', '/control/calls?key=x'])
      expect([path, await statusOf(host, path)]).toEqual([path, 403]);
    expect(await statusOf(host, '/control/outage', { seconds: 60 })).toBe(403);
    expect(await statusOf('localhost', '/control/calls')).toBe(200);
  },
);

it.each([
  '127.0.0.1',
  'localhost:3001',
  'sandbox',
  'sandbox:3001',
  'host.docker.internal',
  '[::1]:3001',
  '192.168.1.7',
])('200: under %s, the controls answer without a credential', async (host) => {
  expect(await statusOf(host, '/control/calls')).toBe(200);
  expect(await statusOf(host, '/control/outage', { seconds: 0 })).toBe(200);
});

it('a path outside the controls is not refused under a public name, because a vendor has such a name', async () => {
  expect(await statusOf('vendor.example', '/outcomes/none')).not.toBe(403);
});
