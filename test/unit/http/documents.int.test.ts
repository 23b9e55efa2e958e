// The OpenAPI documents of the real controllers, and the comparison of replies with them.
import { beforeAll, describe, expect, it } from '@jest/globals';
import { introduced } from '../../../src/surfaces/documents/introductions.js';
import { readFileSync } from 'node:fs';
import { DELIVERED_TYPES } from '../../../src/published/events.js';
import { PASSED_ON } from '../../../src/surfaces/direct/operations.js';
import { Operation } from '../../../src/surfaces/openapi/operation.js';
import { type Answered, Documented } from '../../support/documented.js';
import { DOCUMENTS, openApiDocuments } from '../../support/documents.js';

const JSON_TYPE = { 'content-type': 'application/json' };

let documents: Awaited<ReturnType<typeof openApiDocuments>>;
beforeAll(async () => {
  documents = await openApiDocuments();
});

class Old {
  @Operation({
    id: 'readOld',
    summary: 'Old',
    description: 'Old.',
    replies: { 200: null },
    errors: [],
    deprecated: { since: '2026-01-31', goneAfter: '2027-02-28' },
  })
  read(): void {}
}

describe('a deprecated operation', () => {
  it('has both headers in its replies', () => {
    expect(Reflect.getMetadata('__headers__', Old.prototype.read)).toEqual(
      expect.arrayContaining([
        { name: 'deprecation', value: '@1769817600' },
        { name: 'sunset', value: 'Sun, 28 Feb 2027 23:59:59 GMT' },
      ]),
    );
  });
});

const operationsOf = (document: any): any[] =>
  Object.values<object>(document.paths).flatMap((operations) => Object.values(operations));

