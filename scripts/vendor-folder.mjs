// The folder that `npm run vendor:new` makes. It compiles, and its certification is red until it is filled in.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { format, resolveConfig } from 'prettier';
import { Problem } from './problem.mjs';

const USAGE =
  'npm run vendor:new <id> -- --port identity|credit|income [--auth bearer|basic|oauth2] [--polls] (several ports: identity,credit)';
const ADAPTERS = { identity: 'IdentityVendor', credit: 'CreditBureau', income: 'IncomeVendor' };
const AUTHS = ['bearer', 'basic', 'oauth2'];

/** Returns the lines that tell the next steps. */
export async function makeVendor(vendors, args) {
  const wanted = wantedIn(args);
  const folder = join(vendors, wanted.id);
  if (existsSync(folder)) throw new Problem(`The folder src/vendors/${wanted.id} exists already.`);
  const files = filesOf(wanted);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    const path = join(folder, name);
    writeFileSync(
      path,
      name.endsWith('.ts')
        ? await format(text, { ...(await resolveConfig(import.meta.filename)), filepath: path })
        : text,
    );
  }
  return [
    ...Object.keys(files).map((name) => `src/vendors/${wanted.id}/${name}`),
    `Fill in double/, then wire.ts and adapter.ts, and run: npm run vendor:test ${wanted.id} -- --watch`,
    'docs/how-to/add-a-vendor.md describes each step.',
  ];
}

function wantedIn(args) {
  const options = { port: { type: 'string' }, auth: { type: 'string', default: 'bearer' }, polls: { type: 'boolean' } };
  let parsed;
  try {
    parsed = parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    throw new Problem(`${error.message}. Usage: ${USAGE}`);
  }
  const { positionals, values } = parsed;
  const [id = ''] = positionals;
  const ports = (values.port ?? '').split(',');
  if (positionals.length !== 1 || !/^[a-z][a-z0-9-]{1,30}$/.test(id))
    throw new Problem(
      `A vendor's id has 2 to 31 lowercase letters, digits and hyphens, and begins with a letter. Usage: ${USAGE}`,
    );
  if (ports.some((port) => !Object.hasOwn(ADAPTERS, port)) || new Set(ports).size < ports.length)
    throw new Problem(`--port names identity, credit or income. Usage: ${USAGE}`);
  if (!AUTHS.includes(values.auth)) throw new Problem(`--auth is one of ${AUTHS.join(', ')}. Usage: ${USAGE}`);
  return { id, ports, auth: values.auth, polls: values.polls === true };
}

function filesOf(wanted) {
  return {
    'vendor.ts': vendorFile(wanted),
    'adapter.ts': adapterFile(wanted),
    'wire.ts': wireFile(wanted),
    'double/part.ts': doublePartFile(wanted),
    'double/double.ts': doubleFile(wanted),
    'double/certified.ts': certifiedFile(wanted),
    'vendor.test.ts': TEST,
  };
}

const pascal = (id) => id.replace(/(?:^|-)([a-z0-9])/g, (_, letter) => letter.toUpperCase());
const prefix = (id) => `VENDOR_${id.toUpperCase().replaceAll('-', '_')}`;
const secretsOf = ({ auth }) =>
  auth === 'bearer' ? ['key'] : auth === 'basic' ? ['user', 'password'] : ['clientId', 'clientSecret'];
const variableOf = (id, name) => `${prefix(id)}_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
const publishedOf = (id, name) => `sandbox-${id}-${name.toLowerCase()}`;

const OPERATIONS = {
  identity: `    identity: {
      // The operations that the vendor has, and how it treats a second request with one key: \`at-most-once\`, \`idempotent\` or \`query\`.
      operations: {
        register: 'at-most-once',
        verifyOtp: 'at-most-once',
        outcomeOf: 'query',
      },
      stepUp: ['otp'],
      outcomes: 'none',
    },`,
  credit: `    credit: { operations: { pullReport: 'idempotent' }, needs: 'applicant' },`,
  income: `    income: { operations: { start: 'idempotent', outcomeOf: 'query' }, needs: 'applicant' },`,
};

/** The name of a client or of a user may be read by everybody. */
const isSecret = (name) => !['clientId', 'user'].includes(name);

function vendorFile({ id, ports, auth }) {
  const names = secretsOf({ auth });
  const settings = names.map(
    (name) => `    ${name}: {
      kind: '${isSecret(name) ? 'secret' : 'text'}',
      variable: '${variableOf(id, name)}',
      testVariable: '${variableOf(id, name).replace(prefix(id), `${prefix(id)}_TEST`)}',
      published: '${publishedOf(id, name)}',
    },`,
  );
  return `import { defineVendor } from '../../vendor-kit/define-vendor.js';

