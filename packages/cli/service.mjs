// Calls the server API with the secret key. Every failure is a Problem with one sentence.
import { limited } from './limited.mjs';
import { Problem, reasonOf, Temporary } from './problem.mjs';

const ANSWERS_WITHIN_MS = 15_000;

export class Service {
  constructor({ url, secretKey, fetch = globalThis.fetch }) {
    this.url = url;
    this.secretKey = secretKey;
    this.fetch = fetch;
  }

  /** `signal` ends the request early. `withinMs` is the time limit of the whole exchange. */
  get(path, query = {}, options = {}) {
    const url = new URL(this.url + path);
    for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, value);
    return this.#ask('GET', url, options);
  }

  post(path, body, options = {}) {
    return this.#ask('POST', new URL(this.url + path), { ...options, body: JSON.stringify(body) });
  }

  async #ask(method, url, { body, signal, withinMs = ANSWERS_WITHIN_MS }) {
    const headers = { 'x-secret-key': this.secretKey, ...(body && { 'content-type': 'application/json' }) };
    let reply, text;
    try {
      [reply, text] = await limited(withinMs, signal, async (limit) => {
        const answer = await this.fetch(url, {
          method,
          headers,
          ...(body && { body }),
          redirect: 'manual',
          signal: limit,
        });
        return [answer, await answer.text()];
      });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new Temporary(`The service at ${this.url} does not answer (${reasonOf(error)}).`);
    }
    return this.#read(reply, text);
  }

  #read(reply, text) {
    const content = parse(text);
    if (reply.ok && content !== null) return content;
    const { code, message, field } = content?.error ?? {};
    if (reply.status === 429 || reply.status >= 500) {
      const retryAfterMs = 1_000 * (Number(reply.headers.get('retry-after')) || 0);
      throw new Temporary(
        message ?? `The service at ${this.url} answers with the status ${reply.status}.`,
        retryAfterMs,
      );
    }
    throw Object.assign(new Problem(this.#refusal(reply.status, { code, message })), { field });
  }

  #refusal(status, { code, message }) {
    if (typeof code !== 'string')
      return `${this.url} is not the address of a screening service: it answered with the status ${status} and without its form of reply. Check SCREENING_URL.`;
    if (status === 401) return `The service at ${this.url} does not accept the secret key: ${message}`;
    return `${message} (${code})`;
  }
}

function parse(text) {
  try {
    const content = JSON.parse(text);
    return typeof content === 'object' ? content : null;
  } catch {
    return null;
  }
}
