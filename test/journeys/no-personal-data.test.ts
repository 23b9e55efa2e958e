// Guarantee: nothing personal is in events, read models, jobs, logs or metrics. Canary values go through the whole path;
// then every byte the service wrote is searched for them, plain and in the usual disguises.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { aPerson, type PlatformCaller, Service, until } from '../support/service.js';

const CANARIES: Readonly<Record<string, string>> = {
  ssn: '987013377',
  firstName: 'Canarybird',
  middleName: 'Middlebird',
  street: '4711 Canary Cage Lane',
  city: 'Featherville',
  zip: '83647-2917',
  phone: '2025550177',
  birthDate: '11091971',
  email: 'canary.bird@example.test',
  company: 'Canary Holdings',
  otpCode: '98765432',
  fingerprint: 'FP-CANARY-7f3a9b1c2d',
  secondFingerprint: 'HD-CANARY-9e8d7c6b5a',
  idempotencyKey: 'idem-canary-5551212',
  kbaQuestion: 'Which of these streets have you lived on?',
  kbaAnswer: 'Cedar Lane',
};

let service: Service;
let nopay: PlatformCaller;

beforeAll(async () => {
  service = await Service.start({ LOG_LEVEL: 'trace', OTP_RESEND_INTERVAL: '0', VENDOR_TIMEOUT: '3' });
  nopay = await service.signIn('nopay');
}, 90_000);
afterAll(() => service.stop());

function canaryPerson(lastName: string): Record<string, unknown> {
  return aPerson({
    lastName,
    firstName: CANARIES['firstName'],
    middleName: CANARIES['middleName'],
    ssn: CANARIES['ssn'],
    dateOfBirth: CANARIES['birthDate'],
    phoneNumber: CANARIES['phone'],
    email: CANARIES['email'],
    companyName: CANARIES['company'],
    currentAddress: CANARIES['street'],
    currentCity: CANARIES['city'],
    currentZip: CANARIES['zip'],
    currentState: 'ID',
    jscPayload: CANARIES['fingerprint'],
    hdimPayload: CANARIES['secondFingerprint'],
  });
}

/** The canary as it is and as it could hide: base64 at each alignment, base64url, hex, URL-encoded, reversed case. */
function disguises(canary: string): Buffer[] {
  const bytes = Buffer.from(canary);
  const aligned = [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    // The first and last characters mix with their neighbours.
    return text.slice(offset === 0 ? 0 : offset + 1, text.length - 4);
  });
  const texts = [canary, canary.toLowerCase(), canary.toUpperCase(), encodeURIComponent(canary), bytes.toString('hex'), ...aligned, ...aligned.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'))];
  // A shorter text turns up by chance among so many ids and hashes.
  return [...new Set(texts)].filter((text) => text.length >= 8).flatMap((text) => [Buffer.from(text), Buffer.from(text, 'utf16le')]);
}

