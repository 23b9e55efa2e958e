// The sandbox finds the double of a new vendor by its folder (docs/sandbox.md).
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { findDoubles } from '../../sandbox/doubles.js';
import type { RunningSandbox } from '../../sandbox/server.js';
import { startVendors } from '../../sandbox/vendors.js';
import { readConfig } from '../../src/config/config.js';
import { defineVendor } from '../../src/vendor-kit/define-vendor.js';

const DOUBLE = `export const double = {
  variables: { VENDOR_ZETA_KEY: 'zeta-key', VENDOR_ZETA_COLOUR: 'red' },
  async open({ variables, noticesUrl, slowMs, personOf }) {
    return {
      mount(server) {
        server.setNotFoundHandler((_request, reply) => reply.code(404).send({ title: 'zeta has no such path' }));
        server.setErrorHandler((_error, _request, reply) => reply.code(422).send({ title: 'zeta refuses' }));
        server.addContentTypeParser('text/zeta', { parseAs: 'string' }, (_request, body, done) => done(null, { body }));
        server.post('/echo', (request) => ({ variables, noticesUrl, slowMs, ...request.body }));
        server.get('/person', (request) => ({ person: personOf(request.query.token) }));
        server.get('/strict', { schema: { querystring: { type: 'object', required: ['a'] } } }, () => ({}));
        server.get('/control/calls', () => ({ calls: [] }));
      },
      personOf: (token) => (token === 'zeta-token' ? { persona: 'ordinary', file: 7 } : null),
      close() {},
    };
  },
};`;

describe('the sandbox with the folder of a new vendor', () => {
  const root = mkdtempSync(join(tmpdir(), 'sandbox-discovery-'));
  let sandbox: RunningSandbox;
  const ask = async (path: string, init: RequestInit = {}): Promise<{ status: number; body: unknown }> => {
    const response = await fetch(sandbox.url + path, init);
    return { status: response.status, body: await response.json() };
  };

  beforeAll(async () => {
    mkdirSync(join(root, 'zeta', 'double'), { recursive: true });
    mkdirSync(join(root, 'without-double'));
    writeFileSync(join(root, 'package.json'), '{"type":"module"}');
    writeFileSync(join(root, 'zeta', 'double', 'part.js'), DOUBLE);
    const env = { DATA_DIR: join(root, 'data'), SANDBOX_PORT: '0', PORT: '4711', VENDOR_ZETA_COLOUR: '' };
    sandbox = await startVendors({ ...env, SANDBOX_SLOWNESS: '3' }, [
      ...(await findDoubles()),
      ...(await findDoubles(root)),
    ]);
  });
  afterAll(async () => {
    await sandbox.close();
    rmSync(root, { recursive: true });
  });

  it('serves the double below the path of the vendor, with the defaults of its variables', async () => {
    const { status, body } = await ask('/vendors/zeta/echo', {
      method: 'POST',
      headers: { 'content-type': 'text/zeta' },
      body: 'hello',
    });
    expect([status, body]).toEqual([
      200,
      {
        variables: { VENDOR_ZETA_KEY: 'zeta-key', VENDOR_ZETA_COLOUR: 'red' },
        noticesUrl: 'http://127.0.0.1:4711/internal/vendors/zeta/events',
        slowMs: 3_000,
        body: 'hello',
      },
    ]);
  });

  it('answers wrong requests in the words of the double only below its path', async () => {
    expect(await ask('/vendors/zeta/nothing')).toEqual({ status: 404, body: { title: 'zeta has no such path' } });
    expect(await ask('/vendors/zeta/strict')).toEqual({ status: 422, body: { title: 'zeta refuses' } });
    expect(await ask('/nothing')).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } });
    expect(await ask('/control/calls')).toMatchObject({ status: 200 });
  });

  it('refuses a public name for the routes for tests of the double', async () => {
    const at = (host: string): Promise<number | undefined> =>
      new Promise((resolve) =>
        get(`${sandbox.url}/vendors/zeta/control/calls`, { headers: { host } }, (response) => {
          response.resume();
          resolve(response.statusCode);
        }),
      );
    expect([await at('evil.example'), await at('localhost')]).toEqual([403, 200]);
  });

  it('lets each double find a person by a token of another double', async () => {
    const person = { persona: 'ordinary', file: 7 };
    expect(await ask('/vendors/zeta/person?token=zeta-token')).toEqual({ status: 200, body: { person } });
    expect(await ask('/vendors/zeta/person?token=unknown')).toEqual({ status: 200, body: { person: null } });
  });

  it('gives the service the address of the double when no variable is set outside production', () => {
    const zeta = defineVendor({
      id: 'zeta',
      capabilities: {},
      settings: {
        url: { kind: 'url', variable: 'VENDOR_ZETA_URL' },
        key: { kind: 'secret', variable: 'VENDOR_ZETA_KEY', published: 'zeta-key' },
      },
      open: async () => ({ close: async () => undefined }),
    });
    const { vendors } = readConfig({ REDIS_URL: 'redis://a', SANDBOX_URL: sandbox.url }, { vendors: [zeta] });
    const settings = { url: `${sandbox.url}/vendors/zeta`, key: 'zeta-key' };
    expect(vendors.byId['zeta']).toEqual({ live: settings, test: settings });
  });
});