export const vendor = defineVendor({
  id: '${id}',
  about: 'FILL IN: what the vendor verifies, and where its interface is described.',
  capabilities: {
${ports.map((port) => OPERATIONS[port]).join('\n')}
  },
  settings: {
    url: { kind: 'url', variable: '${prefix(id)}_URL', testVariable: '${prefix(id)}_TEST_URL' },
${settings.join('\n')}
  },
  async open({ url, ${names.join(', ')} }, timeoutMs) {
    const { open${pascal(id)} } = await import('./adapter.js');
    return open${pascal(id)}({ url, ${names.join(', ')}, timeoutMs });
  },
});
`;
}

const AUTH_CALLS = {
  bearer: 'bearer(key)',
  basic: 'basic(user, password)',
  oauth2: 'oauth2({ tokenUrl: `${url}/oauth/token`, clientId, clientSecret })',
};

const CLASSES = {
  identity: ({ id, polls }) => `/** Sends each request that begins or answers a check once. */
class ${pascal(id)}IdentityVendor extends IdentityVendor {
  constructor(private readonly client: VendorClient) {
    super();
  }

  override register(call: VendorCall, applicant: Applicant): Promise<RegistrationVerdict> {
    const request = { method: 'POST', path: '/v1/checks', json: checkBody(applicant) } as const;
${
  polls
    ? `    return this.client.within(call, async (vendor): Promise<RegistrationVerdict> => {
      const begun = await vendor.sendOnce<Accepted | RegistrationVerdict>(request, readAccepted);
      if (begun.kind !== 'accepted') return begun;
      const look = { method: 'GET', path: begun.path } as const;
      const found = await vendor.poll<RegistrationVerdict>(look, { read: readCheck, pending: isPending });
      return found.kind === 'pending' ? { kind: 'timed-out' } : found;
    });`
    : `    return this.client.within(call, (vendor) => vendor.sendOnce<RegistrationVerdict>(request, readCheck));`
}
  }

