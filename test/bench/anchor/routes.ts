// The anchor's HTTP routes: a submission and an answer with a code, each with one call to the sandbox, and a plain status.
import { Queue, Worker } from 'bullmq';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Redis } from 'ioredis';
import { jwtVerify, type CryptoKey } from 'jose';
import { Pool } from 'undici';
import { newId } from '../../../src/kernel/ids.js';
import type { AnchorLog } from './log.js';

/** The number of simultaneous calls to the vendor, which is the same as in the service. */
const CALLS_AT_ONCE = 64;
const CALL_TIMEOUT_MS = 20_000;

interface SubmitBody {
  readonly firstName: string;
  readonly lastName: string;
  readonly dateOfBirth: string;
  readonly ssn: string;
  readonly phoneNumber: string;
  readonly currentAddress: string;
  readonly currentCity: string;
  readonly currentState: string;
  readonly currentZip: string;
  readonly jscPayload: string;
  readonly termsAcceptedAt: string;
  readonly userType: string;
}

/** The fields of the vendor's answer that the anchor uses. */
interface VendorAnswer {
  readonly userAuthenticated: boolean;
  readonly UserToken?: string;
  readonly authSession: string;
}

interface Options {
  readonly redis: Redis;
  readonly log: AnchorLog;
  readonly sandboxUrl: string;
  readonly publicKey: CryptoKey;
}

export function mountRoutes(app: FastifyInstance, { redis, log, sandboxUrl, publicKey }: Options): void {
  const vendor = new Pool(sandboxUrl, { connections: CALLS_AT_ONCE, bodyTimeout: 0, headersTimeout: CALL_TIMEOUT_MS });
  const call = jobs(redis);
  const mayCall = bearerCheck(publicKey);

  const ask = async (path: string, key: string, body: object): Promise<VendorAnswer> => {
    const response = await vendor.request({
      method: 'POST',
      path: `/identity/v1${path}`,
      headers: {
        authorization: 'Bearer sandbox-vendor-key',
        'content-type': 'application/json',
        'idempotency-key': key,
      },
      body: JSON.stringify(body),
    });
    const text = await response.body.text();
    if (response.statusCode !== 200) throw new Error(`The sandbox answered ${response.statusCode}: ${text}`);
    return JSON.parse(text) as VendorAnswer;
  };
  /** Stores and returns the document of a session, which a separate route also reads. */
  const show = async (id: string, verified: boolean): Promise<object> => {
    const status = verified ? 'VERIFIED' : 'STEP_UP_REQUIRED';
    const document = { id, status, verificationStatus: status, paymentStatus: 'NOT_REQUIRED' };
    await redis.set(`status:${id}`, JSON.stringify(document));
    return document;
  };

  app.post<{ Body: SubmitBody }>('/screening/submit', { schema: { body: SUBMIT } }, async (request, reply) => {
    if (!(await mayCall(request.headers.authorization))) return refused(reply);
    const [id, attemptId] = [newId(), newId()];
    const stream = `screening-${id}`;
    const { body } = request;
    const opened = await log.append(stream, log.beginningOf(stream), [
      {
        type: 'ScreeningSubmitted',
        data: { userType: body.userType, termsAcceptedAt: body.termsAcceptedAt, paymentRequired: false },
      },
      { type: 'VerificationRequested', data: { attemptId, settleAfter: body.termsAcceptedAt } },
    ]);
    return call(attemptId, async () => {
      const answer = await ask('/registrations', attemptId, registrationOf(body));
      const verified = answer.userAuthenticated;
      await log.keepSecret(id, (verified ? answer.UserToken : undefined) ?? answer.authSession);
      const verdict = verified
        ? { type: 'IdentityConfirmed', data: { attemptId } }
        : { type: 'StepUpRequired', data: { attemptId, methods: ['OTP'], attemptsAllowed: 3 } };
      await log.append(stream, opened, [verdict]);
      return show(id, verified);
    });
  });

  app.post<{ Params: { id: string }; Body: { code: string } }>(
    '/screening/:id/otp',
    { schema: { body: OTP } },
    async (request, reply) => {
      if (!(await mayCall(request.headers.authorization))) return refused(reply);
      const { id } = request.params;
      const { code } = request.body;
      const attemptId = newId();
      const stream = `screening-${id}`;
      const session = log.secret(id);
      const received = await log.append(stream, log.endOf(stream), [
        { type: 'OtpAnswerReceived', data: { attemptId, settleAfter: new Date().toISOString() } },
      ]);
      return call(attemptId, async () => {
        const { userAuthenticated, UserToken = '' } = await ask(`/sessions/${session}/otp`, attemptId, { code });
        if (!userAuthenticated) throw new Error('The sandbox refused the right code');
        await log.keepSecret(id, UserToken);
        await log.append(stream, received, [{ type: 'IdentityConfirmed', data: { attemptId } }]);
        return show(id, true);
      });
    },
  );

  app.get<{ Params: { id: string } }>('/status/:id', async (request, reply) => {
    const stored = await redis.get(`status:${request.params.id}`);
    return reply.type('application/json').send(stored);
  });
}

