import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { aPerson, type PlatformCaller, Service } from '../../support/service.js';

let service: Service;
let demo: PlatformCaller;
let nopay: PlatformCaller;

beforeAll(async () => {
  service = await Service.shared('plain');
  [demo, nopay] = await Promise.all([service.signIn('demo'), service.signIn('nopay')]);
});
afterAll(() => service.stop());

const rightAnswers = (questions: { id: number }[]): object => ({
  answers: questions.map(({ id }, index) => ({ questionId: id, answerId: index + 1 })),
});
const wrongAnswers = (questions: { id: number }[]): object => ({
  answers: questions.map(({ id }) => ({ questionId: id, answerId: 5 })),
});
const refused = (reply: { status: number; body: any }): [number, string] => [reply.status, reply.body?.error?.code];

describe('POST /screening/submit', () => {
  it('answers 200 VERIFIED without a step-up when the identity is confirmed at once', async () => {
    const reply = await demo.submit();
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({ id: expect.stringMatching(/^[0-9a-f-]{36}$/), status: 'VERIFIED' });
  });

  it('answers 200 STEP_UP_REQUIRED with an SMS code', async () => {
    const { status, body } = await demo.submit({ lastName: 'OTPTEST' });
    expect(status).toBe(200);
    expect(body).toEqual({
      id: expect.any(String),
      status: 'STEP_UP_REQUIRED',
      stepUp: { type: 'OTP', otpEnabled: true, kbaEnabled: false },
    });
  });

  it('answers 200 STEP_UP_REQUIRED with questions whose answer ids are their positions', async () => {
    const { body } = await demo.submit({ lastName: 'kbatest' });
    expect(body.stepUp).toMatchObject({ type: 'KBA', otpEnabled: false, kbaEnabled: true });
    expect(body.stepUp.kbaQuestions).toHaveLength(4);
    for (const { answers } of body.stepUp.kbaQuestions)
      expect(answers.map(({ id }: { id: number }) => id)).toEqual([1, 2, 3, 4, 5]);
  });

  it('answers 200 with a CHOICE between a code and questions', async () => {
    const { body } = await demo.submit({ lastName: 'Choicetest' });
    expect(body.stepUp).toMatchObject({
      type: 'CHOICE',
      otpEnabled: true,
      kbaEnabled: true,
      kbaQuestions: expect.any(Array),
    });
  });

  it.each([
    ['Notfound', 404, 'IDENTITY_NOT_FOUND', 'IDENTITY_NOT_FOUND'],
    ['Fraudtest', 423, 'USER_BLOCKED', undefined],
    ['Sanctiontest', 423, 'USER_BLOCKED', undefined],
    ['Alerttest', 423, 'USER_BLOCKED', undefined],
    ['Deceasedtest', 423, 'USER_BLOCKED', undefined],
  ])(
    'answers for %s: %i %s with the session id, and a reason if browsers may learn it; a repeated request gets the same answer',
    async (lastName, status, code, reasonCode) => {
      const [person, key] = [aPerson({ lastName }), { 'idempotency-key': randomUUID() }];
      const reply = await demo.post('/screening/submit', person, key);
      expect(refused(reply)).toEqual([status, code]);
      const { sessionId } = reply.body;
      expect(reply.body.error.sessionId).toBe(sessionId);
      const told = await demo.status(sessionId);
      expect(told.body.status).toBe('BLOCKED');
      expect([reply.body.error.reasonCode, told.body.reasonCode]).toEqual([reasonCode, reasonCode]);
      for (const { text } of [reply, told]) expect(text).not.toMatch(/FRAUD|SANCTION|ALERT|DECEASED/);
      const again = await demo.post('/screening/submit', person, key);
      expect([again.status, again.text]).toEqual([status, reply.text]);
    },
  );

  it.each([
    ['Addresstest', 400, 'INVALID_ADDRESS'],
    ['Downtest', 503, 'SERVICE_UNAVAILABLE'],
    ['Resettest', 503, 'SERVICE_UNAVAILABLE'],
  ])('answers for %s: %i %s, with the id of the session beside the error', async (lastName, status, code) => {
    const reply = await demo.submit({ lastName });
    expect(refused(reply)).toEqual([status, code]);
    expect(reply.body.error).not.toHaveProperty('sessionId');
    expect(reply.body.error).not.toHaveProperty('reasonCode');
    expect((await demo.status(reply.body.sessionId)).body.status).toBe('ERROR');
  });

  it.each([
    ['Notfound', { reasonCode: 'IDENTITY_NOT_FOUND' }],
    ['Fraudtest', {}],
    ['Deceasedtest', {}],
  ])('says for %s that the block does not end by itself', async (lastName, why) => {
    const id = (await demo.submit({ lastName })).body.sessionId;
    expect((await demo.status(id)).body).toMatchObject({ status: 'BLOCKED', blockedUntil: null });
    for (const [path, body] of [
      ['otp', { code: '123456' }],
      ['kba', { answers: [] }],
    ] as const) {
      expect((await demo.post(`/screening/${id}/${path}`, body)).body).toEqual({
        id,
        status: 'BLOCKED',
        blockedUntil: null,
        ...why,
      });
    }
  });

  it.each(['Redirecttest', 'Garbledtest'])(
    "answers 200 ERROR for %s, because the service does not know the vendor's error",
    async (lastName) => {
      expect((await demo.submit({ lastName })).body).toEqual({ id: expect.any(String), status: 'ERROR' });
    },
  );

  it('answers 503 for the first submission of Flakytest, and VERIFIED for the second', async () => {
    const person = aPerson({ lastName: 'Flakytest' });
    expect(refused(await demo.submit(person))).toEqual([503, 'SERVICE_UNAVAILABLE']);
    expect((await demo.submit(person)).body.status).toBe('VERIFIED');
  });

  it('answers VERIFIED for Slowtest, although the vendor answers slowly', async () => {
    expect((await demo.submit({ lastName: 'Slowtest' })).body.status).toBe('VERIFIED');
  });

  it('answers 200 SUBMITTED when the vendor does not answer in time', async () => {
    const { status, body } = await demo.submit({ lastName: 'Timeouttest' });
    expect([status, body]).toEqual([200, { id: expect.any(String), status: 'SUBMITTED' }]);
    expect(refused(await demo.post(`/screening/${body.id}/otp`, { code: '123456' }))).toEqual([
      409,
      'ATTEMPT_IN_PROGRESS',
    ]);
  });

  it.each([
    ['Upstream10', 422, 'MINOR_CONSUMER', undefined],
    ['Upstream13', 400, 'VALIDATION_INVALID_FIELD_FORMAT', undefined],
    ['Upstream45', 400, 'VALIDATION_INVALID_FIELD_FORMAT', 'lastName'],
    ['Upstream49', 400, 'VALIDATION_INVALID_FIELD_FORMAT', 'currentZip'],
    ['Upstream403', 400, 'REPORT_MISSING_FIELD', 'ssn'],
    ['Upstream405', 400, 'INVALID_DOB', 'dateOfBirth'],
    ['Upstream407', 400, 'INVALID_ADDRESS', 'currentAddress'],
    ['Upstream627', 400, 'INVALID_ADDRESS', 'currentAddress'],
    ['Upstream708', 400, 'VALIDATION_ERROR', undefined],
    ['Upstream258', 503, 'SERVICE_UNAVAILABLE', undefined],
    ['Upstream710', 410, 'SESSION_EXPIRED', undefined],
    ['Upstream711', 422, 'PRODUCT_NOT_ENABLED', undefined],
    ['Upstream2802', 410, 'REPORT_EXPIRED', undefined],
    ['Upstream313', 404, 'IDENTITY_NOT_FOUND', undefined],
  ])("translates the vendor's code of %s to %i %s", async (middleName, status, code, field) => {
    const reply = await demo.submit({ middleName });
    expect(refused(reply)).toEqual([status, code]);
    expect(reply.body.error.field).toBe(field);
  });

  it('answers 409 ALREADY_REGISTERED for a person whose completed screening is still valid', async () => {
    const person = aPerson({ lastName: 'Alreadytest' });
    expect((await nopay.submit(person)).body.status).toBe('VERIFIED');
    expect(refused(await nopay.submit(person))).toEqual([409, 'ALREADY_REGISTERED']);
    expect((await nopay.submit({ ...person, userType: 'AGENT' })).body.status).toBe('VERIFIED');
  });

  it('answers 200 VERIFIED to a second submission of any other persona in the test environment', async () => {
    const person = aPerson();
    for (const _ of [1, 2]) expect((await nopay.submit(person)).body.status).toBe('VERIFIED');
  });

  it('answers 409 ACCOUNT_NOT_PROVISIONED for live traffic outside production', async () => {
    const { livePublishableKey } = (await service.credentials()).accounts.demo;
    const live = await service.signIn('demo', livePublishableKey);
    expect(refused(await live.submit())).toEqual([409, 'ACCOUNT_NOT_PROVISIONED']);
  });

  it.each([
    ['ssn', { ssn: undefined }, 'REPORT_MISSING_FIELD', 'ssn'],
    ['ssn', { ssn: '12345678' }, 'INVALID_SSN', 'ssn'],
    ['dateOfBirth', { dateOfBirth: '02301990' }, 'INVALID_DOB', 'dateOfBirth'],
    ['dateOfBirth', { dateOfBirth: '01011880' }, 'INVALID_DOB', 'dateOfBirth'],
    ['phoneNumber', { phoneNumber: '1155550134' }, 'VALIDATION_INVALID_FIELD_FORMAT', 'phoneNumber'],
    ['currentState', { currentState: 'XX' }, 'VALIDATION_INVALID_FIELD_FORMAT', 'currentState'],
    ['currentZip', { currentZip: '9410' }, 'VALIDATION_INVALID_FIELD_FORMAT', 'currentZip'],
    ['jscPayload', { jscPayload: '<script>' }, 'VALIDATION_INVALID_FIELD_FORMAT', 'jscPayload'],
    ['jscPayload', { jscPayload: 'x'.repeat(4_001) }, 'VALIDATION_INVALID_FIELD_FORMAT', 'jscPayload'],
    ['firstName', { firstName: 7 }, 'VALIDATION_ERROR', 'firstName'],
    ['termsAcceptedAt', { termsAcceptedAt: '2026-01-01T00:00:00' }, 'VALIDATION_ERROR', 'termsAcceptedAt'],
    ['userType', { userType: 'LANDLORD' }, 'VALIDATION_ERROR', 'userType'],
  ])('answers 400 for a wrong %s and stores nothing', async (_name, fields, code, field) => {
    const reply = await demo.submit(fields);
    expect(refused(reply)).toEqual([400, code]);
    expect(reply.body.error.field).toBe(field);
  });

  it('states the rule of a field in the message, both when the service and when the vendor refused the value', async () => {
    expect((await demo.submit({ phoneNumber: '1155550134' })).body).toEqual({
      error: {
        code: 'VALIDATION_INVALID_FIELD_FORMAT',
        field: 'phoneNumber',
        message:
          'phoneNumber must have ten digits, with spaces and ( ) - . / between them at most, and not begin with 1 or 00.',
        details: expect.any(Array),
        recoverable: true,
      },
    });
    expect((await demo.submit({ lastName: 'Addresstest' })).body).toMatchObject({
      error: {
        code: 'INVALID_ADDRESS',
        field: 'currentAddress',
        message: expect.stringMatching(/^currentAddress must be/),
      },
      sessionId: expect.any(String),
    });
  });

  it('answers 422 MINOR_CONSUMER below 18 years', async () => {
    const year = new Date().getUTCFullYear() - 17;
    expect(refused(await demo.submit({ dateOfBirth: `0101${year}` }))).toEqual([422, 'MINOR_CONSUMER']);
  });

  it('lists every wrong field, and the first wrong field in documented order decides the code', async () => {
    const { body } = await demo.submit({ currentZip: 'x', firstName: undefined, ssn: '1' });
    expect(body.error).toMatchObject({ code: 'VALIDATION_ERROR', field: 'firstName' });
    expect(body.error.details.map(({ field }: { field: string }) => field)).toEqual(['firstName', 'ssn', 'currentZip']);
  });

  it.each([
    ['malformed JSON', '{"firstName":', 400, 'VALIDATION_ERROR'],
    ['an array', '[]', 400, 'VALIDATION_ERROR'],
    ['no body', undefined, 400, 'VALIDATION_ERROR'],
    ['bytes that are not UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 400, 'VALIDATION_ERROR'],
    ['a prototype key', '{"__proto__":{"firstName":"x"}}', 400, 'VALIDATION_ERROR'],
    ['more than 32 kB', JSON.stringify({ firstName: 'x'.repeat(32_000) }), 413, 'PAYLOAD_TOO_LARGE'],
    ['thirty thousand brackets', '['.repeat(30_000), 400, 'VALIDATION_ERROR'],
  ])('answers %s with the code from the catalogue', async (_name, body, status, code) => {
    expect(refused(await demo.post('/screening/submit', body))).toEqual([status, code]);
  });

  it('answers 415 to another media type', async () => {
    expect(
      refused(await demo.post('/screening/submit', 'a=b', { 'content-type': 'application/x-www-form-urlencoded' })),
    ).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
  });

  it('answers 401 without a token', async () => {
    expect(refused(await service.request('POST', '/screening/submit', { body: aPerson() }))).toEqual([
      401,
      'AUTH_UNAUTHORIZED',
    ]);
  });
});

describe('POST /screening/{id}/otp', () => {
  it('answers 200 to a wrong code with the remaining attempts, then VERIFIED to the right code, then 410', async () => {
    const { id } = (await demo.submit({ lastName: 'Otptest' })).body;
    expect((await demo.post(`/screening/${id}/otp`, { code: '000000' })).body).toMatchObject({
      id,
      status: 'OTP_PENDING',
      attemptsRemaining: 2,
      stepUp: { type: 'OTP' },
    });
    expect((await demo.post(`/screening/${id}/otp`, { code: '123456' })).body).toEqual({ id, status: 'VERIFIED' });
    expect(refused(await demo.post(`/screening/${id}/otp`, { code: '123456' }))).toEqual([410, 'SESSION_EXPIRED']);
  });

  it('answers 200 BLOCKED after three wrong codes, and again without a vendor call; resend and a new submit get 423', async () => {
    const person = aPerson({ lastName: 'Otptest' });
    const { id } = (await demo.submit(person)).body;
    for (const remaining of [2, 1])
      expect((await demo.post(`/screening/${id}/otp`, { code: '000000' })).body.attemptsRemaining).toBe(remaining);
    const blocked = (await demo.post(`/screening/${id}/otp`, { code: '000000' })).body;
    expect(blocked).toEqual({
      id,
      status: 'BLOCKED',
      blockedUntil: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      reasonCode: 'TOO_MANY_ATTEMPTS',
    });
    const calls = async (): Promise<unknown> => await (await fetch(`${service.sandboxUrl}/control/calls`)).json();
    const before = await calls();
    expect((await demo.post(`/screening/${id}/otp`, { code: '123456' })).body).toEqual(blocked);
    expect(await calls()).toEqual(before);
    expect(refused(await demo.post(`/screening/${id}/otp/resend`))).toEqual([423, 'USER_BLOCKED']);
    const anew = await demo.submit(person);
    expect(refused(anew)).toEqual([423, 'USER_BLOCKED']);
    expect(anew.body.error.blockedUntil).toBe(blocked.blockedUntil);
    // The refused submission opened no session.
    expect(anew.text).not.toMatch(/sessionId|reasonCode/);
    expect((await demo.status(id)).body).toMatchObject({
      status: 'BLOCKED',
      overallStatus: 'BLOCKED',
      verificationStatus: 'BLOCKED',
    });
  });

  it("answers 200 BLOCKED with the end of the vendor's lock when the vendor locks at the first wrong code", async () => {
    const { id } = (await demo.submit({ lastName: 'Lockedtest' })).body;
    expect((await demo.post(`/screening/${id}/otp`, { code: '000000' })).body).toMatchObject({
      status: 'BLOCKED',
      blockedUntil: expect.any(String),
    });
  });

  it('locks the person out of every open session, however many there are', async () => {
    const person = aPerson({ lastName: 'Otptest' });
    const ids: string[] = [];
    for (let opened = 0; opened < 8; opened++) ids.push((await demo.submit(person)).body.id);
    // Only the two newest of the person's eight sessions stay open.
    for (const id of ids.slice(0, -2))
      expect(refused(await demo.post(`/screening/${id}/otp`, { code: '000000' }))).toEqual([410, 'SESSION_EXPIRED']);
    const [seventh, eighth] = ids.slice(-2);
    for (const remaining of [2, 1])
      expect((await demo.post(`/screening/${seventh}/otp`, { code: '000000' })).body.attemptsRemaining).toBe(remaining);
    const { blockedUntil } = (await demo.post(`/screening/${seventh}/otp`, { code: '000000' })).body;
    expect((await demo.status(eighth!)).body).toMatchObject({ status: 'BLOCKED', blockedUntil });
    expect((await demo.post(`/screening/${eighth}/otp`, { code: '123456' })).body).toEqual({
      id: eighth,
      status: 'BLOCKED',
      blockedUntil,
      reasonCode: 'TOO_MANY_ATTEMPTS',
    });
    expect(refused(await demo.submit(person))).toEqual([423, 'USER_BLOCKED']);
  });

  it('treats a body that is not an object as a body without a code', async () => {
    const { id } = (await demo.submit({ lastName: 'Otptest' })).body;
    for (const body of ['null', '[]', '"123456"', undefined])
      expect(refused(await demo.post(`/screening/${id}/otp`, body))).toEqual([400, 'INVALID_OTP']);
  });

  it.each(['', '123', '123456789', 'abcdef', 123456, null, ['123456']])(
    'answers 400 INVALID_OTP to the malformed code %j, which uses no attempt',
    async (code) => {
      const { id } = (await demo.submit({ lastName: 'Otptest' })).body;
      expect(refused(await demo.post(`/screening/${id}/otp`, { code }))).toEqual([400, 'INVALID_OTP']);
      expect((await demo.status(id)).body).toMatchObject({ status: 'STEP_UP_REQUIRED' });
    },
  );

  it('answers 400 INVALID_OTP when codes are not offered', async () => {
    const { id } = (await demo.submit({ lastName: 'Kbatest' })).body;
    expect(refused(await demo.post(`/screening/${id}/otp`, { code: '123456' }))).toEqual([400, 'INVALID_OTP']);
  });

  it("answers 410 SESSION_EXPIRED when the vendor's session has expired", async () => {
    const { id } = (await demo.submit({ lastName: 'Expiredtest' })).body;
    expect(refused(await demo.post(`/screening/${id}/otp`, { code: '123456' }))).toEqual([410, 'SESSION_EXPIRED']);
    expect((await demo.status(id)).body).toMatchObject({ status: 'EXPIRED', overallStatus: 'EXPIRED' });
  });

  it('answers 409 ATTEMPT_IN_PROGRESS to all but one of several simultaneous answers, and counts only that answer', async () => {
    const { id } = (await demo.submit({ lastName: 'Otptest' })).body;
    const replies = await Promise.all(
      Array.from({ length: 6 }, () => demo.post(`/screening/${id}/otp`, { code: '000000' })),
    );
    const accepted = replies.filter(({ status }) => status === 200);
    expect(
      replies
        .filter(({ status }) => status !== 200)
        .every((reply) => refused(reply).join() === '409,ATTEMPT_IN_PROGRESS'),
    ).toBe(true);
    expect(accepted.length).toBeGreaterThan(0);
    expect((await demo.status(id)).body.attemptsRemaining ?? 0).toBe(3 - accepted.length);
  });
});

describe('POST /screening/{id}/otp/resend', () => {
  it('answers 200 five times, then 429 TOO_MANY_ATTEMPTS', async () => {
    const { id } = (await demo.submit({ lastName: 'Otptest' })).body;
    for (const _ of [1, 2, 3, 4, 5])
      expect((await demo.post(`/screening/${id}/otp/resend`)).body).toMatchObject({ id, status: 'OTP_PENDING' });
    expect(refused(await demo.post(`/screening/${id}/otp/resend`))).toEqual([429, 'TOO_MANY_ATTEMPTS']);
  });

  it('answers 400 INVALID_OTP when codes are not offered', async () => {
    const { id } = (await demo.submit({ lastName: 'Kbatest' })).body;
    expect(refused(await demo.post(`/screening/${id}/otp/resend`))).toEqual([400, 'INVALID_OTP']);
  });

  it.each(['application/json', 'application/x-www-form-urlencoded', 'text/plain;charset=UTF-8'])(
    'treats an empty body with the type %s as no body',
    async (type) => {
      const { id } = (await demo.submit({ lastName: 'Otptest' })).body;
      expect((await demo.post(`/screening/${id}/otp/resend`, '', { 'content-type': type })).status).toBe(200);
    },
  );
});

describe('POST /screening/{id}/kba', () => {
  it("answers 200 BLOCKED to a person's third wrong answers, even when the three were given in two sessions", async () => {
    const person = aPerson({ lastName: 'Kbatest' });
    const open = async (): Promise<{ id: string; questions: { id: number }[] }> => {
      const { id, stepUp } = (await demo.submit(person)).body;
      return { id, questions: stepUp.kbaQuestions };
    };
    const [first, second] = [await open(), await open()];
    for (const remaining of [2, 1])
      expect((await demo.post(`/screening/${first.id}/kba`, wrongAnswers(first.questions))).body).toMatchObject({
        status: 'KBA_PENDING',
        attemptsRemaining: remaining,
      });
    expect((await demo.post(`/screening/${second.id}/kba`, wrongAnswers(second.questions))).body).toEqual({
      id: second.id,
      status: 'BLOCKED',
      blockedUntil: expect.any(String),
      reasonCode: 'TOO_MANY_ATTEMPTS',
    });
    expect((await demo.post(`/screening/${first.id}/kba`, rightAnswers(first.questions))).body.status).toBe('BLOCKED');
    expect(refused(await demo.submit(person))).toEqual([423, 'USER_BLOCKED']);
  });

  it('answers 200 to wrong answers with the remaining attempts, then VERIFIED to the right answers', async () => {
    const { id, stepUp } = (await demo.submit({ lastName: 'Kbatest' })).body;
    const wrong = (await demo.post(`/screening/${id}/kba`, wrongAnswers(stepUp.kbaQuestions))).body;
    expect(wrong).toMatchObject({
      status: 'KBA_PENDING',
      attemptsRemaining: 2,
      stepUp: { kbaQuestions: stepUp.kbaQuestions },
    });
    expect((await demo.post(`/screening/${id}/kba`, rightAnswers(stepUp.kbaQuestions))).body).toEqual({
      id,
      status: 'VERIFIED',
    });
  });

  it('accepts answers after a wrong code when both were offered; afterwards every code gets 400 INVALID_OTP', async () => {
    const { id, stepUp } = (await demo.submit({ lastName: 'Choicetest' })).body;
    expect((await demo.post(`/screening/${id}/otp`, { code: '000000' })).body).toMatchObject({
      status: 'OTP_PENDING',
      attemptsRemaining: 2,
      stepUp: { type: 'CHOICE' },
    });
    expect((await demo.post(`/screening/${id}/kba`, wrongAnswers(stepUp.kbaQuestions))).body).toMatchObject({
      status: 'KBA_PENDING',
      attemptsRemaining: 1,
      stepUp: { type: 'KBA', otpEnabled: false },
    });
    expect(refused(await demo.post(`/screening/${id}/otp`, { code: '123456' }))).toEqual([400, 'INVALID_OTP']);
    expect((await demo.post(`/screening/${id}/kba`, rightAnswers(stepUp.kbaQuestions))).body.status).toBe('VERIFIED');
  });

  it.each([
    ['no answers', {}],
    ['too few', { answers: [{ questionId: 1, answerId: 1 }] }],
    ['an unknown question', { answers: [1, 2, 3, 9].map((questionId) => ({ questionId, answerId: 1 })) }],
    ['a repeated question', { answers: [1, 2, 3, 3].map((questionId) => ({ questionId, answerId: 1 })) }],
    ['an answer that is not offered', { answers: [1, 2, 3, 4].map((questionId) => ({ questionId, answerId: 6 })) }],
    ['texts', { answers: [1, 2, 3, 4].map((questionId) => ({ questionId: String(questionId), answerId: '1' })) }],
    ['something else', { answers: 'all of them' }],
  ])('answers 400 INVALID_KBA to %s, which uses no attempt', async (_name, body) => {
    const { id } = (await demo.submit({ lastName: 'Kbatest' })).body;
    expect(refused(await demo.post(`/screening/${id}/kba`, body))).toEqual([400, 'INVALID_KBA']);
    expect((await demo.status(id)).body.status).toBe('STEP_UP_REQUIRED');
  });

  it('answers 400 INVALID_KBA when questions are not offered', async () => {
    const { id } = (await demo.submit({ lastName: 'Otptest' })).body;
    expect(refused(await demo.post(`/screening/${id}/kba`, { answers: [] }))).toEqual([400, 'INVALID_KBA']);
  });
});

describe('GET /screening/{id}/status', () => {
  it('shows PAYMENT_PENDING for a verified consumer who must pay, and COMPLETED for all other verified persons', async () => {
    const paying = (await demo.submit()).body.id;
    expect((await demo.status(paying)).body).toEqual({
      id: paying,
      status: 'VERIFIED',
      verificationStatus: 'VERIFIED',
      paymentStatus: 'PENDING',
      overallStatus: 'PAYMENT_PENDING',
      userType: 'CONSUMER',
    });
    const agent = (await demo.submit({ userType: 'AGENT', ssn: undefined })).body.id;
    expect((await demo.status(agent)).body).toMatchObject({
      paymentStatus: 'NOT_REQUIRED',
      overallStatus: 'COMPLETED',
      userType: 'AGENT',
    });
    const free = (await nopay.submit()).body.id;
    expect((await nopay.status(free)).body).toMatchObject({
      paymentStatus: 'NOT_REQUIRED',
      overallStatus: 'COMPLETED',
    });
  });

  it('shows the questions while they are open', async () => {
    const { id, stepUp } = (await demo.submit({ lastName: 'Kbatest' })).body;
    // Questions are personal data, so proxies must not store them.
    const told = await demo.status(id);
    expect([told.body.stepUp, told.headers.get('cache-control')]).toEqual([stepUp, 'no-store']);
  });

  it('answers the same 404 to unknown, malformed and foreign ids, on every route', async () => {
    const { id } = (await demo.submit({ lastName: 'Choicetest' })).body;
    const unrelated = await service.signIn('unrelated');
    const NO_SESSION = 'No screening session with this id exists for this credential.';
    const strip = ({ status, body }: { status: number; body: unknown }): unknown => ({ status, body });
    const expected = { status: 404, body: { error: { code: 'NOT_FOUND', message: NO_SESSION, recoverable: false } } };
    for (const unknown of [
      id,
      '018f0000-0000-7000-8000-000000000000',
      'nope',
      '%00',
      '..%2f..%2fetc',
      'x'.repeat(300),
      '%zz',
    ]) {
      expect(strip(await unrelated.status(unknown))).toEqual(expected);
      expect(strip(await unrelated.post(`/screening/${unknown}/otp`, { code: '123456' }))).toEqual(expected);
      expect(strip(await unrelated.post(`/screening/${unknown}/otp/resend`))).toEqual(expected);
      expect(strip(await unrelated.post(`/screening/${unknown}/kba`, { answers: [] }))).toEqual(expected);
    }
  });

  it('answers 401 without a token', async () => {
    expect(refused(await service.request('GET', '/screening/018f0000-0000-7000-8000-000000000000/status'))).toEqual([
      401,
      'AUTH_UNAUTHORIZED',
    ]);
  });
});

describe('every reply', () => {
  it("carries the caller's request id if the id is a plain token, and otherwise an id that the service made", async () => {
    expect((await demo.get('/screening/nope/status', { 'x-request-id': 'abc-123' })).headers.get('x-request-id')).toBe(
      'abc-123',
    );
    for (const odd of ['x'.repeat(129), 'a b', 'a"b']) {
      const given = (await demo.get('/screening/nope/status', { 'x-request-id': odd })).headers.get('x-request-id');
      expect(given).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  it('carries a request id even when the request cannot be read', async () => {
    const { port, hostname } = new URL(service.baseUrl);
    const text = await new Promise<string>((resolve, reject) => {
      let received = '';
      const socket = connect(Number(port), hostname, () => socket.write('GET / HTTP/1.1\r\nbroken header\r\n\r\n'));
      socket
        .on('data', (chunk) => (received += chunk.toString()))
        .on('end', () => resolve(received))
        .on('error', reject);
    });
    expect(text).toMatch(/^HTTP\/1\.1 400 .*\r\n(.*\r\n)*x-request-id: [0-9a-f-]{36}\r\n/);
    expect(text).toContain('VALIDATION_ERROR');
  });

  it('is an envelope, even for unknown routes and methods', async () => {
    for (const [method, path, ...expected] of [
      ['GET', '/nowhere', 404, 'NOT_FOUND'],
      ['DELETE', '/screening/submit', 405, 'METHOD_NOT_ALLOWED'],
      ['PUT', '/auth/token/exchange', 405, 'METHOD_NOT_ALLOWED'],
    ] as const) {
      expect(refused(await service.request(method, path))).toEqual(expected);
    }
  });
});
