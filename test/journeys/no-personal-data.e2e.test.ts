// Guarantee: events, read models, jobs, logs and metrics hold no personal data and no secrets. The test sends canary
// values through the whole service. Values that vendors and the service make (reports, tokens, client secrets) are
// canaries too. The test then searches every byte that the service wrote for canaries, in plain text and in the usual
// encodings.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { filesBelow, findingsOf, RedisCapture } from '../support/canaries.js';
import { DirectCaller } from '../support/direct.js';
import { intentIn, Processor } from '../support/processor.js';
import { aPerson, PlatformCaller, type Reply, Service, WITH_BROWSER } from '../support/service.js';
import { until } from '../support/eventually.js';

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
  printedPage: 'Printed canary paragraph',
  grantNote: 'Canary note of a landlord',
  grantExternalId: 'canary-external-5551213',
  renterId: 'canary-renter-5551214',
  unitAddress: '4712 Canary Perch Road',
  returnAddress: 'https://feather.example.test/paid-5551215',
  otherEmail: 'cage.keeper@example.test',
  consumerId: 'canary-consumer-5551216',
  partyId: 'canary.party+77@example.test',
  mothersMaidenName: 'Maidenbird',
  spouseName: 'Spousebird Nest',
  ipAddress: '198.51.100.177',
  propertyZip: '83647-2918',
  storedToken: 'ut_canary-5551214',
};

/** Canaries that the test learns during the run. The key names the meaning of the value. */
const learned = new Map<string, string>();

/**
 * Adds all values of a body that describe a person: names, places, texts. Values that are the same for everyone are
 * left out.
 */
function learn(what: string, body: unknown, path = ''): void {
  if (typeof body === 'string' && body.length >= 8 && !isSaidOfEverybody(body)) learned.set(`${what}${path}`, body);
  else if (typeof body === 'object' && body !== null)
    for (const [name, value] of Object.entries(body)) learn(what, value, `${path}.${name}`);
}

/** Constants in capitals, which are words of the interface, and dates. Constants and dates may also occur by chance. */
function isSaidOfEverybody(text: string): boolean {
  return /^[A-Z0-9_]+$/.test(text) || /^\d{4}-\d\d-\d\d/.test(text);
}

const canaries = (): [string, string][] => [...Object.entries(CANARIES), ...learned];
const findings = (where: string, content: Buffer): string[] => findingsOf(canaries(), where, content);

let service: Service;
let nopay: PlatformCaller;
let demo: PlatformCaller;

beforeAll(async () => {
  service = await Service.start(
    { ...WITH_BROWSER, LOG_LEVEL: 'trace', OTP_RESEND_INTERVAL: '0', VENDOR_TIMEOUT: '3' },
    { alone: ['service'] },
  );
  [nopay, demo] = await Promise.all([service.signIn('nopay'), service.signIn('demo')]);
});
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

async function walkTheWholePath(): Promise<void> {
  const otp = (
    await nopay.post('/screening/submit', canaryPerson('Otptest'), {
      'idempotency-key': CANARIES['idempotencyKey'] as string,
    })
  ).body;
  expect((await nopay.post(`/screening/${otp.id}/otp`, { code: CANARIES['otpCode'] })).body.attemptsRemaining).toBe(2);
  expect((await nopay.post(`/screening/${otp.id}/otp/resend`)).status).toBe(200);
  const kba = (await nopay.submit(canaryPerson('Kbatest'))).body;
  expect(kba.stepUp.kbaQuestions[0].text).toBe(CANARIES['kbaQuestion']);
  await nopay.post(`/screening/${kba.id}/kba`, {
    answers: kba.stepUp.kbaQuestions.map(({ id }: { id: number }) => ({ questionId: id, answerId: 5 })),
  });
  await nopay.status(kba.id);
  for (const lastName of [
    'Example',
    'Notfound',
    'Fraudtest',
    'Addresstest',
    'Downtest',
    'Resettest',
    'Garbledtest',
    'Redirecttest',
    'Timeouttest',
  ])
    await nopay.submit(canaryPerson(lastName));
  // Wrong input is the kind of input that most often reaches an error message.
  await nopay.submit({ ...canaryPerson('Example'), currentState: CANARIES['city'], phoneType: CANARIES['ssn'] });
  await nopay.post('/screening/submit', JSON.stringify(canaryPerson('Example')).slice(0, -10));
  await nopay.post(`/screening/${CANARIES['ssn']}/otp`, { code: `${CANARIES['otpCode']}9` });
  await nopay.post(`/screening/submit?ssn=${CANARIES['ssn']}`, canaryPerson('Example'));
}