function findings(where: string, content: Buffer): string[] {
  return Object.entries(CANARIES).flatMap(([name, canary]) => (disguises(canary).some((disguise) => content.includes(disguise)) ? [`${name} in ${where}`] : []));
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

async function walkTheWholePath(): Promise<void> {
  const otp = (await nopay.post('/screening/submit', canaryPerson('Otptest'), { 'idempotency-key': CANARIES['idempotencyKey'] as string })).body;
  expect((await nopay.post(`/screening/${otp.id}/otp`, { code: CANARIES['otpCode'] })).body.attemptsRemaining).toBe(2);
  expect((await nopay.post(`/screening/${otp.id}/otp/resend`)).status).toBe(200);
  const kba = (await nopay.submit(canaryPerson('Kbatest'))).body;
  expect(kba.stepUp.kbaQuestions[0].text).toBe(CANARIES['kbaQuestion']);
  await nopay.post(`/screening/${kba.id}/kba`, { answers: kba.stepUp.kbaQuestions.map(({ id }: { id: number }) => ({ questionId: id, answerId: 5 })) });
  await nopay.status(kba.id);
  for (const lastName of ['Example', 'Notfound', 'Fraudtest', 'Addresstest', 'Downtest', 'Resettest', 'Garbledtest', 'Redirecttest', 'Timeouttest']) await nopay.submit(canaryPerson(lastName));
  // Wrong input is the likeliest to end in an error message.
  await nopay.submit({ ...canaryPerson('Example'), currentState: CANARIES['city'], phoneType: CANARIES['ssn'] });
  await nopay.post('/screening/submit', JSON.stringify(canaryPerson('Example')).slice(0, -10));
  await nopay.post(`/screening/${CANARIES['ssn']}/otp`, { code: `${CANARIES['otpCode']}9` });
  await nopay.post(`/screening/submit?ssn=${CANARIES['ssn']}`, canaryPerson('Example'));
}

describe('nothing personal is kept', () => {
  it('in the event store files, any Redis key, any log line or the metrics', async () => {
    const seen: string[] = [];
    // Redis is searched all the while, because what lies there for a moment only is there too.
    const redis = service.redis.client();
    let walking = true;
    const watching = (async () => {
      while (walking) seen.push(...(await searchRedis(redis)));
    })();
    await walkTheWholePath();
    walking = false;
    await watching;
    seen.push(...(await searchRedis(redis)));
    for (const file of filesBelow(service.dataDir)) {
      // The sandbox vendor is the outside world; it knows whom it was asked about, and its questions.
      if (!file.includes('/sandbox/')) seen.push(...findings(file.slice(service.dataDir.length), readFileSync(file)));
    }
    seen.push(...findings('the log', Buffer.from(service.program.output)));
    seen.push(...findings('the metrics', Buffer.from((await service.request('GET', '/metrics')).text)));
    expect(service.program.output).toContain('"msg":"request"');
    expect([...new Set(seen)]).toEqual([]);
  }, 120_000);

  it('after an erasure even in the vault, while the events stay and verify', async () => {
    const { id, stepUp } = (await nopay.submit({ ...canaryPerson('Kbatest'), ssn: '987013399' })).body;
    expect(stepUp.kbaQuestions).toHaveLength(4);
    const erased = await service.ops('person', 'erase', id);
    expect(erased.exitCode).toBe(0);
    await until('the session is over', async () => (await nopay.status(id)).body.status === 'EXPIRED');
    const reply = await nopay.post(`/screening/${id}/kba`, { answers: stepUp.kbaQuestions.map(({ id: questionId }: { id: number }, index: number) => ({ questionId, answerId: index + 1 })) });
    expect([reply.status, reply.body.error.code]).toEqual([410, 'SESSION_EXPIRED']);
    const verified = await service.ops('audit', 'verify');
    expect([verified.exitCode, verified.stdout]).toEqual([0, expect.stringContaining('"brokenLinks":0')]);
  }, 60_000);

  it('and this search finds a canary wherever it hides', () => {
    const ssn = CANARIES['ssn'] as string;
    for (const hidden of [ssn, Buffer.from(`x${ssn}y`).toString('base64'), Buffer.from(`xy${ssn}`).toString('base64url'), Buffer.from(ssn).toString('hex'), `{"a":"${Buffer.from(`{"ssn":"${ssn}"}`).toString('base64')}"}`]) {
      expect(findings('here', Buffer.from(hidden))).toContain('ssn in here');
    }
  });
});

async function searchRedis(redis: ReturnType<Service['redis']['client']>): Promise<string[]> {
  const found: string[] = [];
  for (const key of await redis.keys('*')) {
    const type = await redis.type(key);
    const content = Buffer.from(JSON.stringify(await valueOf(redis, key, type)));
    found.push(...findings(`the name of ${key.slice(0, 40)}`, Buffer.from(key)), ...findings(key.slice(0, 60), content));
  }
  return found;
}

async function valueOf(redis: ReturnType<Service['redis']['client']>, key: string, type: string): Promise<unknown> {
  switch (type) {
    case 'string': {
      const value = await redis.getBuffer(key);
      return [value?.toString('latin1'), value?.toString('utf8')];
    }
    case 'hash':
      return redis.hgetall(key);
    case 'list':
      return redis.lrange(key, 0, -1);
    case 'set':
      return redis.smembers(key);
    case 'zset':
      return redis.zrange(key, '0', '-1');
    case 'stream':
      return redis.xrange(key, '-', '+');
    default:
      return null;
  }
}
