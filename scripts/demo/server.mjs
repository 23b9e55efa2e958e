// The demo page and its server, like that of an integrator: it issues session grants with the secret key and receives webhooks. The server is plain
// Node, because an example should need only what every server has. It runs on localhost only, and never in production.
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { ROOT } from '../installation.mjs';
import { Landlord } from './landlord.mjs';
import { Webhooks } from './webhooks.mjs';

const USUAL_PORT = 5173;
const ATTEMPTS = 20;
const CALL_WITHIN_MS = 15_000;
const MAX_BODY_BYTES = 65_536;
const HOST_SCRIPT = '<!-- host script -->';
const TYPES = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css' };
/** The accounts that the page shows, with a description of each in English and Spanish. */
const ACCOUNTS = {
  demo: ['the consumer pays', 'paga el consumidor'],
  nopay: ['the account pays', 'paga la cuenta'],
};

const { DATA_DIR: dataDir, DEMO_PORT: wantedPort, DEMO_WITHOUT_WEBHOOKS: missing } = process.env;
const folder = join(ROOT, 'dist-web', 'demo');
const webhooks = new Webhooks(missing || null, (account, method, path, body) =>
  call(method, path, { authorization: `Bearer ${credentials().accounts[account].dashboardTokens.owner}` }, body),
);
const landlord = new Landlord(webhooks, fetchPage);

const ROUTES = {
  'GET /': (_, response) => reply(response, 200, page(), { ...pageHeaders(), 'content-type': TYPES['.html'] }),
  'GET /config.json': (_, response) => replyJson(response, 200, config()),
  'POST /grant': async (request, response) => {
    const { account, onBehalfOfChild, ...fields } = await readJson(request);
    const { accounts } = credentials();
    const grant = { ...fields, ...(onBehalfOfChild === true && { on_behalf_of: accounts.child.accountId }) };
    const { status, body } = await call(
      'POST',
      '/v1/sessions',
      { 'x-secret-key': accounts[shown(account)].secretKey },
      grant,
    );
    replyJson(response, status, body);
  },
  'GET /webhooks': async (request, response) => replyJson(response, 200, await webhooks.state(accountOf(request))),
  'POST /webhooks': async (request, response) => {
    const { account, replace } = await readJson(request);
    const { status, body } = await webhooks.register(shown(account), replace === true);
    replyJson(response, status, body);
  },
  'GET /landlord/report': async (request, response) => {
    const { searchParams } = addressOf(request);
    const { status, body, headers } = await landlord.report(
      accountOf(request),
      searchParams.get('session'),
      searchParams.get('language') === 'es' ? 'es' : 'en',
    );
    reply(response, status, body, headers);
  },
  'GET /webhooks/stream': (request, response) => webhooks.stream(accountOf(request), response),
  'GET /webhooks/deliveries': async (request, response) => {
    const { status, body } = await webhooks.deliveries(accountOf(request));
    replyJson(response, status, body);
  },
};

await webhooks.listen(dataDir);
const port = await listen();
const origin = `http://localhost:${port}`;
tellPort();

/** Listens at both addresses of `localhost`, because browsers try both and could otherwise reach another program. */
async function listen() {
  for (let attempt = 1; ; attempt += 1) {
    const server = await bind('127.0.0.1', wantedPort || (attempt === 1 ? USUAL_PORT : 0)).catch((error) => error);
    if (!(server instanceof Error)) {
      const { port } = server.address();
      const other = await bind('::1', port).catch((error) => error);
      if (!(other instanceof Error) || other.code !== 'EADDRINUSE') return port;
      server.close();
    } else if (server.code !== 'EADDRINUSE') throw server;
    if (wantedPort || attempt === ATTEMPTS) {
      console.error('The port is taken; set DEMO_PORT to another one.');
      process.exit(1);
    }
  }
}

function bind(host, port) {
  return new Promise((resolve, reject) => {
    const server = createServer((request, response) => void answer(request, response));
    server.on('error', reject);
    server.listen({ host, port: Number(port), exclusive: true }, () => resolve(server));
  });
}

/** Writes the page's port for `npm start`, which passes it to the service. The file is never incomplete. */
function tellPort() {
  const file = join(dataDir, 'demo', 'port');
  mkdirSync(join(dataDir, 'demo'), { recursive: true, mode: 0o700 });
  writeFileSync(`${file}.new`, String(port));
  renameSync(`${file}.new`, file);
}