/** Sends the same persons like servers of integrators, under ids that are personal data themselves. */
async function walkTheDirectPath(): Promise<void> {
  const direct = await DirectCaller.of(service);
  const id = encodeURIComponent(CANARIES['partyId'] as string);
  const { dateOfBirth: dob, userType: _, termsAcceptedAt: __, ...person } = canaryPerson('Otptest');
  const { mothersMaidenName, spouseName, ipAddress, propertyZip } = CANARIES;
  const body = (lastName: string): object => ({
    ...person,
    dob,
    mothersMaidenName,
    spouseName,
    ipAddress,
    propertyZip,
    lastName,
  });
  const key = { 'idempotency-key': `${CANARIES['idempotencyKey']}-direct` };
  expect((await direct.post(`/renters/${id}`, body('Otptest'), key)).status).toBe(200);
  expect((await direct.post(`/renters/${id}/otp`, { code: CANARIES['otpCode'] })).status).toBe(422);
  expect((await direct.get(`/renters/${id}/otp/resend`)).status).toBe(200);
  expect((await direct.post(`/renters/${id}/otp`, { code: '123456' }, key)).status).toBe(200);

  const device = { jscPayload: CANARIES['fingerprint'], hdimPayload: CANARIES['secondFingerprint'], ipAddress };
  const right = { kbaAnswers: [1, 2, 3, 4].map((answer) => ({ answer })) };
  expect((await direct.post(`/agents/${id}`, body('Kbatest'))).body.payload.kiqEnabled).toBe(true);
  expect((await direct.post(`/agents/${id}/kba`, right)).status).toBe(200);
  expect((await direct.get(`/agents/${id}/auth/status`)).body.payload.authenticated).toBe(true);
  expect((await direct.post(`/agents/${id}/auth`, { ...device, currentAddress: CANARIES['street'] })).status).toBe(200);
  expect((await direct.post(`/agents/${id}/auth/kba`, right, key)).status).toBe(200);
  expect((await direct.get(`/agents/${id}/auth/expire`)).status).toBe(200);
  expect((await direct.put(`/organizations/${id}?token=${CANARIES['storedToken']}`)).status).toBe(200);
  await direct.get(`/organizations/${id}/auth`, key);
  for (const lastName of ['Fraudtest', 'Downtest', 'Garbledtest', 'Redirecttest', 'Timeouttest'])
    await direct.post(`/organizations/${id}`, body(lastName));
  // Wrong input is the kind of input that most often reaches an error message.
  await direct.post(`/renters/${id}`, { ...body('Example'), jscPayload: `${CANARIES['fingerprint']}!` });
  await direct.post(`/renters/${id}`, { ...body('Example'), ssn: [CANARIES['ssn']] });
  await direct.post(`/renters/${id}/otp`, { code: [`${CANARIES['otpCode']}9`] });
  await direct.post(`/renters/${id}`, JSON.stringify(body('Example')).slice(0, -10));
}

