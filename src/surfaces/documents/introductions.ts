// The introduction of each OpenAPI document, the meaning of its tags, and bodies of first calls. `/docs` shows them. A service with demo accounts shows
// calls that work as they stand. Any other service has placeholders, because the demo keys and the sandbox do not exist there.

import type { OpenAPIObject } from '@nestjs/swagger';

type Operation = NonNullable<OpenAPIObject['paths'][string]['post']>;

interface Introduction {
  /** Markdown. `docs` is the address of the guides, without a trailing slash. */
  readonly text: (docs: string, firstCalls: string) => string;
  readonly firstCalls: { readonly ofDemo: (docs: string) => string; readonly ofAccount: string };
  readonly tags: Readonly<Record<string, string>>;
  /** The body of the first call of each POST route in the sandbox, by its path. */
  readonly bodies: Readonly<Record<string, object>>;
}

export interface Introducing {
  /** The address of the guides, without a trailing slash. */
  readonly docs: string;
  /** Whether the service has demo accounts. */
  readonly demo: boolean;
}

/** The document with its introduction, with its tags in the order in which a reader needs them, and with the bodies of first calls. */
export function introduced(document: OpenAPIObject, name: string, { docs, demo }: Introducing): OpenAPIObject {
  const introduction = INTRODUCTIONS[name];
  if (introduction === undefined) return document;
  const { text, firstCalls, tags, bodies } = introduction;
  const schemas = { ...document.components?.schemas };
  for (const [path, { post }] of Object.entries(document.paths)) {
    const name = nameOfBody(post);
    const [body, schema] = [bodies[path], schemas[name]];
    if (body === undefined || schema === undefined) continue;
    // In the schema, because some programs cannot read the patterns of names and call an example beside the schema wrong.
    schemas[name] = { ...schema, examples: [demo ? body : withPlaceholders(body)] };
  }
  return {
    ...document,
    components: { ...document.components, schemas },
    info: { ...document.info, description: text(docs, demo ? firstCalls.ofDemo(docs) : firstCalls.ofAccount) },
    tags: Object.entries(tags).map(([tag, description]) => ({ name: tag, description })),
  };
}

/** The name of the schema of an operation's body; empty without one. */
function nameOfBody(operation: Operation | undefined): string {
  const body = operation?.requestBody;
  const schema = body && 'content' in body ? body.content['application/json']?.schema : undefined;
  return schema && '$ref' in schema ? (schema.$ref.split('/').at(-1) ?? '') : '';
}

/** Fields whose values every installation takes. */
const TAKEN_EVERYWHERE: ReadonlySet<string> = new Set([
  'userType',
  'user_type',
  'termsAcceptedAt',
  'external_id',
  'url',
]);

function withPlaceholders(body: object): object {
  return Object.fromEntries(
    Object.entries(body).map(([name, value]: [string, unknown]) => [
      name,
      typeof value === 'string' && !TAKEN_EVERYWHERE.has(name) ? `<${name}>` : value,
    ]),
  );
}

const ADDRESS = { currentAddress: '100 Main St', currentCity: 'Austin', currentState: 'TX', currentZip: '78701' };

const REPEATING = (docs: string, code: string): string => `## Repeating a call

Send an \`Idempotency-Key\` of your own with each POST. When the connection breaks, send the same call with the same key. You get the first reply again,
with \`Idempotent-Replayed: true\`. The same key with another body is 409 \`${code}\`. [More](${docs}/contract/general#idempotency-keys)`;

const ERRORS = (docs: string): string => `## Errors

An error is \`{"error": {"code", "message", "recoverable", "request_id", ...}}\`. Decide by \`code\`, and keep a default branch. \`message\` is for
developers: it names the mistake. \`doc_url\` leads to the code in the [list of all errors](${docs}/errors). Tell us \`request_id\` when you ask for help.`;

const LIMITS = (docs: string): string => `## Limits

A 429 says in \`Retry-After\` when to come back, and names the limit. A body has at most 32 kB.
[More](${docs}/contract/general#limits-against-abuse)`;