describe('the OpenAPI documents', () => {
  it('name each operation by hand, and once', () => {
    const ids = operationsOf(documents.all).map(({ operationId }) => operationId as string);
    expect(ids.filter((id) => !/^[a-z][A-Za-z]+$/.test(id))).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual(expect.arrayContaining(['submitScreening', 'registerRenter', 'linkReportToAgentOfRenter']));
  });

  it('say each status of an operation, and no status by default', () => {
    for (const { operationId, responses, description } of operationsOf(documents.all)) {
      expect([operationId, Object.keys(responses).filter((status) => !/^\d{3}$/.test(status))]).toEqual([
        operationId,
        [],
      ]);
      expect([operationId, Object.keys(responses)]).toEqual([
        operationId,
        expect.arrayContaining(['400', '403', '408', '414', '417', '431', '500', '503']),
      ]);
      expect([operationId, description]).toEqual([operationId, expect.stringMatching(/\S/)]);
    }
  });

  it.each(DOCUMENTS)('have only the schemas, headers and credentials that the API needs: %s', (name) => {
    const { paths, webhooks = {}, components } = documents[name];
    const text = JSON.stringify({ paths, webhooks, components });
    for (const kind of ['schemas', 'responses', 'headers', 'parameters'])
      for (const used of Object.keys(components[kind]))
        expect([used, text.includes(`#/components/${kind}/${used}"`)]).toEqual([used, true]);
    const credentials = operationsOf(documents[name]).flatMap(({ security }) => security.flatMap(Object.keys));
    expect([...new Set(credentials)].sort()).toEqual(Object.keys(components.securitySchemes).sort());
  });

  it('are in the dialect of OpenAPI 3.1', () => {
    for (const document of Object.values(documents)) {
      expect(document.openapi).toBe('3.1.0');
      expect(JSON.stringify(document)).not.toContain('"nullable"');
    }
  });

  it('have examples of replies that keep their schemas and show a success', () => {
    const documented = new Documented(documents.all);
    let shown = 0;
    for (const [template, operations] of Object.entries<any>(documents.all.paths))
      for (const [method, { operationId, responses }] of Object.entries<any>(operations))
        for (const [status, { content }] of Object.entries<any>(responses)) {
          const example = content?.['application/json']?.example;
          if (example === undefined) continue;
          shown += 1;
          const text = JSON.stringify(example);
          const path = template.replace(/\{[^}]+\}/g, 'x');
          const reply = { method: method.toUpperCase(), path, status: Number(status), headers: JSON_TYPE, text };
          expect([operationId, documented.faultsOf(reply)]).toEqual([operationId, []]);
          expect([operationId, text]).not.toEqual([
            operationId,
            expect.stringMatching(/"(?:FAILED|OTP_PENDING|ERROR)"|"(?:expires_in|otpResendInterval)":0\b/),
          ]);
        }
    expect(shown).toBeGreaterThan(30);
  });

  it('say the place of an event in its feed beside the other headers of a delivery, except in a ping', () => {
    const headersOf = (type: string): string[] =>
      documents.dashboard.webhooks[type].post.parameters.map(({ name }: { name: string }) => name);
    const common = [
      'webhook-id',
      'webhook-timestamp',
      'webhook-signature',
      'service-event-type',
      'service-delivery-id',
    ];
    const feed = ['service-event-sequence', 'service-event-digest'];
    expect(headersOf('screening.completed')).toEqual([...common, ...feed]);
    expect(headersOf('ping')).toEqual(common);
  });

  it('have the schemas of vendors that may send further fields', () => {
    const schemas = documents.direct.components.schemas;
    for (const name of PASSED_ON) expect([name, schemas[name]?.properties]).toEqual([name, expect.any(Object)]);
  });

  it('demand no field of a body that has a default', () => {
    const { CreateEndpointBody, RotateSecretBody, OpenIncomeBody } = documents.all.components.schemas;
    expect(CreateEndpointBody.properties.disabled).toEqual({ type: 'boolean', description: expect.any(String) });
    expect(RotateSecretBody.properties.previous_valid_for_seconds.description).toMatch(/Default: 86400$/);
    expect(OpenIncomeBody.properties.routes.default).toBeUndefined();
  });

  it('say the lengths and patterns that the body classes check', () => {
    const { SubmitBody, CreateEndpointBody } = documents.all.components.schemas;
    expect(SubmitBody.properties.lastName).toMatchObject({ minLength: 1, maxLength: 60, pattern: expect.any(String) });
    expect(SubmitBody.properties.ssn.pattern).toBe('^\\d{9}$');
    expect(SubmitBody.properties.email.format).toBe('email');
    expect(CreateEndpointBody.properties.url.maxLength).toBe(2_048);
  });

  it('say all words of the fields that callers branch on', () => {
    const { StatusResult, ServerStatusResult, ErrorContent } = documents.all.components.schemas;
    expect(StatusResult.properties.overallStatus.enum).toEqual(ServerStatusResult.properties.overall_status.enum);
    expect(StatusResult.properties.overallStatus.enum).toContain('PAYMENT_PENDING');
    expect(ErrorContent.properties.code.enum).toContain('SCREENING_NOT_FOUND');
    const { ReportTradeLine, ScreeningBlockedEvent } = documents.all.components.schemas;
    expect(ReportTradeLine.properties.status['x-extensible-enum']).toEqual(
      expect.arrayContaining(['CURRENT', 'PAST_DUE', 'COLLECTION', 'CHARGED_OFF', 'CLOSED']),
    );
    const reasons = ScreeningBlockedEvent.properties.data.properties.reason_code['x-extensible-enum'];
    for (const reason of ['FRAUD_REPORTED', 'SANCTIONS_MATCH', 'ALERT_LIST_MATCH', 'DECEASED', 'MINOR_CONSUMER'])
      expect(reasons).toContain(reason);
  });

  // A generated client takes such an object for an empty one, so its readers need casts.
  it.each(DOCUMENTS)('have no object without its fields, or the form of further fields: %s', (name) => {
    const empty: string[] = [];
    const visit = (node: any, path: string): void => {
      if (typeof node !== 'object' || node === null) return;
      const isFree = ['properties', 'additionalProperties', 'oneOf', 'allOf', 'anyOf', '$ref'].every(
        (key) => !(key in node),
      );
      if (node.type === 'object' && isFree) empty.push(path);
      for (const [key, child] of Object.entries(node)) visit(child, `${path}/${key}`);
    };
    visit(documents[name], '');
    expect(empty).toEqual([]);
  });

  it.each(DOCUMENTS)('have placeholders instead of demo keys and test persons without demo accounts: %s', (name) => {
    const shown = (demo: boolean): string => {
      const { info, components } = introduced(documents[name], name, {
        docs: 'https://api.screening.test/docs',
        demo,
      });
      const examples = Object.values<any>(components?.schemas ?? {}).map(({ examples }) => examples);
      return JSON.stringify([info.description, examples]);
    };
    const ofDemo = /npm start|demo|sandbox|Otptest|Kbatest|Robin|Main St|\b\d{6,}\b|localhost/i;
    expect(shown(true)).toMatch(ofDemo);
    expect(shown(false)).not.toMatch(ofDemo);
    expect(shown(false)).toMatch(/## First calls\\n\\nAsk the operator/);
  });

  it('say of each deprecated operation since when and until when, as docs/contract/changes.md does, and of no other', () => {
    const rows = readFileSync('docs/contract/changes.md', 'utf8').matchAll(
      /^\| `([A-Z]+) ([^`?]+)[^`]*` \| (\S+) \| (\S+) \|/gm,
    );
    const listed = [...rows].map(([, method = '', path, since, goneAfter]) => [
      method.toLowerCase(),
      path,
      since,
      goneAfter,
    ]);
    const found = Object.entries<object>(documents.all.paths).flatMap(([path, operations]) =>
      Object.entries<any>(operations).flatMap(
        ([method, { deprecated = false, responses, operationId, description }]) => {
          for (const [status, response] of Object.entries<any>(responses)) {
            const { headers } = response.$ref
              ? documents.all.components.responses[response.$ref.split('/').at(-1)]
              : response;
            const told = ['Deprecation', 'Sunset'].map((name) => name in headers);
            expect([operationId, status, ...told]).toEqual([operationId, status, deprecated, deprecated]);
          }
          const [, ...days] = /Deprecated since (\S+); it may be gone after (\S+)\.$/.exec(description) ?? [];
          return deprecated ? [[method, path, ...days]] : [];
        },
      ),
    );
    expect(found.length).toBeGreaterThan(0);
    expect(found).toEqual(listed);
  });

  it('have each event of the catalogue that is delivered as a webhook', () => {
    const { webhooks, components } = documents.dashboard;
    expect(Object.keys(webhooks)).toEqual([...DELIVERED_TYPES, 'ping']);
    expect(components.schemas.ReportUnavailableEvent.properties.data.properties.reason_code.enum).toContain(
      'FILE_FROZEN',
    );
  });
});