  override verifyOtp(call: VendorCall, vendorSession: string, code: string): Promise<AnswerVerdict> {
    const path = \`/v1/checks/\${encodeURIComponent(vendorSession)}/code\`;
    const request = { method: 'POST', path, json: { code } } as const;
    return this.client.within(call, (vendor) => vendor.sendOnce<AnswerVerdict>(request, readAnswer));
  }

  /** The vendor has no query for the outcome of an earlier request. */
  override async outcomeOf(): Promise<PastOutcome> {
    return { kind: 'unintelligible' };
  }
}
`,
  credit: ({ id }) => `/** A repeated order with the same key gets the same report. */
class ${pascal(id)}CreditBureau extends CreditBureau {
  constructor(private readonly client: VendorClient) {
    super();
  }

  override pullReport(call: VendorCall, subject: VendorSubject): Promise<ReportVerdict> {
    const request = { method: 'POST', path: '/v1/reports', json: reportBody(subject) } as const;
    return this.client.within(call, (vendor) => vendor.ask<ReportVerdict>(request, readReport));
  }
}
`,
  income: ({ id }) => `/** A repeated start with the same key starts one inquiry. */
class ${pascal(id)}IncomeVendor extends IncomeVendor {
  constructor(private readonly client: VendorClient) {
    super();
  }

  override start(call: VendorCall, route: IncomeRoute, subject: VendorSubject | null): Promise<IncomeStart> {
    const request = { method: 'POST', path: '/v1/inquiries', json: inquiryBody(route, subject) } as const;
    return this.client.within(call, (vendor) => vendor.ask<IncomeStart>(request, readStart));
  }

  override outcomeOf(call: VendorCall, inquiry: string): Promise<IncomeOutcome> {
    const request = { method: 'GET', path: \`/v1/inquiries/\${encodeURIComponent(inquiry)}\` } as const;
    return this.client.within(call, (vendor) => vendor.ask<IncomeOutcome>(request, readIncome));
  }
}
`,
};

const PORT_TYPES = {
  identity: (all) =>
    `import {\n  type AnswerVerdict,\n${all ? '  type Applicant,\n  IdentityVendor,\n  type PastOutcome,\n' : '  type Applicant,\n'}  type RegistrationVerdict,\n} from '../../ports/identity-vendor.js';`,
  credit: (all) => `import { ${all ? 'CreditBureau, ' : ''}type ReportVerdict } from '../../ports/credit-bureau.js';`,
  income: (all) =>
    `import { type IncomeOutcome, type IncomeRoute, type IncomeStart${all ? ', IncomeVendor' : ''} } from '../../ports/income-vendor.js';`,
};
const typeOnly = (text) =>
  text.replace('import {', 'import type {').replaceAll('type ', '').replace('import {', 'import type {');

const WIRE_NAMES = {
  identity: (polls) => [
    'checkBody',
    'readAnswer',
    'readCheck',
    ...(polls ? ['type Accepted', 'isPending', 'readAccepted'] : []),
  ],
  credit: () => ['readReport', 'reportBody'],
  income: () => ['inquiryBody', 'readIncome', 'readStart'],
};

function adapterFile(wanted) {
  const { id, ports, auth, polls } = wanted;
  const names = secretsOf(wanted);
  const wire = ports.flatMap((port) => WIRE_NAMES[port](polls)).sort();
  const needsSubject = ports.some((port) => port !== 'identity');
  return `// The adapters of ${id} over HTTP, for workers. wire.ts has the wire format.
import type { Secret } from '../../kernel/vendor-settings.js';
${needsSubject ? `import type { VendorSubject } from '../../kernel/vendor-subject.js';\n` : ''}${ports.map((port) => PORT_TYPES[port](true)).join('\n')}
import type { VendorCall } from '../../ports/vendor-call.js';
import type { OpenVendor } from '../../vendor-kit/define-vendor.js';
import { ${auth} } from '../../vendor-kit/http/auth.js';
import { VendorClient } from '../../vendor-kit/http/client.js';
import { ${wire.join(', ')} } from './wire.js';

interface Options {
  readonly url: string;
${names.map((name) => `  readonly ${name}: ${isSecret(name) ? 'Secret' : 'string'};`).join('\n')}
  readonly timeoutMs: number;
}

export function open${pascal(id)}({ url, ${names.join(', ')}, timeoutMs }: Options): OpenVendor {
  const client = new VendorClient({ baseUrl: url, timeoutMs, auth: ${AUTH_CALLS[auth]} });
  return {
${ports.map((port) => `    ${port}: new ${pascal(id)}${ADAPTERS[port]}(client),`).join('\n')}
    close: () => client.close(),
  };
}

${ports.map((port) => CLASSES[port](wanted)).join('\n')}`;
}

const WIRE = {
  identity: ({ polls }) => `/** FILL IN: the person in the vendor's words. */
export function checkBody(applicant: Applicant): object {
  return { name: applicant.lastName };
}
${
  polls
    ? `
export interface Accepted {
  readonly kind: 'accepted';
  readonly path: string;
}

/** FILL IN: the vendor has accepted the check, and has decided nothing yet. */
export const readAccepted = readerOf<Accepted | RegistrationVerdict>({}, () => null);

/** FILL IN: the vendor is still at work. */
export function isPending({ status }: VendorAnswer): boolean {
  return status === 202;
}
`
    : ''
}
/** FILL IN: exactly the vendor's word for success confirms a person. Null is an answer that cannot be read. */
export const readCheck = readerOf<RegistrationVerdict>({}, () => null);

/** FILL IN: the answer to a code. */
export const readAnswer = readerOf<AnswerVerdict>({}, () => null);
`,
  credit: () => `/** FILL IN: the order of a report in the vendor's words. */
export function reportBody({ purpose }: VendorSubject): object {
  return { purpose };
}

/** FILL IN: the report in the port's form. */
export const readReport = readerOf<ReportVerdict>({}, () => null);
`,
  income: () => `/** FILL IN: the inquiry in the vendor's words. */
export function inquiryBody(route: IncomeRoute, subject: VendorSubject | null): object {
  return { route, purpose: subject?.purpose };
}

/** FILL IN: the id of the inquiry. */
export const readStart = readerOf<IncomeStart>({}, () => null);

/** FILL IN: the income in the port's form. */
export const readIncome = readerOf<IncomeOutcome>({}, () => null);
`,
};

function wireFile(wanted) {
  const { id, ports, polls } = wanted;
  const imports = ports.map((port) => typeOnly(PORT_TYPES[port](false)));
  if (ports.includes('identity'))
    imports[ports.indexOf('identity')] =
      `import type { AnswerVerdict, Applicant, RegistrationVerdict } from '../../ports/identity-vendor.js';`;
  const answer = polls && ports.includes('identity') ? 'type VendorAnswer, readerOf' : 'readerOf';
  const subject = ports.some((port) => port !== 'identity');
  return `// The wire format of ${id}: writes requests, and reads verdicts. The first argument of \`readerOf\` is the table of the vendor's errors.
${subject ? `import type { VendorSubject } from '../../kernel/vendor-subject.js';\n` : ''}${imports.join('\n')}
import { ${answer} } from '../../vendor-kit/http/answer.js';

${ports.map((port) => WIRE[port](wanted)).join('\n')}`;
}

function doublePartFile({ id, auth }) {
  const names = secretsOf({ auth });
  return `import { defineDouble } from '../../../vendor-kit/double/sandbox-part.js';

export const double = defineDouble({
  variables: {
${names.map((name) => `    ${variableOf(id, name)}: '${publishedOf(id, name)}',`).join('\n')}
  },
  async open() {
    const { ${pascal(id)}Double } = await import('./double.js');
    return new ${pascal(id)}Double();
  },
});
`;
}

function doubleFile({ id }) {
  return `// ${id} as a part of the sandbox. The double has its own code for the wire, and refuses every request that the vendor would refuse.
import type { FastifyInstance } from 'fastify';
import type { SandboxPart } from '../../../vendor-kit/double/sandbox-part.js';

export class ${pascal(id)}Double implements SandboxPart {
  private readonly understandings = new Map<string, Readonly<Record<string, unknown>>>();

  /** The double's understanding of the request with this key, in the words of the applicant; null for an unknown key. */
  understood(key: string): Readonly<Record<string, unknown>> | null {
    return this.understandings.get(key) ?? null;
  }

  /** FILL IN: check the credential, remember keys, keep what was understood, and answer by the persona. */
  mount(server: FastifyInstance): void {
    server.post('/v1/*', (_request, reply) => reply.code(501).send({ error: 'not filled in' }));
  }

  close(): void {
    // This part uses no resources that must be closed.
  }
}
`;
}

const PERSONAS = {
  identity: `  { registration: { kind: 'confirmed' } },
  { person: { lastName: 'otptest' }, registration: { kind: 'step-up', otp: true, kba: null } },
  { person: { lastName: 'notfound' }, registration: { kind: 'refused', reason: 'IDENTITY_NOT_FOUND' } },`,
  credit: `  { report: { kind: 'report' } },
  { person: { lastName: 'frozentest' }, report: { kind: 'refused', reason: 'FILE_FROZEN' } },`,
  income: `  { income: { route: 'PAYROLL', verdict: { kind: 'completed' } } },
  { person: { lastName: 'noincometest' }, income: { route: 'PAYROLL', verdict: { kind: 'failed', reason: 'NO_MATCH' } } },`,
};

const ROLES = {
  identity: (polls) => ({
    submit: ['POST /v1/checks'],
    verdict: polls ? ['GET /v1/checks/*'] : [],
    answer: ['POST /v1/checks/*/code'],
  }),
  credit: () => ({ report: ['POST /v1/reports'] }),
  income: () => ({ submit: ['POST /v1/inquiries'], verdict: ['GET /v1/inquiries/*'] }),
};

/** The lines of the roles that have a request. */
function rolesOf({ ports, auth, polls }) {
  const all = ports.map((port) => ROLES[port](polls));
  if (auth === 'oauth2') all.unshift({ token: ['POST /oauth/token'] });
  return ['token', 'submit', 'verdict', 'answer', 'report'].flatMap((role) => {
    const requests = all.flatMap((one) => one[role] ?? []).map((request) => `'${request}'`);
    return requests.length === 0 ? [] : [`    ${role}: [${requests.join(', ')}],`];
  });
}

function certifiedFile({ id, ports, auth, polls }) {
  const names = secretsOf({ auth });
  const roles = rolesOf({ ports, auth, polls });
  return `// The double in its certification: the roles of its requests, and its personas with the verdicts that they must get.
import type { CertifiedDouble, CertifiedPersona } from '../../../vendor-kit/double/certified-double.js';
import { ${pascal(id)}Double } from './double.js';

export const double: CertifiedDouble = {
  roles: {
${roles.join('\n')}
  },
  // FILL IN: the errors that the vendor documents, such as { operation: 'register', status: 422, body: {...}, verdict: {...} }.
  errors: [],
${ports.includes('identity') ? `  code: { right: '123456', wrong: '999999' },\n` : ''}  start() {
    const part = new ${pascal(id)}Double();
    return {
      part,
      settings: (url) => ({ url, ${names.map((name) => `${name}: 'certified-${name.toLowerCase()}-of-${id}'`).join(', ')} }),
      understood: (key) => part.understood(key),
    };
  },
};

export const personas: readonly CertifiedPersona[] = [
${ports.map((port) => PERSONAS[port]).join('\n')}
];
`;
}

const TEST = `import { certify } from '../../vendor-kit/certification/certify.js';
import { double, personas } from './double/certified.js';
import { vendor } from './vendor.js';

await certify(vendor, double, personas);
`;