async function payAndRead(): Promise<void> {
  const processor = new Processor(service.sandboxUrl);
  const { secretKey } = (await service.credentials()).accounts.demo;
  const { accountId } = (await service.credentials()).accounts.unrelated;
  const minted = await service.request('POST', '/v1/sessions', {
    headers: { 'x-secret-key': secretKey },
    body: {
      recipient_account_id: accountId,
      external_id: CANARIES['grantExternalId'],
      metadata: { note: CANARIES['grantNote'] },
    },
  });
  expect(minted.status).toBe(200);
  learned.set('a grant token', minted.body.token);
  const granted = await service.request('POST', '/auth/token/exchange', {
    headers: {
      'x-publishable-key': (await service.credentials()).accounts.demo.publishableKey,
      origin: demo.headers.origin as string,
      'x-session-token': minted.body.token,
    },
  });
  expect(granted.body.grant).toMatchObject({ consumed: true });
  learned.set('a bearer token', granted.body.token.split('.')[2]);

  const page = new PlatformCaller(service, { ...demo.headers, authorization: `Bearer ${granted.body.token}` });
  const submitted = await page.post('/screening/submit', {
    ...canaryPerson('Example'),
    unitAddress: CANARIES['unitAddress'],
  });
  const { id } = submitted.body;
  const intent = await page.post(
    '/payments/create-intent',
    { amount: 3_500, applicationFee: 500, screeningId: id },
    { 'idempotency-key': `${CANARIES['idempotencyKey']}-pay` },
  );
  const { transaction_id: transactionId, client_secret: secret } = intent.body;
  learned.set('a client secret', secret.split('_secret_')[1]);
  await processor.control('delivery', { copies: 2 });
  for (const method of ['pm_card_chargeDeclined', 'pm_card_authenticationRequired']) {
    await processor.confirm(secret, method);
    expect((await page.post(`/payments/${transactionId}/confirm`)).status).toBe(200);
  }
  await processor.authenticate(secret);
  await until('it is paid', async () => (await page.status(id)).body.overallStatus === 'COMPLETED');
  await processor.refund(intentIn(secret), 100);
  await processor.settled(intentIn(secret));
  // The service uses only the intent's id from the processor's message.
  const { charges } = await processor.money({ intent: intentIn(secret) });
  charges.forEach((charge, index) => learned.set(`charge ${index}`, charge.id));
  learned.set('a message of the processor', 'The payment was declined.');
  // Wrong messages are the kind of message that is most often logged.
  await service.request('POST', '/internal/processor/events', {
    headers: { 'stripe-signature': `t=1,v1=${CANARIES['ssn']}` },
    body: { id: 'evt_1', object: 'event', data: { name: CANARIES['firstName'] } },
  });

  const report = await page.get(`/reports/${id}`);
  expect([report.status, (await page.get(`/reports/${id}`, { accept: 'text/html' })).status]).toEqual([200, 200]);
  const { consumer, tradeLines, publicRecords, inquiries, background, housingCourt } = report.body.report;
  learn('report', { consumer, tradeLines, publicRecords, inquiries, background, housingCourt });
  expect((await page.post(`/reports/${id}/consent-to-share`, { recipientAccountId: accountId })).status).toBe(200);
  const recipient = await service.signIn('unrelated');
  expect([
    (await recipient.get(`/reports/${id}`)).status,
    (await recipient.get(`/reports/${id}`, { accept: 'text/html' })).status,
  ]).toEqual([200, 200]);
  await page.post(`/reports/${id}/pdf`, {
    html: `<p>${CANARIES['printedPage']}</p>`,
    filename: `${CANARIES['firstName']}.pdf`,
  });
  expect((await service.request('GET', `/v1/reports/${id}`, { headers: { 'x-secret-key': secretKey } })).status).toBe(
    200,
  );
  expect((await page.post(`/reports/${id}/revoke-sharing`, { recipientAccountId: accountId })).status).toBe(200);

  const income = await page.post('/voie/sessions', { screening_session_id: id });
  await until(
    'income is verified',
    async () => (await page.get(`/voie/sessions/${income.body.income_session_id}/status`)).body.status === 'COMPLETED',
  );
  const verified = await page.get(`/voie/sessions/${income.body.income_session_id}/report`);
  expect(verified.status).toBe(200);
  learn('income', { employers: verified.body.employers });
}

/** Acts as the server of an integrator, which has its own ids for people. */
async function renterChecksOut(): Promise<void> {
  const processor = new Processor(service.sandboxUrl);
  const direct = await DirectCaller.of(service, 'demo');
  const renterId = CANARIES['renterId'] as string;
  const { dateOfBirth: dob, ...person } = canaryPerson('Otptest');
  const registered = await direct.post(`/renters/${renterId}`, {
    ...person,
    middleName: undefined,
    ssn: '987013388',
    dob,
  });
  expect(registered.status).toBe(200);
  learned.set('an authSession', registered.body.payload.authSession);
  expect((await direct.post(`/renters/${renterId}/otp`, { code: CANARIES['otpCode'] })).status).toBe(422);
  expect((await direct.post(`/renters/${renterId}/otp`, { code: '123456' })).status).toBe(200);
  const body = {
    renterId,
    successUrl: `${CANARIES['returnAddress']}?session={CHECKOUT_SESSION_ID}`,
    cancelUrl: CANARIES['returnAddress'],
    propertyAddress: { address: CANARIES['unitAddress'], city: CANARIES['city'] },
    customerEmail: CANARIES['otherEmail'],
    consumerEmail: CANARIES['email'],
    consumerIdTsp: CANARIES['consumerId'],
  };
  const pay = (more: object): Promise<Reply> =>
    direct.send('POST', '/pay/payment/checkout-session', { ...body, ...more });
  expect((await pay({ successUrl: `javascript:${CANARIES['returnAddress']}` })).status).toBe(400);
  expect((await pay({ renterId: `${renterId}-unknown` })).status).toBe(404);
  expect((await pay({})).status).toBe(200);
  const { url } = (await pay({})).body.payload;
  learned.set('the address of a page', new URL(url).pathname);
  const form = new URLSearchParams({ number: '4242424242424242', expiry: '12/40', cvc: '123' });
  expect((await fetch(`${url}/pay`, { method: 'POST', body: form, redirect: 'manual' })).status).toBe(303);
  await processor.control('delivery', { copies: 1 });
  await until('it is paid', async () => (await direct.get(`/renters/${renterId}/report?format=json`)).status === 200);
}

