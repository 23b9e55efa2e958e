import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { fastify, type FastifyInstance } from 'fastify';
import { describeCallers } from '../../../src/platform/http/asked-by.js';
import { contextOf, type Principal } from '../../../src/platform/http/principal.js';

const PRINCIPAL: Principal = {
  actor: { kind: 'platform-token', id: 'key' },
  accountId: 'account',
  environment: 'test',
  tokenId: 'token',
  origin: 'https://page.example',
};

describe('the caller of a request', () => {
  let server: FastifyInstance;
  let key: () => Promise<Uint8Array>;
  let caller: unknown;
  beforeEach(() => {
    key = async () => Buffer.alloc(32, 1);
    server = fastify();
    server.addHook('onRequest', (request, _, done) => {
      request.principal = PRINCIPAL;
      done();
    });
    describeCallers(server, { installationKey: () => key() });
    server.get('/', (request) => {
      const context = contextOf(request);
      caller = context.caller?.();
      return { ...context };
    });
  });
  afterEach(() => server.close());
  const askedBy = async (remoteAddress: string, agent = 'a browser') =>
    (await server.inject({ url: '/', remoteAddress, headers: { 'user-agent': agent } })).json().askedBy;

  it('is described by its token, its origin and keyed hashes, and not in clear text', async () => {
    const described = await askedBy('203.0.113.7');
    expect(described).toEqual({
      tokenId: 'token',
      origin: 'https://page.example',
      addressHash: expect.stringMatching(/^[\w-]{22}$/),
      agentHash: expect.stringMatching(/^[\w-]{22}$/),
    });
    expect(caller).toEqual({ address: '203.0.113.7', agent: 'a browser' });
    expect(await askedBy('203.0.113.7')).toEqual(described);
    const { addressHash, agentHash } = await askedBy('203.0.113.8', 'another browser');
    expect(addressHash).not.toBe(described.addressHash);
    expect(agentHash).not.toBe(described.agentHash);
    key = async () => Buffer.alloc(32, 2);
    expect((await askedBy('203.0.113.7')).addressHash).not.toBe(described.addressHash);
  });

  it('is served without hashes when the vault is unavailable', async () => {
    key = () => Promise.reject(new Error('unavailable'));
    expect(await askedBy('203.0.113.7')).toEqual({ tokenId: 'token', origin: 'https://page.example' });
  });
});
