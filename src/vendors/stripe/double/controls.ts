// Controls and queries of the processor for tests, under /control/processor. The controls need no credential.
import type { FastifyInstance } from 'fastify';
import type { Engine } from './engine.js';
import type { DeliveryPlan } from './event-delivery.js';
import { failRefund } from './intents.js';
import { refundObject } from './objects.js';
import type { StoredEvent } from './record.js';
import { sendError } from '../../../vendor-kit/double/sandbox-part.js';
import type { Intent } from './state.js';

const text = { type: 'string', minLength: 1, maxLength: 255 };
const count = { type: 'integer', minimum: 0, maximum: 1_000 };
const milliseconds = { type: 'integer', minimum: 0, maximum: 86_400_000 };

function strict(properties: object, required: readonly string[] = []): object {
  return { type: 'object', additionalProperties: false, required, properties };
}

const ABOUT = { querystring: strict({ intent: text, transaction: text }) };

interface About {
  readonly intent?: string;
  readonly transaction?: string;
}

export function mountControls(server: FastifyInstance, engine: Engine): void {
  server.register(
    (controls, _options, done) => {
      mountMoney(controls, engine);
      mountFaults(controls, engine);
      mountEvents(controls, engine);
      done();
    },
    { prefix: '/control/processor' },
  );
}

/** The amounts that were requested and charged. */
function mountMoney(controls: FastifyInstance, engine: Engine): void {
  const about = ({ intent: id, transaction }: About): Intent[] =>
    engine.record
      .allIntents()
      .filter(
        ({ id: own, metadata }) =>
          (id === undefined || id === own) && (transaction === undefined || transaction === metadata.transaction_id),
      );
  controls.get<{ Querystring: { key?: string } }>(
    '/calls',
    { schema: { querystring: strict({ key: text }) } },
    (request, reply) => {
      const { key } = request.query;
      return reply.send(key === undefined ? engine.record.allCounts() : { key, ...engine.record.countsOf(key) });
    },
  );
  controls.get<{ Querystring: About }>('/intents', { schema: ABOUT }, (request, reply) => {
    const intents = about(request.query).map(
      ({ id, status, amount, currency, applicationFee, destination, metadata }) => ({
        id,
        status,
        amount,
        currency,
        applicationFee,
        destination,
        metadata,
      }),
    );
    return reply.send({ intents });
  });
  controls.get<{ Querystring: About }>('/charges', { schema: ABOUT }, (request, reply) => {
    const charges = about(request.query).flatMap(
      ({ id: intent, metadata, charges: tries, currency, destination, applicationFee }) =>
        tries.map(({ id, status, amount, refunded, takenBack }) => ({
          id,
          intent,
          transaction: metadata.transaction_id ?? null,
          status,
          amount,
          refunded,
          ...(takenBack && { takenBack }),
          currency,
          destination,
          applicationFee,
        })),
    );
    const succeeded = charges.filter(({ status }) => status === 'succeeded');
    const sum = (what: 'amount' | 'refunded'): number => succeeded.reduce((total, charge) => total + charge[what], 0);
    return reply.send({ charges, succeeded: succeeded.length, received: sum('amount'), refunded: sum('refunded') });
  });
}

function mountFaults(controls: FastifyInstance, engine: Engine): void {
  const seconds = strict({ seconds: { type: 'number', minimum: 0, maximum: 86_400 } }, ['seconds']);
  controls.post<{ Body: { seconds: number } }>('/outage', { schema: { body: seconds } }, (request, reply) => {
    engine.faults.outageEnds = engine.now() + request.body.seconds * 1_000;
    return reply.send({ until: new Date(engine.faults.outageEnds).toISOString() });
  });
  controls.post<{ Body: { calls: number } }>(
    '/lost-answers',
    { schema: { body: strict({ calls: count }, ['calls']) } },
    (request, reply) => {
      engine.faults.answersToLose = request.body.calls;
      return reply.send({ calls: request.body.calls });
    },
  );
  controls.post<{ Body: { calls: number } }>(
    '/kept-failures',
    { schema: { body: strict({ calls: count }, ['calls']) } },
    (request, reply) => {
      engine.faults.failuresToKeep = request.body.calls;
      return reply.send({ calls: request.body.calls });
    },
  );
  controls.post<{ Body: { refuse: number } }>(
    '/refunds',
    { schema: { body: strict({ refuse: count }, ['refuse']) } },
    (request, reply) => {
      engine.faults.refundsToRefuse = request.body.refuse;
      return reply.send({ refuse: request.body.refuse });
    },
  );
  controls.post<{ Body: { intent: string } }>(
    '/refunds/fail',
    { schema: { body: strict({ intent: text }, ['intent']) } },
    async (request, reply) => {
      const failed = failRefund(engine.intent(request.body.intent));
      if (failed === null) return sendError(reply, 409, 'no_refund', 'the intent has no refund that could fail');
      const { intent, charge, refund } = failed;
      const object = refundObject(refund, charge, intent);
      const events = ['charge.refund.updated', 'refund.failed'].map((type) =>
        engine.event(type, object, intent.id, null),
      );
      await engine.happen({ intents: [intent], events });
      return reply.send(object);
    },
  );
  controls.post<{ Body: { ms: number } }>(
    '/slow',
    { schema: { body: strict({ ms: milliseconds }, ['ms']) } },
    (request, reply) => {
      engine.faults.slowMs = request.body.ms;
      return reply.send({ ms: request.body.ms });
    },
  );
}

function mountEvents(controls: FastifyInstance, engine: Engine): void {
  const shown = (event: StoredEvent): object => ({
    id: event.id,
    type: event.type,
    intent: event.intentId,
    created: new Date(event.created).toISOString(),
    end: engine.record.endOf(event),
    ...engine.delivery.stateOf(event),
  });
  controls.get<{ Querystring: { intent?: string; type?: string } }>(
    '/events',
    { schema: { querystring: strict({ intent: text, type: text }) } },
    (request, reply) => {
      const { intent, type } = request.query;
      const events = engine.record
        .allEvents()
        .filter(
          (event) => (intent === undefined || intent === event.intentId) && (type === undefined || type === event.type),
        );
      return reply.send({ events: events.map(shown) });
    },
  );
  const plan = strict({ copies: { ...count, minimum: 1 }, delayMs: milliseconds, drop: count, hold: count });
  controls.post<{ Body: Partial<DeliveryPlan> }>('/delivery', { schema: { body: plan } }, (request, reply) =>
    reply.send(engine.delivery.change(request.body)),
  );
  controls.post<{ Params: { id: string } }>('/events/:id/resend', async (request, reply) => {
    const event = engine.record.event(request.params.id);
    if (event === null) return sendError(reply, 404, 'not_found', 'there is no such event');
    return reply.send({ status: await engine.delivery.resend(event) });
  });
}
