// The webhook deliveries of the anchor: for each event a job, an append before and after the request, an HMAC and an
// HTTPS request.
import { createHmac, randomBytes } from 'node:crypto';
import { Queue, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { Agent } from 'undici';
import { newId } from '../../../src/kernel/ids.js';
import type { AnchorLog } from './log.js';

const AT_ONCE = 128;
const SEND_TIMEOUT_MS = 10_000;

export interface Receiver {
  readonly origin: string;
  readonly ca: string;
}

/** Returns a function that delivers an event of the given session. */
export function deliveries(redis: Redis, log: AnchorLog, { origin, ca }: Receiver): (sessionId: string) => void {
  const key = randomBytes(32);
  const agent = new Agent({ connect: { ca }, headersTimeout: SEND_TIMEOUT_MS, bodyTimeout: SEND_TIMEOUT_MS });
  const queue = new Queue<{ sessionId: string; at: string }>('deliveries', {
    connection: redis,
    defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
    streams: { events: { maxLen: 100 } },
  });
  const send = async (sessionId: string, at: string): Promise<void> => {
    const id = `evt_${newId()}`;
    const stream = `delivery-${id}`;
    const body = JSON.stringify({
      id,
      type: 'screening.step_up_required',
      schema_version: 1,
      occurred_at: at,
      environment: 'test',
      account_id: sessionId,
      data: { session_id: sessionId, user_type: 'CONSUMER', methods: ['OTP'] },
    });
    const started = await log.append(stream, log.beginningOf(stream), [
      { type: 'DeliveryAttemptStarted', data: { eventId: id, eventType: 'screening.step_up_required', body } },
    ]);
    const timestamp = Math.floor(Date.now() / 1_000);
    const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
    const { statusCode, body: answer } = await agent.request({
      origin,
      path: '/anchor',
      method: 'POST',
      body,
      headers: {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': `v1,${signature}`,
      },
    });
    const excerpt = await answer.text();
    await log.append(stream, started, [{ type: 'DeliverySucceeded', data: { httpStatus: statusCode, excerpt } }]);
  };
  new Worker('deliveries', ({ data }: { data: { sessionId: string; at: string } }) => send(data.sessionId, data.at), {
    connection: redis,
    concurrency: AT_ONCE,
  });
  let waiting: string[] = [];
  return (sessionId) => {
    waiting.push(sessionId);
    if (waiting.length > 1) return;
    // Deliveries from one turn of the event loop are added to the queue together.
    setImmediate(() => {
      const at = new Date().toISOString();
      void queue.addBulk(waiting.map((id) => ({ name: 'deliver', data: { sessionId: id, at } })));
      waiting = [];
    });
  };
}
