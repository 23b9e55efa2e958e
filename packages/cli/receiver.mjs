// The local receiver of events. Each event is a POST that is signed like a delivery (Standard Webhooks).
import { createHmac, randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { reasonOf } from './problem.mjs';

const ANSWERS_WITHIN_MS = 8_000;
/** A receiver that restarts after a change of its code is away for a few seconds. */
const PAUSES_MS = [1_000, 2_000, 4_000];
const AWAY = ['ECONNREFUSED', 'ECONNRESET', 'UND_ERR_SOCKET'];

/** The same key always gives the same secret, so that the receiver keeps its setting. The key cannot be computed from the secret. */
export function secretOf(secretKey) {
  return `whsec_${createHmac('sha256', secretKey).update('screening listen').digest('base64')}`;
}

/** The bytes of a delivery: RFC 8785, without white space and with sorted keys. */
export function bodyOf(event) {
  const sorted = (_name, value) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
      : value;
  return Buffer.from(JSON.stringify(event, sorted));
}

export function headersOf({ sequence, digest, event }, { body, secret, now }) {
  const timestamp = Math.floor(now / 1_000);
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const signature = createHmac('sha256', key).update(`${event.id}.${timestamp}.`).update(body).digest('base64');
  return {
    'content-type': 'application/json',
    'user-agent': 'Service-Webhooks/1',
    'webhook-id': event.id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `v1,${signature}`,
    'service-event-type': event.type,
    'service-delivery-id': randomUUID(),
    'service-event-sequence': String(sequence),
    'service-event-digest': digest,
  };
}

export class Receiver {
  /** `warn` gets sentences, and `pause` waits some milliseconds. */
  constructor({ url, secret, warn, pause, fetch = globalThis.fetch, now = Date.now }) {
    Object.assign(this, { url, secret, warn, pause, fetch, now });
  }

  /** The receiver's answer as text, such as `204`. Tries again only when the receiver is away. */
  async deliver(entry) {
    for (const pauseMs of [...PAUSES_MS, null]) {
      const began = performance.now();
      try {
        const status = await this.#attempt(entry);
        return { status: String(status), durationMs: Math.round(performance.now() - began) };
      } catch (error) {
        const reason = reasonOf(error);
        if (pauseMs === null || !AWAY.includes(error.cause?.code))
          return { status: `failed (${reason})`, durationMs: Math.round(performance.now() - began) };
        this.warn(`The receiver at ${this.url} does not answer (${reason}). The next try is in ${pauseMs / 1_000} s.`);
        await this.pause(pauseMs);
      }
    }
    throw new Error('The last attempt returns');
  }

  async #attempt(entry) {
    const body = bodyOf(entry.event);
    const reply = await this.fetch(this.url, {
      method: 'POST',
      headers: headersOf(entry, { body, secret: this.secret, now: this.now() }),
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(ANSWERS_WITHIN_MS),
    });
    await reply.arrayBuffer();
    return reply.status;
  }
}