const INTRODUCTIONS: Readonly<Record<string, Introduction>> = {
  platform: {
    text: (
      docs,
      firstCalls,
    ) => `Pages in a browser call this API: it screens a person, takes the payment, shows the report and shares it. The
[embedded component](${docs}/how-to/embed-the-component) does all of this for you. Use the API directly when you draw your own pages.

## Authentication

A page exchanges its publishable key for a bearer token, and sends the token with every other call. The token is good for an hour, and for one origin:
the key's list must contain the origin of the page.

## First calls

${firstCalls}

The [quick start](${docs}/quick-start) has the whole way with curl and test persons, and the [contract](${docs}/contract/platform) has every rule.

${REPEATING(docs, 'IDEMPOTENCY_KEY_REUSED')}

${ERRORS(docs)}

${LIMITS(docs)}`,
    firstCalls: {
      ofDemo: (
        docs,
      ) => `\`npm start\` prints a publishable key for tests, and the key's list contains the origin of this page.

1. Open \`POST /auth/token/exchange\`, press *Test Request*, put the key into **Authentication** and send. Your browser adds \`Origin\` itself;
   with curl, add \`-H 'Origin: http://localhost:5173'\`.
2. Open \`POST /screening/submit\`, put the \`token\` of the reply into **Authentication**, and send the body as it stands. In the sandbox the last name decides the answer: \`Otptest\` is asked for a code.
   [All test persons](${docs}/sandbox#personas)
3. Answer with \`POST /screening/{id}/otp\` and the \`id\` of the reply. The code is \`123456\`.`,
      ofAccount: `Ask the operator of this service for a publishable key of your account. Its list must contain the origin of your page, and for calls from here the
origin of this page. A live key screens a real person, so begin with a test key if this service has vendors for tests.

1. Open \`POST /auth/token/exchange\`, press *Test Request*, put the key into **Authentication** and send. Your browser adds \`Origin\` itself;
   with curl, add \`-H 'Origin: <origin>'\`.
2. Open \`POST /screening/submit\`, and put the \`token\` of the reply into **Authentication**. Replace each \`<...>\` of the body, and send.
3. If the reply asks for a code, answer with \`POST /screening/{id}/otp\` and the \`id\` of the reply.`,
    },
    tags: {
      auth: 'The token of a page, and the public keys that verify tokens.',
      screening: 'One person and one screening: identity, code, questions, state.',
      payments: 'The payment of a screening. Card data goes to the processor only.',
      reports: 'The report, for the person and for those whom the person chose.',
      income: 'Income and employment, from the payroll or the bank.',
      webhooks: 'The public facts that a receiver of webhooks needs: keys of signatures, and sending addresses.',
    },
    bodies: {
      '/auth/token/exchange': {},
      '/screening/submit': {
        firstName: 'Robin',
        lastName: 'Otptest',
        dateOfBirth: '04151988',
        ssn: '123456789',
        phoneNumber: '(512) 555-0143',
        ...ADDRESS,
        unitAddress: '12 Elm Street, Apt 4, Austin, TX 78701',
        jscPayload: 'demo',
        userType: 'CONSUMER',
        termsAcceptedAt: '2026-01-31T12:00:00Z',
      },
      '/screening/{id}/otp': { code: '123456' },
      '/payments/create-intent': { amount: 3500, screeningId: '018f4d2e-7c1a-7000-8000-000000000000' },
    },
  },
  server: {
    text: (
      docs,
      firstCalls,
    ) => `Your server calls this API. It makes session grants for your pages, reads and lists screenings and reports, follows
events, and refunds payments.

## Authentication

Send your secret key in \`X-Secret-Key\`. A key that begins with \`sk_test_\` sees test data only, and \`sk_live_\` live data only. Keep it on your
server: it reads reports.

## First calls

${firstCalls}

The [contract](${docs}/contract/server) has every rule. [Webhooks](${docs}/how-to/receive-webhooks) tell your server what happens, so that it need not
ask.

${REPEATING(docs, 'IDEMPOTENCY_KEY_REUSED')}

${ERRORS(docs)}

${LIMITS(docs)}`,
    firstCalls: {
      ofDemo: () => `\`npm start\` prints a secret key for tests.

1. Open \`POST /v1/sessions\`, press *Test Request*, and put the key into **Authentication**. The page keeps it until you reload.
2. Send the body as it stands. A page exchanges the \`token\` of the reply together with its publishable key.
3. Submit a person on the platform API or on the demo page. Then send \`GET /v1/screenings/{session_id}/status\`.`,
      ofAccount: `Ask the operator of this service for a secret key of your account. A live key reads real reports, so begin with a test key.

1. Open \`POST /v1/sessions\`, press *Test Request*, and put the key into **Authentication**. The page keeps it until you reload.
2. Send the body as it stands. A page exchanges the \`token\` of the reply together with its publishable key.
3. Submit a person on the platform API. Then send \`GET /v1/screenings/{session_id}/status\`.`,
    },
    tags: {
      'session grants': 'A grant binds the session of a page to your values: the account, the fee, your own id.',
      screening: 'The sessions of your account and of its direct children: state, lists and timeline.',
      reports: 'The reports of these sessions, and the reports that people shared with you.',
      income: 'The income sessions of these accounts.',
      payments: 'Payments and refunds.',
      events: 'Every published event of your account in its order, without a gap.',
      webhooks: 'The deliveries to your endpoint. The dashboard API manages the endpoint.',
      'request log': 'The requests of your account, for its developers.',
      'test helpers': 'For tests: faults of vendors, a clock to turn, and events on request.',
    },
    bodies: { '/v1/sessions': { user_type: 'CONSUMER', external_id: 'application-4711' } },
  },
  direct: {
    text: (
      docs,
      firstCalls,
    ) => `Servers that collect and protect personal data themselves call this API. It registers renters, agents and organizations, links
reports, and opens pages to pay. You choose the ids.

## Authentication

Send your API key in \`X-API-KEY\`. A wrong key is 403 with the number 324. The key is for servers only: pages of other origins have no access.

## First calls

${firstCalls}

The [quick start](${docs}/quick-start#a-renter-without-a-page) has these calls with curl and test persons, and the [contract](${docs}/contract/direct) has every rule.

${REPEATING(docs, '121')}

## Errors

A reply is \`{"payload", "errors": [{"errorCode", "errorOnField", "errorMessage"}]}\`. Decide by the status first: wrong answers are 422 with
\`errors: []\`. All numbers are in the [list of errors](${docs}/errors). Vendor replies are the vendor's own JSON, byte for byte.

${LIMITS(docs)}`,
    firstCalls: {
      ofDemo: () => `\`npm start\` prints an API key for tests.

1. Open \`POST /api/idv/renters/{renterId}\`, press *Test Request*, and put the key into **Authentication**. The page keeps it until you reload.
2. Send the body as it stands with any id, such as \`renter-1\`. The last name \`Kbatest\` is asked four questions.
3. Send \`POST /api/idv/renters/{renterId}/kba\` with the same id. The positions 1, 2, 3, 4 are right.
4. Send \`GET /api/idv/renters/{renterId}/report\`. The account \`demo\` lets the renter pay first (402), and the account \`nopay\` does not. Its key is in
   \`demo-credentials.json\`, in the folder that \`npm start\` prints.`,
      ofAccount: `Ask the operator of this service for an API key of your account. A live key registers a real person, so begin with a
test key if this service has vendors for tests.

1. Open \`POST /api/idv/renters/{renterId}\`, press *Test Request*, and put the key into **Authentication**. The page keeps it until you reload.
2. Replace each \`<...>\` of the body, and send it with an id of your choice, such as \`renter-1\`. The reply says what the renter is asked.
3. Send the answers to \`POST /api/idv/renters/{renterId}/otp\` or \`POST /api/idv/renters/{renterId}/kba\` with the same id.
4. Send \`GET /api/idv/renters/{renterId}/report\`. If the renter has to pay first, the reply is 402.`,
    },
    tags: {
      renters: 'Register a renter, and answer for the renter.',
      agents: 'Register an agent, and authenticate the agent again.',
      organizations: 'Register an organization by its contact person, and authenticate it again.',
      reports: "A renter's own report, and linked reports.",
      links: 'Which agent or organization sees the report of a renter.',
      checkout: 'A page of the processor where the renter pays.',
    },
    bodies: {
      '/api/idv/renters/{renterId}': {
        firstName: 'Sam',
        lastName: 'Kbatest',
        dob: '04151988',
        ssn: '123461234',
        phoneNumber: '5125550144',
        ipAddress: '203.0.113.7',
        ...ADDRESS,
        jscPayload: 'demo',
      },
      '/api/idv/renters/{renterId}/kba': { kbaAnswers: [{ answer: 1 }, { answer: 2 }, { answer: 3 }, { answer: 4 }] },
    },
  },
  dashboard: {
    text: (
      docs,
      firstCalls,
    ) => `The dashboard of an account calls this API. It registers the webhook endpoint of the account, and shows and repeats deliveries.

## Authentication

Send \`Authorization: Bearer\` with a dashboard token. The roles \`OWNER\` and \`ADMINISTRATOR\` may manage webhooks.

## First calls

${firstCalls}

[Receive webhooks](${docs}/how-to/receive-webhooks) shows the receiver, [events](${docs}/events) has all events, and the
[contract](${docs}/contract/webhooks) every rule.

${REPEATING(docs, 'IDEMPOTENCY_KEY_REUSED')}

${ERRORS(docs)}

${LIMITS(docs)}`,
    firstCalls: {
      ofDemo: () => `For tests the tokens are in \`demo-credentials.json\`, in the folder that \`npm start\` prints.

1. Open \`GET /tsp/webhooks\`, press *Test Request*, and put the token \`accounts.demo.dashboardTokens.owner\` into **Authentication**.
2. Send. The list is empty, or has the endpoint of the demo page.
3. Send \`POST /tsp/webhooks\` with the address of your receiver, and \`POST /tsp/webhooks/{id}/test\` to be sent a \`ping\`.`,
      ofAccount: `Ask the operator of this service for a dashboard token of your account.

1. Open \`GET /tsp/webhooks\`, press *Test Request*, and put the token into **Authentication**.
2. Send. The list is empty until you register an endpoint.
3. Send \`POST /tsp/webhooks\` with the address of your receiver, and \`POST /tsp/webhooks/{id}/test\` to be sent a \`ping\`.`,
    },
    tags: { webhooks: 'The endpoint of the account, its secret, and the deliveries to it.' },
    bodies: { '/tsp/webhooks': { url: 'https://example.com/webhooks' } },
  },
};
