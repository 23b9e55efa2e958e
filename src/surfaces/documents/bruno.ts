// Writes the OpenAPI documents as a collection for Bruno, an API client: a folder for each API, a file for each call.
// The format: https://docs.usebruno.com/bru-lang/overview

/** The parts of an OpenAPI document that a collection is made of. */
export interface ApiDocument {
  readonly info: { readonly title: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Call>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

interface Call {
  readonly summary?: string;
  readonly description?: string;
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly {
    readonly name?: string;
    readonly in?: string;
    readonly required?: boolean;
    readonly schema?: Schema;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> };
}

interface Content {
  readonly schema?: Schema;
}

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly example?: unknown;
  readonly examples?: readonly unknown[];
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** The credential of each API, as the blocks of a folder. The variables are those of the environment, or results of calls. */
const HEADS: Readonly<Record<string, readonly string[]>> = {
  platform: [
    block('auth', ['mode: bearer']),
    block('auth:bearer', ['token: {{token}}']),
    block('headers', ['Origin: {{origin}}']),
  ],
  server: keyIn('X-Secret-Key', 'secretKey'),
  direct: keyIn('X-API-KEY', 'apiKey'),
  dashboard: [block('auth', ['mode: bearer']), block('auth:bearer', ['token: {{dashboardToken}}'])],
};

/** The call of a publishable key has no token yet. */
const PUBLISHABLE_KEY = ['X-Publishable-Key: {{publishableKey}}'];

/** Values of replies that later calls need. */
const KEPT: Readonly<Record<string, string>> = {
  'post /auth/token/exchange': 'token: res.body.token',
  'post /screening/submit': 'sessionId: res.body.id',
  'post /payments/create-intent': 'transactionId: res.body.transaction_id',
  'post /voie/sessions': 'incomeSessionId: res.body.income_session_id',
  'post /tsp/webhooks': 'endpointId: res.body.id',
};

/** The first match gives the value of a path's parameter. */
const VALUES: readonly (readonly [RegExp, string])[] = [
  [/^\/(?:screening|reports|v1\/screenings|v1\/reports)\//, '{{sessionId}}'],
  [/^\/(?:payments|v1\/payments)\//, '{{transactionId}}'],
  [/^\/(?:voie|v1\/income-sessions)\//, '{{incomeSessionId}}'],
  [/^\/tsp\/.*\{deliveryId\}$/, 'delivery'],
  [/^\/tsp\//, '{{endpointId}}'],
];

const FIELDS: Readonly<Record<string, string>> = {
  screeningId: '{{sessionId}}',
  renterId: '{{renterId}}',
  account: '{{accountId}}',
};

/** The samples of bodies whose required fields are not enough, or would have an effect that lasts. */
const BODIES: Readonly<Record<string, object>> = {
  'post /v1/test_helpers/clock': { advance: 60 },
  'post /v1/test_helpers/vendor': { capability: 'identity', behaviour: 'normal' },
};

/** The files of the collection with their texts. */
export function brunoCollection(documents: Readonly<Record<string, ApiDocument>>): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  files.set(
    'bruno.json',
    `${JSON.stringify({ version: '1', name: 'Screening service', type: 'collection' }, null, 2)}\n`,
  );
  files.set('collection.bru', block('docs', ABOUT));
  files.set('environments/demo.bru', block('vars', VARIABLES));
  Object.entries(documents).forEach(([name, document], index) => {
    const meta = block('meta', [`name: ${document.info.title}`, `seq: ${index + 1}`]);
    files.set(`${name}/folder.bru`, [meta, ...(HEADS[name] ?? [])].join('\n'));
    const calls = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, call]) => ({ path, method, call })),
    );
    calls.forEach(({ path, method, call }, place) =>
      files.set(`${name}/${fileOf(method, path)}`, request({ path, method, call, place }, document)),
    );
  });
  return files;
}

const ABOUT = [
  'Generated from the OpenAPI documents (`npm run docs`); do not edit.',
  '',
  '`npm run bruno` writes the demo keys of a running `npm start` to `.env` beside this file. Choose the environment `demo`.',
  'Begin with `POST /auth/token/exchange`, or with any call of another folder. Later calls take their ids from earlier ones.',
];

const VARIABLES = [
  'baseUrl: {{process.env.BASE_URL}}',
  'origin: {{process.env.ORIGIN}}',
  'publishableKey: {{process.env.PUBLISHABLE_KEY}}',
  'secretKey: {{process.env.SECRET_KEY}}',
  'apiKey: {{process.env.API_KEY}}',
  'dashboardToken: {{process.env.DASHBOARD_TOKEN}}',
  'accountId: {{process.env.ACCOUNT_ID}}',
  'renterId: renter-1',
];

function fileOf(method: string, path: string): string {
  return `${method}${path.replace(/[^A-Za-z0-9]+/g, '-').replace(/-$/, '')}.bru`;
}

interface Placed {
  readonly path: string;
  readonly method: string;
  readonly call: Call;
  readonly place: number;
}

function request({ path, method, call, place }: Placed, { components }: ApiDocument): string {
  const { security = [], requestBody } = call;
  const key = `${method} ${path}`;
  const json = requestBody?.content['application/json'];
  const byKey = security.some((one) => 'publishable-key' in one);
  const inherits = security.length > 0 && !byKey;
  return [
    block('meta', [`name: ${method.toUpperCase()} ${path}`, 'type: http', `seq: ${place + 1}`]),
    block(method, [
      `url: {{baseUrl}}${path.replace(/\{(\w+)\}/g, ':$1')}`,
      `body: ${json ? 'json' : 'none'}`,
      `auth: ${inherits ? 'inherit' : 'none'}`,
    ]),
    ...parametersOf(path, call),
    block('headers', [
      ...(byKey ? PUBLISHABLE_KEY : []),
      ...(inherits && method === 'post' ? ['~Idempotency-Key: {{$guid}}'] : []),
    ]),
    json
      ? block('body:json', JSON.stringify(BODIES[key] ?? bodyOf(json, components.schemas), null, 2).split('\n'))
      : '',
    block('vars:post-response', [KEPT[key] ?? []].flat()),
    docs(call),
  ]
    .filter((one) => one !== '')
    .join('\n');
}

function parametersOf(path: string, { parameters = [] }: Call): string[] {
  const query = parameters.flatMap(({ in: place, name = '', required, schema = {} }) => {
    if (place !== 'query') return [];
    return required ? [`${name}: ${FIELDS[name] ?? String(sampleOf(schema, {}))}`] : [`~${name}: `];
  });
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => `${name}: ${valueOf(path, name)}`);
  return [block('params:query', query), block('params:path', inPath)];
}

