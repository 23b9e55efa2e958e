// The collection for Bruno, made of OpenAPI documents.
import { describe, expect, it } from '@jest/globals';
import { type ApiDocument, brunoCollection } from '../../../src/surfaces/documents/bruno.js';

const platform: ApiDocument = {
  info: { title: 'Platform API' },
  paths: {
    '/auth/token/exchange': {
      post: {
        summary: 'Exchange',
        security: [{ 'publishable-key': [] }],
        requestBody: { content: { 'application/json': { schema: { examples: [{}] } } } },
      },
    },
    '/screening/{id}/status': {
      get: {
        summary: 'Read',
        description: 'Costs nothing.',
        security: [{ 'platform-token': [] }],
        parameters: [{ name: 'id', in: 'path' }, { name: 'language', in: 'query' }, {}],
      },
    },
    '/payments/create-intent': {
      post: {
        security: [{ 'platform-token': [] }],
        requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Body' } } } },
      },
    },
  },
  components: {
    schemas: {
      Body: {
        required: ['screeningId', 'kind', 'answers', 'amount'],
        properties: {
          screeningId: { type: 'string' },
          kind: { enum: ['A', 'B'] },
          answers: { type: 'array', items: { $ref: '#/components/schemas/Answer' } },
          amount: { type: ['integer', 'null'], example: 3_500 },
          note: { type: 'string' },
        },
      },
      Answer: { required: ['answer'], properties: { answer: { type: 'integer' } } },
    },
  },
};
const query = (name: string, schema: object) => ({ name, in: 'query', required: true, schema });
const empty = { requestBody: { content: { 'application/json': { schema: { type: 'object' } } } } };
const server: ApiDocument = {
  info: { title: 'Server' },
  paths: {
    '/v1/reports': { get: { parameters: [query('shared', { type: 'string', enum: ['true'] })] } },
    '/.well-known/webhook-keys.json': { get: { parameters: [query('account', { type: 'string' })] } },
    '/v1/test_helpers/clock': { post: empty },
    '/v1/test_helpers/vendor': { post: empty },
  },
  components: { schemas: {} },
};
const files = brunoCollection({ platform, server });

describe('the collection for Bruno', () => {
  it('has one folder for each API, with its credential, and one environment', () => {
    expect([...files.keys()]).toEqual([
      'bruno.json',
      'collection.bru',
      'environments/demo.bru',
      'platform/folder.bru',
      'platform/post-auth-token-exchange.bru',
      'platform/get-screening-id-status.bru',
      'platform/post-payments-create-intent.bru',
      'server/folder.bru',
      'server/get-v1-reports.bru',
      'server/get-well-known-webhook-keys-json.bru',
      'server/post-v1-test-helpers-clock.bru',
      'server/post-v1-test-helpers-vendor.bru',
    ]);
    expect(files.get('server/folder.bru')).toContain('value: {{secretKey}}');
    expect(files.get('environments/demo.bru')).toContain('  secretKey: {{process.env.SECRET_KEY}}\n');
  });

  it('keeps the token of an exchange, which needs the key only', () => {
    const text = files.get('platform/post-auth-token-exchange.bru');
    expect(text).toContain('  auth: none\n');
    expect(text).toContain('headers {\n  X-Publishable-Key: {{publishableKey}}\n}\n');
    expect(text).toContain('vars:post-response {\n  token: res.body.token\n}\n');
  });

  it('takes the id of a path from an earlier call, and leaves optional parameters out', () => {
    expect(files.get('platform/get-screening-id-status.bru')).toBe(`meta {
  name: GET /screening/{id}/status
  type: http
  seq: 2
}

get {
  url: {{baseUrl}}/screening/:id/status
  body: none
  auth: inherit
}

params:query {
  ~language: 
}

params:path {
  id: {{sessionId}}
}

docs {
  Read

  Costs nothing.
}
`);
  });

  it('has samples that the service takes, and that leave no fault behind', () => {
    expect(files.get('server/get-v1-reports.bru')).toContain('  shared: true\n');
    expect(files.get('server/get-well-known-webhook-keys-json.bru')).toContain('  account: {{accountId}}\n');
    expect(files.get('server/post-v1-test-helpers-clock.bru')).toContain('"advance": 60');
    expect(files.get('server/post-v1-test-helpers-vendor.bru')).toContain('"behaviour": "normal"');
  });

  it('makes a body of the required fields of a schema when the document has no example', () => {
    const [, body = ''] =
      /^body:json \{\n([^]*?)\n\}$/m.exec(files.get('platform/post-payments-create-intent.bru')!) ?? [];
    expect(JSON.parse(body)).toEqual({
      screeningId: '{{sessionId}}',
      kind: 'A',
      answers: [{ answer: 1 }],
      amount: 3_500,
    });
  });
});