/** Never rejects, because a request from a foreign page must not end the process. */
async function answer(request, response) {
  try {
    // A foreign host name that points to this machine must not be used to read data meant for this machine.
    if (request.headers.host !== `localhost:${port}`) return reply(response, 307, '', { location: origin });
    const { pathname } = addressOf(request);
    // Other pages can send requests to this server. They must not issue grants, make endpoints or read deliveries.
    // A browser sends the origin of the page with each request. It omits the origin only when a page reads from its own server.
    const from = request.headers.origin ?? (request.method === 'GET' ? origin : null);
    if (from !== origin) return replyError(response, 403, 'Only the demo page may do this.');
    const route = ROUTES[`${request.method} ${pathname}`];
    if (route !== undefined) return await route(request, response);
    const file = request.method === 'GET' && builtFiles().find((file) => pathname === `/assets/${file}`);
    if (!file) return replyError(response, 404, 'There is nothing here.');
    reply(response, 200, readFileSync(join(folder, 'assets', file)), { 'content-type': TYPES[extname(file)] });
  } catch (error) {
    if (error.status === undefined) console.error(error);
    if (!response.headersSent) replyError(response, error.status ?? 502, error.message);
  }
}

const builtFiles = () => readdirSync(join(folder, 'assets')).filter((file) => extname(file) in TYPES);

function page() {
  const script = `<script src="${escape(credentials().baseUrl)}/embed/v1/service.js"></script>`;
  return readFileSync(join(folder, 'index.html'), 'utf8').replace(HOST_SCRIPT, () => script);
}

const escape = (text) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');

/** The three directives that an integrator's page needs in addition to its own. */
function pageHeaders() {
  const { baseUrl, embeddedUrl } = credentials();
  const [service, frame] = [baseUrl, embeddedUrl].map((url) => new URL(url).origin);
  return {
    'content-security-policy': [
      "default-src 'none'",
      `script-src 'self' ${service}`,
      `connect-src 'self' ${service}`,
      `frame-src 'self' ${frame}`,
      "style-src 'self'",
      'img-src data:',
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
    'referrer-policy': 'strict-origin-when-cross-origin',
  };
}

/** The page's data: addresses and publishable keys, never a secret. */
function config() {
  const { baseUrl, embeddedUrl, accounts } = credentials();
  const shownAccounts = Object.entries(ACCOUNTS).map(([name, about]) => ({
    name,
    about,
    publishableKey: accounts[name].publishableKey,
  }));
  return { baseUrl, embeddedUrl, accounts: shownAccounts };
}

/** Read at every request, because the service writes the file during its start. */
function credentials() {
  try {
    return JSON.parse(readFileSync(join(dataDir, 'demo-credentials.json'), 'utf8'));
  } catch (cause) {
    throw refusal(503, 'The service has not written the demo keys yet.', cause);
  }
}

const accountOf = (request) => shown(addressOf(request).searchParams.get('account'));

function addressOf({ url }) {
  try {
    if (url.startsWith('/')) return new URL(url, 'http://demo');
  } catch {
    // Refused below.
  }
  throw refusal(400, 'This is no address.');
}

function shown(account) {
  if (!Object.hasOwn(ACCOUNTS, account)) throw refusal(404, 'There is no such account here.');
  return account;
}

async function call(method, path, headers, body) {
  const response = await fetch(credentials().baseUrl + path, {
    method,
    headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(CALL_WITHIN_MS),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? null : JSON.parse(text) };
}

async function fetchPage(account, path) {
  const { baseUrl, accounts } = credentials();
  const response = await fetch(baseUrl + path, {
    headers: { 'x-secret-key': accounts[account].secretKey, accept: 'text/html' },
    signal: AbortSignal.timeout(CALL_WITHIN_MS),
  });
  return {
    status: response.status,
    type: response.headers.get('content-type') ?? '',
    policy: response.headers.get('content-security-policy'),
    body: await response.text(),
  };
}

async function readJson(request) {
  let text = '';
  request.setEncoding('utf8');
  for await (const chunk of request) {
    text += chunk;
    if (text.length > MAX_BODY_BYTES) throw refusal(413, 'That is too long.');
  }
  try {
    return Object(JSON.parse(text));
  } catch (cause) {
    throw refusal(400, 'The body must be JSON.', cause);
  }
}

const refusal = (status, message, cause) => Object.assign(new Error(message, { cause }), { status });

function reply(response, status, content, headers) {
  response.writeHead(status, {
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
    ...headers,
  });
  response.end(content);
}

function replyJson(response, status, body) {
  reply(response, status, JSON.stringify(body), { 'content-type': 'application/json' });
}

function replyError(response, status, message) {
  replyJson(response, status, { error: { message } });
}