/** Runs work as a job. Redis stores only the id of the job, and the caller waits in this process. */
function jobs(redis: Redis): <Result>(id: string, work: () => Promise<Result>) => Promise<Result> {
  const waiting = new Map<string, () => Promise<void>>();
  const queue = new Queue('calls', {
    connection: redis,
    defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
    streams: { events: { maxLen: 100 } },
  });
  new Worker('calls', async ({ id = '' }) => waiting.get(id)?.(), { connection: redis, concurrency: CALLS_AT_ONCE });
  return (id, work) =>
    new Promise((resolve, reject) => {
      waiting.set(id, async () => {
        waiting.delete(id);
        await work().then(resolve, reject);
      });
      queue.add('call', {}, { jobId: id }).catch(reject);
    });
}

/** Verifies a signature once, and then remembers the token until it expires. */
function bearerCheck(publicKey: CryptoKey): (authorization: string | undefined) => Promise<boolean> {
  const knownUntil = new Map<string, number>();
  return async (authorization = '') => {
    const known = knownUntil.get(authorization);
    if (known !== undefined) return Date.now() < known;
    const { payload } = await jwtVerify(authorization.replace('Bearer ', ''), publicKey, { algorithms: ['ES256'] });
    knownUntil.set(authorization, (payload.exp ?? 0) * 1_000);
    return true;
  };
}

async function refused(reply: FastifyReply): Promise<object> {
  reply.code(401);
  return { error: 'unauthenticated' };
}

function registrationOf(body: SubmitBody): object {
  return {
    userType: body.userType,
    firstName: body.firstName,
    lastName: body.lastName,
    dateOfBirth: body.dateOfBirth,
    ssn: body.ssn,
    phone: { number: body.phoneNumber.replace(/\D/g, '') },
    address: { street: body.currentAddress, city: body.currentCity, state: body.currentState, zip: body.currentZip },
    device: { jsc: body.jscPayload },
    termsAcceptedAt: body.termsAcceptedAt,
  };
}

const text = { type: 'string', minLength: 1, maxLength: 255 };

const SUBMIT = {
  type: 'object',
  required: ['firstName', 'lastName', 'dateOfBirth', 'phoneNumber', 'jscPayload', 'termsAcceptedAt', 'userType'],
  properties: {
    firstName: text,
    lastName: text,
    dateOfBirth: { type: 'string', pattern: '^[0-9]{8}$' },
    ssn: { type: 'string', pattern: '^[0-9]{9}$' },
    phoneNumber: text,
    currentAddress: text,
    currentCity: text,
    currentState: { type: 'string', pattern: '^[A-Z]{2}$' },
    currentZip: { type: 'string', pattern: '^[0-9]{5}$' },
    jscPayload: { type: 'string', maxLength: 4_000 },
    termsAcceptedAt: { ...text, format: 'date-time' },
    userType: { type: 'string', enum: ['CONSUMER', 'AGENT', 'PMC'] },
  },
};

const OTP = {
  type: 'object',
  required: ['code'],
  properties: { code: { type: 'string', pattern: '^[0-9]{4,8}$' } },
};