describe('a reply that is compared with the documents', () => {
  const refusal: Answered = {
    method: 'GET',
    path: '/screening/018f2f6e-0000-7000-8000-000000000000/status?x=1',
    status: 404,
    headers: { 'content-type': 'application/json; charset=utf-8', 'x-request-id': 'a', date: 'today' },
    text: JSON.stringify({
      error: {
        code: 'NOT_FOUND',
        message: 'No screening session with this id exists for this credential.',
        recoverable: false,
        request_id: '018f2f6e-0000-7000-8000-000000000000',
      },
    }),
  };
  const faultsOf = (changed: Partial<Answered>): string[] =>
    new Documented(documents.all).faultsOf({ ...refusal, ...changed });

  it('has no fault when the document says it', () => {
    expect(faultsOf({})).toEqual([]);
  });

  it.each<[string, Partial<Answered>, string]>([
    ['status', { status: 418 }, 'the status is not documented'],
    [
      'code',
      { text: refusal.text.replace('NOT_FOUND', 'REPORT_EXPIRED') },
      'must be equal to one of the allowed values',
    ],
    ['header', { headers: { ...refusal.headers, location: '/' } }, 'the header location is not documented'],
    [
      'field',
      { text: refusal.text.replace('"recoverable"', '"told":1,"recoverable"') },
      '"unevaluatedProperty":"told"',
    ],
    ['media type', { headers: { ...refusal.headers, 'content-type': 'text/plain' } }, 'the type text/plain'],
    ['envelope', { path: '/nowhere', text: '{"error":{}}' }, 'must have required property'],
  ])('has a fault when the document does not say its %s', (_, changed, fault) => {
    expect(faultsOf(changed).join('\n')).toContain(fault);
  });
});