/** The vendors' own ids of their sessions and inquiries, from the records of the sandbox. */
function learnVendorTokens(): void {
  const books = filesBelow(join(service.dataDir, 'sandbox'))
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n');
  const tokens = [...books.matchAll(/\\?"(?:UserToken|authSession|inquiryId)\\?":\\?"([^"\\]{8,})\\?"/g)].map(
    ([, token]) => token as string,
  );
  for (const token of new Set(tokens)) learned.set(`vendor token ${learned.size}`, token);
}

describe('personal data', () => {
  it('is in no event store file, Redis key, log line or metric', async () => {
    const capture = new RedisCapture(service.redis.client());
    await capture.during(async () => {
      await payAndRead();
      await renterChecksOut();
      await walkTheWholePath();
      await walkTheDirectPath();
    });
    learnVendorTokens();
    expect([...learned.keys()]).toEqual(
      expect.arrayContaining([
        'a client secret',
        'a grant token',
        'charge 0',
        'report.consumer.name',
        'income.employers.0.name',
        expect.stringMatching(/^vendor token/),
      ]),
    );
    const seen = capture.findings(canaries());
    for (const file of filesBelow(service.dataDir)) {
      // The sandbox vendor is outside the service. The vendor may store its persons and questions.
      if (!file.includes('/sandbox/')) seen.push(...findings(file.slice(service.dataDir.length), readFileSync(file)));
    }
    seen.push(...findings('the log', Buffer.from(service.program.output)));
    seen.push(...findings('the metrics', Buffer.from((await service.request('GET', '/metrics')).text)));
    expect(service.program.output).toContain('"msg":"request"');
    expect([...new Set(seen)]).toEqual([]);
  });

  it('is also removed from the vault by an erasure, while the events stay and pass verification', async () => {
    const { id, stepUp } = (await nopay.submit({ ...canaryPerson('Kbatest'), ssn: '987013399' })).body;
    expect(stepUp.kbaQuestions).toHaveLength(4);
    const erased = await service.ops('person', 'erase', id);
    expect(erased.exitCode).toBe(0);
    await until('the session is over', async () => (await nopay.status(id)).body.status === 'EXPIRED');
    const reply = await nopay.post(`/screening/${id}/kba`, {
      answers: stepUp.kbaQuestions.map(({ id: questionId }: { id: number }, index: number) => ({
        questionId,
        answerId: index + 1,
      })),
    });
    expect([reply.status, reply.body.error.code]).toEqual([410, 'SESSION_EXPIRED']);
    const verified = await service.ops('audit', 'verify');
    expect([verified.exitCode, verified.stdout]).toEqual([0, expect.stringContaining('"brokenLinks":0')]);
  });

  it('is found by this search in every encoding', () => {
    const ssn = CANARIES['ssn'] as string;
    for (const hidden of [
      ssn,
      Buffer.from(`x${ssn}y`).toString('base64'),
      Buffer.from(`xy${ssn}`).toString('base64url'),
      Buffer.from(ssn).toString('hex'),
      `{"a":"${Buffer.from(`{"ssn":"${ssn}"}`).toString('base64')}"}`,
    ]) {
      expect(findings('here', Buffer.from(hidden))).toContain('ssn in here');
    }
    const code = CANARIES['otpCode'] as string;
    for (const hidden of [code, `"${code}"`, `${code}9`, `0${code}`, `f${code} `, `:${code}a`])
      expect(findings('here', Buffer.from(hidden))).toContain('otpCode in here');
    expect(findings('here', Buffer.from(`8f${code}0b`))).toEqual([]);
  });
});
