// Makes the documents of the APIs: one for each API with its own schemas and credentials, and one of everything.
import type { OpenAPIObject } from '@nestjs/swagger';
import type { Surface, Surfaces } from '../../platform/http/surface.js';
import { PASSED_ON } from '../direct/operations.js';
import { EXAMPLES } from './examples.js';
import { HEADERS, IDEMPOTENCY_KEY, PARAMETERS } from './parameters.js';
import { describedAs, OPERATION, type Described } from './operation.js';
import { type ErrorResponse, errorResponses, errorsOf, takesKey, type Route } from './responses.js';
import { asJsonSchema, type Json, rulesOf, schemasIn, withRules } from './schemas.js';
import { eventSchemas, webhooks } from './webhooks.js';

interface Operation extends Json {
  readonly parameters?: readonly Json[];
  readonly requestBody?: Json;
  readonly responses: Readonly<Record<string, Json>>;
  readonly security?: readonly Json[];
  readonly tags?: readonly string[];
}

const LICENSE = { name: 'Proprietary', identifier: 'UNLICENSED' };
const DESCRIPTION = 'Errors, idempotency keys, limits and texts are the same on all operations of an API.';
const TAGS: Json = {
  auth: 'Bearer tokens for pages',
  screening: 'Screening sessions',
  payments: 'Payments of consumers, and refunds',
  reports: 'Credit reports, their sharing and printing',
  income: 'Verification of income and employment',
  'session grants': 'Grants that bind a session of a page',
  events: 'Every published event of the account, without a gap',
  'request log': 'The requests of the account, for its developers',
  'test helpers': 'For tests: faults of vendors, a clock to turn, and events on request',
  renters: 'Registration of renters',
  agents: 'Registration and authentication of agents',
  organizations: 'Registration and authentication of organizations',
  checkout: 'Pages where renters pay',
  links: 'Reports of renters for agents and organizations',
  webhooks: 'Webhook endpoints, deliveries and events',
};

type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

export interface Documents {
  /** Describes all APIs together. */
  readonly whole: OpenAPIObject;
  /** One document for each API. */
  readonly named: ReadonlyMap<string, OpenAPIObject>;
}

/** The titles of the documents, by the names of the documents. */
export function titlesOf(surfaces: Surfaces): ReadonlyMap<string, string> {
  return new Map(surfaces.all.map(({ document: { name, title } }) => [name, title]));
}

/** `raw` is the library's own description of the controllers. */
export function documentsOf(raw: OpenAPIObject, surfaces: Surfaces): Documents {
  const { paths: rawPaths, components, ...about } = asJsonSchema(raw) as OpenAPIObject & { readonly paths: Paths };
  const used: Described[] = [];
  const paths = Object.fromEntries(
    Object.entries(rawPaths as unknown as Paths).map(([path, operations]) => [
      path,
      Object.fromEntries(
        Object.entries(operations).map(([method, operation]) => {
          const described = describedAs(operation[OPERATION]);
          if (described === undefined) return [method, operation];
          used.push(described);
          return [method, operationOf(operation, { path, method, secured: isSecured(operation), described }, surfaces)];
        }),
      ),
    ]),
  );
  const schemas: Record<string, Json> = { ...(components?.schemas as Record<string, Json>), ...eventSchemas() };
  for (const { value } of used)
    if (value.body !== undefined) schemas[value.body.name] = withRules(schemas[value.body.name] ?? {}, value.body);
  for (const name of PASSED_ON) schemas[name] = { ...schemas[name], additionalProperties: true };
  const make = (title: string, own: Paths, of: readonly Surface[]): OpenAPIObject => {
    const events = of.some(({ document }) => document.name === 'dashboard') ? webhooks() : {};
    const errors = of.map(({ errorResult }) => ({ $ref: `#/components/schemas/${errorResult.name}` }));
    const needed = schemasIn([own, events, errors], schemas);
    const credentials = Object.assign({}, ...of.map(({ document }) => document.credentials)) as Json;
    const named = Object.values(own).flatMap((operations) =>
      Object.values(operations).flatMap(({ tags = [] }) => tags),
    );
    const { used: responses, paths: shared } = withSharedResponses(own);
    return {
      ...about,
      info: { ...raw.info, title, description: DESCRIPTION, license: LICENSE },
      tags: [...new Set(named)].map((name) => ({ name, description: TAGS[name] ?? name })),
      paths: shared,
      ...(Object.keys(events).length > 0 && { webhooks: events }),
      components: {
        schemas: Object.fromEntries(Object.entries(schemas).filter(([name]) => needed.has(name))),
        securitySchemes: credentials,
        ...inUse(
          { parameters: { IdempotencyKey: { ...IDEMPOTENCY_KEY, in: 'header' } }, headers: HEADERS },
          shared,
          responses,
        ),
        responses,
      },
    } as unknown as OpenAPIObject;
  };
  const named = [...titlesOf(surfaces)].map(([name, title]): [string, OpenAPIObject] => {
    const of = surfaces.all.filter(({ document }) => document.name === name);
    const own = Object.entries(paths).filter(([path]) => surfaces.at(path).document.name === name);
    return [name, make(title, Object.fromEntries(own), of)];
  });
  return { whole: make(raw.info.title, paths, surfaces.all), named: new Map(named) };
}

/** An operation without a word on credentials takes none. */
function isSecured({ security = [] }: Operation): boolean {
  return security.length > 0;
}

