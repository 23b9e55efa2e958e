// The webhooks of the demo page's accounts. An endpoint is registered on request, and deliveries are verified as docs/how-to/receive-webhooks.md
// says. Every open page receives the deliveries.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { RECEIVER_ADDRESS, receiverFiles } from './receiver.mjs';

const TOLERANCE_SECONDS = 300;
const MAX_BODY_BYTES = 65_536;
/** The number of past deliveries that a page still sees when it is opened later. */
const KEPT = 200;

export class Webhooks {
  #missing;
  #service;
  #port;
  /** By account: this process's endpoint, and the deliveries to it. */
  #accounts = new Map();

  /** `missing`: the reason why deliveries cannot arrive here, or null. `service`: calls the API with a dashboard token. */
  constructor(missing, service) {
    this.#missing = missing;
    this.#service = service;
  }

  async listen(dataDir) {
    if (this.#missing !== null) return;
    const { cert, key } = receiverFiles(dataDir);
    const server = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, (request, response) =>
      this.#receive(request, response),
    );
    await new Promise((resolve, reject) => server.on('error', reject).listen(0, RECEIVER_ADDRESS, resolve));
    this.#port = server.address().port;
  }

  /** Whether deliveries arrive here, and the account's endpoint. */
  async state(account) {
    const endpoint = await this.#endpoint(account);
    const { id } = this.#of(account);
    return {
      missing: this.#missing,
      receiving: endpoint !== null && endpoint.id === id,
      // An endpoint of an earlier run does not count, because its secret is lost.
      occupiedBy: endpoint === null || this.#isOurs(endpoint) ? null : endpoint.url,
      trouble: troubleOf(endpoint),
    };
  }

  /**
   * Registers an endpoint for the account. A foreign endpoint is replaced only when `replace` is true. Pages that open together get one
   * endpoint.
   */
  register(account, replace) {
    const of = this.#of(account);
    of.registering = of.registering.then(
      () => this.#register(account, replace),
      () => this.#register(account, replace),
    );
    return of.registering;
  }

  async #register(account, replace) {
    if (this.#missing !== null) return { status: 409, body: { error: { message: this.#missing } } };
    const endpoint = await this.#endpoint(account);
    if (endpoint !== null && endpoint.id === this.#of(account).id)
      return { status: 200, body: { id: endpoint.id, url: endpoint.url } };
    if (endpoint !== null && (replace || this.#isOurs(endpoint)))
      await this.#service(account, 'DELETE', `/tsp/webhooks/${endpoint.id}`);
    const url = `https://${RECEIVER_ADDRESS}:${this.#port}/${account}`;
    const reply = await this.#service(account, 'POST', '/tsp/webhooks', { url });
    if (reply.status !== 201) return reply;
    const { id, secret } = reply.body;
    Object.assign(this.#of(account), { id, key: Buffer.from(secret.slice('whsec_'.length), 'base64') });
    // The secret stays on this server.
    return { status: 201, body: { id, url } };
  }

  /** Whether the account may read the report of the session. Webhooks arrive in any order, and the end of sharing is permanent. */
  sharing(account, sessionId) {
    const { came } = this.#of(account);
    const told = came.filter(({ data }) => data.session_id === sessionId).map(({ type }) => type);
    if (told.includes('report.revoked')) return 'stopped';
    return told.includes('report.shared') ? 'shared' : 'unknown';
  }

  /** The service's list of deliveries, even if the endpoint is elsewhere. */
  async deliveries(account) {
    const endpoint = await this.#endpoint(account);
    if (endpoint === null) return { status: 200, body: { items: [] } };
    return this.#service(account, 'GET', `/tsp/webhooks/${endpoint.id}/deliveries?limit=20`);
  }

  /** Server-sent events: first the past deliveries, then new ones. */
  stream(account, response) {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    response.flushHeaders();
    const { came, pages } = this.#of(account);
    for (const delivery of came) send(response, delivery);
    pages.add(response);
    response.on('close', () => pages.delete(response));
  }

  #of(account) {
    if (!this.#accounts.has(account))
      this.#accounts.set(account, { id: null, key: null, came: [], pages: new Set(), registering: Promise.resolve() });
    return this.#accounts.get(account);
  }

  async #endpoint(account) {
    const { status, body } = await this.#service(account, 'GET', '/tsp/webhooks');
    if (status !== 200) throw new Error(`GET /tsp/webhooks was answered with ${status}`);
    return body[0] ?? null;
  }

  #isOurs({ url }) {
    return new URL(url).hostname === RECEIVER_ADDRESS;
  }

  #receive(request, response) {
    const chunks = [];
    let size = 0;
    request.on('data', (chunk) => {
      size += chunk.length;
      if (size > MAX_BODY_BYTES) request.destroy();
      else chunks.push(chunk);
    });
    request.on('error', () => undefined);
    request.on('end', () => {
      const account = this.#accounts.get(request.url.slice(1));
      const body = Buffer.concat(chunks);
      const verified = Boolean(account?.key) && isGenuine(account.key, request.headers, body);
      response.writeHead(verified ? 204 : 400).end();
      if (verified) this.#keep(account, request.headers, body);
    });
  }

  #keep(account, headers, body) {
    const { id, type, occurred_at, data } = JSON.parse(body.toString());
    // A delivery may arrive more than once, always with the same id.
    if (account.came.some((delivery) => delivery.id === id)) return;
    const delivery = {
      id,
      type,
      occurredAt: occurred_at,
      data,
      deliveryId: headers['service-delivery-id'],
      verified: true,
    };
    account.came.push(delivery);
    if (account.came.length > KEPT) account.came.shift();
    for (const page of account.pages) send(page, delivery);
  }
}

/** The endpoint's state, if deliveries to it have failed; otherwise null. */
function troubleOf(endpoint) {
  if (endpoint === null || (endpoint.status === 'active' && endpoint.recent_failures.length === 0)) return null;
  const { status, consecutive_failures: failures, last_error_code: code, last_http_status: answered } = endpoint;
  return { status, failures, error: code && [code, answered].filter((part) => part !== null).join(' ') };
}

function send(page, delivery) {
  page.write(`data: ${JSON.stringify(delivery)}\n\n`);
}

function isGenuine(key, headers, body) {
  const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signatures = '' } = headers;
  const expected = createHmac('sha256', key).update(`${id}.${time}.`).update(body).digest();
  const genuine = signatures.split(' ').some((entry) => {
    const given = Buffer.from(entry.replace(/^v1,/, ''), 'base64');
    return entry.startsWith('v1,') && given.length === expected.length && timingSafeEqual(given, expected);
  });
  return genuine && Math.abs(Date.now() / 1_000 - Number(time)) <= TOLERANCE_SECONDS;
}