function docs({ summary = '', description = '' }: Call): string {
  return block('docs', description === '' ? [summary] : [summary, '', description]);
}

function valueOf(path: string, name: string): string {
  if (path.startsWith('/api/')) return name === 'renterId' ? '{{renterId}}' : `${name}-1`;
  return VALUES.find(([pattern]) => pattern.test(path))?.[1] ?? name;
}

/** A field that names an object gets the object of an earlier call. */
function bodyOf({ schema = {} }: Content, schemas: ApiDocument['components']['schemas']): unknown {
  const body = sampleOf(schema, schemas);
  return Object.fromEntries(
    Object.entries(body as object).map(([name, value]) => [name, FIELDS[name] ?? (value as unknown)]),
  );
}

const SAMPLES: Readonly<Record<string, unknown>> = { string: '', integer: 1, number: 1, boolean: true };

/** The required fields of a body, with the examples of its schema. */
function sampleOf(schema: Schema, schemas: ApiDocument['components']['schemas']): unknown {
  const { $ref, type = '', items, required = [], properties = {} } = schema;
  if ($ref !== undefined) return sampleOf(schemas[$ref.replace('#/components/schemas/', '')] ?? {}, schemas);
  const [value = SAMPLES[[type].flat()[0] ?? '']] = [
    ...(schema.examples ?? []),
    schema.example,
    ...(schema.enum ?? []),
  ].filter((one) => one !== undefined);
  if (value !== undefined) return value;
  if (items !== undefined) return [sampleOf(items, schemas)];
  return Object.fromEntries(required.map((field) => [field, sampleOf(properties[field] ?? {}, schemas)]));
}

function keyIn(header: string, variable: string): string[] {
  return [
    block('auth', ['mode: apikey']),
    block('auth:apikey', [`key: ${header}`, `value: {{${variable}}}`, 'placement: header']),
  ];
}

/** A block of the format; nothing when it would be empty. */
function block(name: string, lines: readonly string[]): string {
  return lines.length === 0
    ? ''
    : `${name} {\n${lines.map((line) => (line === '' ? '' : `  ${line}`)).join('\n')}\n}\n`;
}