function operationOf({ [OPERATION]: _, ...operation }: Operation, route: Route, surfaces: Surfaces): Operation {
  const { value } = route.described;
  const common = [
    'X-Request-Id',
    'Service-Request-Id',
    ...(value.headers ?? []),
    ...(value.deprecated ? ['Deprecation', 'Sunset'] : []),
    ...(route.secured && (operation.requestBody || value.query) ? ['Service-Warnings'] : []),
  ];
  const kept = takesKey(route) ? ['Idempotent-Replayed', 'Idempotency-Kept'] : [];
  const operationId = typeof value.id === 'string' ? value.id : value.id(route.path);
  const successes = mapped(operation.responses, (response, status): Json => ({
    ...(Number(status) < 300 ? withExample(response, EXAMPLES[operationId]) : response),
    headers: headersOf([...common, ...kept, ...headersOfType(response)]),
  }));
  const { errorResult } = surfaces.at(route.path);
  const errors = [...errorResponses(errorsOf(route), route.path, surfaces)].map(([status, error]): [string, Json] => {
    const schemas = [...schemasOf(successes[status]), errorSchema(errorResult.name, error)];
    return [
      String(status),
      {
        description: error.lines.join('\n'),
        headers: headersOf([...common, ...(status < 500 ? kept : []), ...error.headers]),
        content: { 'application/json': { schema: schemas.length === 1 ? schemas[0] : { anyOf: schemas } } },
      },
    ];
  });
  return {
    ...operation,
    operationId,
    parameters: [
      ...(operation.parameters ?? []).map((parameter) => describedParameter(parameter, route)),
      ...(takesKey(route) ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
    ],
    security: operation.security ?? [],
    // Numbers as names are in order.
    responses: { ...successes, ...Object.fromEntries(errors) },
  };
}

type Content = Readonly<Record<string, { readonly schema: Json }>>;

/** The schemas of a reply that has the body of a success with the status of an error. */
function schemasOf({ content = {} }: { readonly content?: Content } = {}): Json[] {
  return Object.values(content).map(({ schema }) => schema);
}

function withExample(response: Json, example: unknown): Json {
  const { content } = response as { readonly content?: Content };
  const json = content?.['application/json'];
  return json && example
    ? { ...response, content: { ...content, 'application/json': { ...json, example } } }
    : response;
}

function headersOfType({ content = {} }: { readonly content?: Content }): string[] {
  return [
    ...('text/html' in content ? ['Content-Security-Policy'] : []),
    ...('application/pdf' in content ? ['Content-Disposition'] : []),
  ];
}

function headersOf(names: readonly string[]): Json {
  const known = Object.keys(HEADERS);
  const spelled = names.map((name) => known.find((one) => one.toLowerCase() === name.toLowerCase()) ?? name);
  return Object.fromEntries([...new Set(spelled)].map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** The components that the rest of the document refers to. */
function inUse(components: Readonly<Record<string, Json>>, ...rest: readonly unknown[]): Json {
  const text = JSON.stringify(rest);
  return mapped(components, (named, kind) =>
    Object.fromEntries(Object.entries(named).filter(([name]) => text.includes(`"#/components/${kind}/${name}"`))),
  );
}

/** The same paths, whose equal responses are references to one. Otherwise a document would be several times as long. */
function withSharedResponses(paths: Paths): { readonly paths: Paths; readonly used: Record<string, Json> } {
  const times = new Map<string, number>();
  const each = (see: (status: string, response: Json) => Json): Paths =>
    mapped(paths, (operations) =>
      mapped(operations, (operation) => ({
        ...operation,
        responses: mapped(operation.responses, (response, status) => see(status, response)),
      })),
    );
  each((_, response) => {
    const text = JSON.stringify(response);
    times.set(text, (times.get(text) ?? 0) + 1);
    return response;
  });
  const used: Record<string, Json> = {};
  const names = new Map<string, string>();
  return {
    used,
    paths: each((status, response) => {
      const text = JSON.stringify(response);
      if (Number(status) < 400 || times.get(text) === 1) return response;
      const codes = [...text.matchAll(/- `(\w+)`/g)].map(([, code]) => code);
      const plain = [status, ...new Set(codes)].slice(0, 4).join('_');
      let name = names.get(text) ?? plain;
      for (let copy = 2; !names.has(text) && used[name] !== undefined; copy++) name = `${plain}_${copy}`;
      names.set(text, name);
      used[name] = response;
      return { $ref: `#/components/responses/${name}` };
    }),
  };
}

function mapped<From, To>(
  record: Readonly<Record<string, From>>,
  change: (value: From, name: string) => To,
): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value, name)]));
}

/** The envelope, narrowed to the codes of the status. */
function errorSchema(envelope: string, { codes, reduced }: ErrorResponse): Json {
  const whole = { $ref: `#/components/schemas/${envelope}` };
  const numeric = codes.every((code) => typeof code === 'number');
  const word = { enum: codes };
  const narrowed = numeric
    ? { errors: { type: 'array', items: { type: 'object', properties: { errorCode: word } } } }
    : { error: { type: 'object', required: ['code'], properties: { code: word } } };
  const narrow = { allOf: [whole, { type: 'object', required: Object.keys(narrowed), properties: narrowed }] };
  return reduced ? { anyOf: [narrow, { $ref: '#/components/schemas/ReducedErrorResult' }] } : narrow;
}

function describedParameter(parameter: Json, { path, described: { value } }: Route): Json {
  const { name, schema } = parameter as { readonly name: string; readonly schema: Json };
  // A number of a query arrives as a text, and its pattern is about that text.
  if (parameter['in'] === 'query' && value.query && schema['type'] === 'string')
    return { ...parameter, schema: { ...rulesOf(value.query)[name], ...schema } };
  if (parameter['in'] !== 'path') return parameter;
  const about = PARAMETERS.find((known) => known.name === name && path.startsWith(known.below));
  const example = about?.example === undefined ? {} : { example: about.example };
  return { ...parameter, description: about?.description, schema: about?.schema, ...example };
}
