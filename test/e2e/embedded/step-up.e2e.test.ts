// Codes, questions and ended sessions as a person meets them in the frame. The persona decides whether the vendor asks
// for a code or for questions.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { BrowserContextOptions, FrameLocator } from 'playwright-core';
import { ONE_PROCESS } from '../../support/browsers.js';
import { ANA, DetailsForm } from '../../support/details-form.js';
import { Embedding, type HostPage, type Told } from '../../support/embedding.js';
import { soon, until } from '../../support/eventually.js';
import { aPerson, type Person, type PlatformCaller } from '../../support/service.js';

/** This time is long enough for even a slow machine to request a code. */
const RESEND_INTERVAL_SECONDS = 4;

let embedding: Embedding;
let demo: PlatformCaller;
let host: HostPage;
let frame: FrameLocator;
/** A session whose resends of the code are used up when a test needs the session. */
let usedUp: Promise<string>;

beforeAll(async () => {
  embedding = await Embedding.start(
    { VENDOR_TIMEOUT: '1', OTP_RESEND_INTERVAL: String(RESEND_INTERVAL_SECONDS) },
    { isolation: ONE_PROCESS },
  );
  demo = await embedding.service.signIn();
  usedUp = withoutCodes();
});
afterAll(async () => {
  try {
    await usedUp;
  } finally {
    await embedding.stop();
  }
});
afterEach(() => host.close());

async function submitted(person: Person): Promise<string> {
  const { body } = await demo.submit(person);
  return body.id ?? body.error.sessionId;
}

async function withoutCodes(): Promise<string> {
  const id = await submitted({ lastName: 'Otptest' });
  await until(
    'all codes are used up',
    async () => {
      const { body } = await demo.post(`/screening/${id}/otp/resend`);
      return body.error?.code === 'TOO_MANY_ATTEMPTS';
    },
    90_000,
  );
  return id;
}

/** Opens the page on an existing session. */
async function resume(
  screeningId: string,
  { context = {}, init = {} }: { context?: BrowserContextOptions; init?: Record<string, unknown> } = {},
): Promise<void> {
  host = await embedding.open('/', context);
  frame = host.frame;
  await host.mount({ options: { screeningId }, init });
  await host.hears('onReady');
}

async function resumeOf(lastName: string): Promise<string> {
  const id = await submitted({ lastName });
  await resume(id);
  return id;
}

const heading = (name: string) => frame.getByRole('heading', { name });
const button = (name: string) => frame.getByRole('button', { name });
const code = () => frame.getByLabel('Code');
/** The callbacks except those about the layout. */
const told = async (): Promise<Told[]> => (await host.told()).filter(([name]) => name !== 'onResize');
const toldOf = async (name: string): Promise<unknown[]> =>
  (await host.told()).filter(([each]) => each === name).map(([, payload]) => payload);

/** The component sends a code of six digits by itself. */
async function enter(typed: string): Promise<void> {
  await code().fill(typed);
  if (!/^\d{6}$/.test(typed)) await host.press(button('Continue'));
}

const question = (number: number): Promise<void> => heading(`Question ${number} of 4`).waitFor();

async function answer(...positions: number[]): Promise<void> {
  for (const [at, position] of positions.entries()) {
    await question(at + 1);
    await frame
      .getByRole('radio')
      .nth(position - 1)
      .check();
    await host.press(button('Continue'));
  }
}

/** Sets how the vendor behaves at the next call. */
async function control(path: string, body: object): Promise<void> {
  const reply = await fetch(`${embedding.service.sandboxUrl}/control/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(reply.status).toBe(200);
}

describe('a code', () => {
  it('is accepted when it is pasted, confirms the person, and causes a callback at each step', async () => {
    const sessionId = await resumeOf('Otptest');
    expect(await code().getAttribute('autocomplete')).toBe('one-time-code');
    expect(await code().getAttribute('inputmode')).toBe('numeric');
    await code().fill('123 456');
    await host.hears('onStepStart', 2);
    await soon(async () =>
      expect(await told()).toEqual([
        ['onReady', { view: 'screening' }],
        ['onStepStart', { step: 'otp' }],
        ['onChange', { step: 'otp', complete: true }],
        ['onStepComplete', { step: 'otp' }],
        ['onVerificationSuccess', { sessionId, status: 'VERIFIED' }],
        ['onStepStart', { step: 'payment' }],
      ]),
    );
    expect(JSON.stringify(await host.told())).not.toContain('123456');
  });

  it('that is wrong reduces the remaining attempts, empties the focused field, and finally blocks the person for a time', async () => {
    const sessionId = await resumeOf('Otptest');
    await enter('111111');
    await frame.getByText('That code is not right. You have 2 attempts left.').first().waitFor();
    await code().and(frame.locator(':focus')).waitFor();
    expect(await code().inputValue()).toBe('');
    expect(await code().getAttribute('aria-invalid')).toBe('true');
    await enter('111111');
    await frame.getByText('You have 1 attempt left.').first().waitFor();
    await enter('111111');
    await heading('Too many wrong answers').and(frame.locator(':focus')).waitFor();
    expect(await frame.getByText(/You can start again after \w+day, .* C[SD]T/).count()).toBe(1);
    expect(await button('Start again').count()).toBe(0);
    expect(await host.hears('onVerificationFailure')).toEqual({
      sessionId,
      status: 'BLOCKED',
      reasonCode: 'TOO_MANY_ATTEMPTS',
    });
    expect(await toldOf('onError')).toEqual([]);
    expect(await toldOf('onStepComplete')).toEqual([]);
  });

  it('with eight typed digits is sent complete', async () => {
    await resumeOf('Otptest');
    await code().pressSequentially('12345678');
    await host.press(button('Continue'));
    await frame.getByText('You have 2 attempts left.').first().waitFor();
    expect(host.requests.filter(({ url }) => url.endsWith('/otp')).map(({ body }) => body)).toEqual([
      JSON.stringify({ code: '12345678' }),
    ]);
  });

  it('with six typed digits is sent without a press of the button', async () => {
    const sessionId = await resumeOf('Otptest');
    await code().pressSequentially('123456');
    expect(await host.hears('onVerificationSuccess')).toEqual({ sessionId, status: 'VERIFIED' });
  });

  it('is shown with the end of the phone number, and a wrong number leads back to the details', async () => {
    host = await embedding.open();
    frame = host.frame;
    await host.mount();
    const person = { ...ANA, lastName: 'Otptest', ssn: String(aPerson()['ssn']), phoneNumber: '512-555-0132' };
    await new DetailsForm(frame).fill(person);
    await host.press(button('Continue'));
    await frame.getByText('Sent to (•••) •••-0132 the phone number that ends in 0132').waitFor();
    await code().and(frame.locator(':focus')).waitFor();
    expect(await frame.locator('body').innerText()).not.toContain('555');
    await host.press(button('Wrong number?'));
    await heading('Your name and date of birth').and(frame.locator(':focus')).waitFor();
    await new DetailsForm(frame).fill({ ...person, phoneNumber: '512-555-0199' });
    await host.press(button('Continue'));
    await frame.getByText('(•••) •••-0199').waitFor();
    await enter('123456');
    await host.hears('onVerificationSuccess');
    expect((await told()).filter(([name]) => name.startsWith('onStep'))).toEqual([
      ['onStepStart', { step: 'details' }],
      ['onStepComplete', { step: 'details' }],
      ['onStepStart', { step: 'otp' }],
      ['onStepStart', { step: 'details' }],
      ['onStepComplete', { step: 'details' }],
      ['onStepStart', { step: 'otp' }],
      ['onStepComplete', { step: 'otp' }],
      ['onStepStart', { step: 'payment' }],
    ]);
  });

  it('to a wrong number leads back to the phone number when the page supplies the details before it', async () => {
    host = await embedding.open();
    frame = host.frame;
    const { firstName, dateOfBirth } = ANA;
    const prefill = { firstName, lastName: 'Otptest', dateOfBirth, phoneNumber: '512-555-0132' };
    await host.mount({ options: { prefill } });
    await new DetailsForm(frame).fill({ ...ANA, lastName: 'Otptest', ssn: String(aPerson()['ssn']) });
    await host.press(button('Continue'));
    await code().waitFor();
    await host.press(button('Wrong number?'));
    const phone = frame.getByLabel('Mobile phone number');
    await phone.and(frame.locator(':focus')).waitFor();
    expect(await phone.inputValue()).toBe('(512) 555-0132');
    // The frame has deleted what was typed.
    expect(await frame.locator('[name=ssn]').inputValue()).toBe('');
    await host.press(button('Back'));
    await heading('Your name and date of birth').waitFor();
    expect(await frame.getByLabel('Last name').inputValue()).toBe('Otptest');
  });

  it('with wrong characters or a wrong length is not sent', async () => {
    await resumeOf('Otptest');
    await host.press(button('Continue'));
    await frame.getByText('Enter the code from the text message.').first().waitFor();
    await code().fill('12ab56');
    await host.press(button('Continue'));
    await frame.getByText('A code has 4 to 8 digits and nothing else.').first().waitFor();
    expect(host.requests.filter(({ url }) => url.endsWith('/otp'))).toEqual([]);
  });

  it('shows the end of the lock when the vendor locks the person after the code', async () => {
    await resumeOf('Lockedtest');
    await enter('111111');
    await heading('Too many wrong answers').waitFor();
    await frame.getByText(/You can start again after/).waitFor();
  });

  it('in an expired session is refused, and the person may start again', async () => {
    const sessionId = await resumeOf('Expiredtest');
    await enter('123456');
    await heading('The time for this verification is over').waitFor();
    await soon(async () =>
      expect(await toldOf('onError')).toEqual([
        { code: 'SESSION_EXPIRED', message: expect.any(String), recoverable: false },
      ]),
    );
    expect(await host.hears('onVerificationFailure')).toEqual({ sessionId, status: 'EXPIRED' });
    expect(await button('Start again').count()).toBe(1);
  });

  it('ends the session without showing the reason when the vendor refuses the person after the code', async () => {
    const sessionId = await submitted({ lastName: 'Otptest', middleName: 'Upstream2503AtAnswers' });
    await resume(sessionId);
    await enter('123456');
    await heading('We cannot continue with this verification').waitFor();
    await frame.getByText('This does not end by itself.').waitFor();
    expect(await host.hears('onVerificationFailure')).toEqual({ sessionId, status: 'BLOCKED' });
    expect(await frame.getByText(/sanction/i).count()).toBe(0);
  });

  it('that does not arrive is sent again under its idempotency key, first automatically and then by the person', async () => {
    const sessionId = await resumeOf('Otptest');
    const keys: (string | undefined)[] = [];
    await host.page.route('**/otp', (route) => {
      if (route.request().method() === 'POST') keys.push(route.request().headers()['idempotency-key']);
      return keys.length > 3 ? route.continue() : route.abort('connectionreset');
    });
    await enter('123456');
    await frame.getByText('The service cannot be reached right now.').first().waitFor();
    expect(keys).toHaveLength(3);
    expect(await code().inputValue()).toBe('123456');
    await soon(async () =>
      expect(await toldOf('onError')).toEqual([
        { code: 'SERVICE_UNAVAILABLE', message: expect.any(String), recoverable: true },
      ]),
    );
    await host.press(button('Try again'));
    expect(await host.hears('onVerificationSuccess')).toEqual({ sessionId, status: 'VERIFIED' });
    expect([keys.length, new Set(keys).size]).toEqual([4, 1]);
  });

  it('whose answer was lost is checked once', async () => {
    const sessionId = await resumeOf('Otptest');
    await control('lost-answers', { calls: 1 });
    await enter('111111');
    await frame.getByText('That code is not right. You have 2 attempts left.').first().waitFor();
    await control('lost-answers', { calls: 1 });
    await enter('123456');
    expect(await host.hears('onVerificationSuccess')).toEqual({ sessionId, status: 'VERIFIED' });
    expect(await toldOf('onError')).toEqual([]);
  });
});

describe('a slow vendor', () => {
  it('makes the person wait, and then the person continues at the right step', async () => {
    const { ssn, ...person } = aPerson({ lastName: 'Slowtest' });
    host = await embedding.open();
    frame = host.frame;
    await host.mount({ options: { prefill: person } });
    await new DetailsForm(frame).fill({ ssn: String(ssn) });
    await host.press(button('Continue'));
    await heading('We are confirming your identity').waitFor();
    const { sessionId } = await host.hears('onVerificationSuccess');
    expect((await demo.status(sessionId)).body.status).toBe('VERIFIED');
    await button('Pay $35.00').waitFor();
    await soon(async () =>
      expect((await told()).filter(([name]) => name.startsWith('onStep'))).toEqual([
        ['onStepStart', { step: 'details' }],
        ['onStepComplete', { step: 'details' }],
        ['onStepStart', { step: 'payment' }],
      ]),
    );
    expect(await toldOf('onError')).toEqual([]);
  });
});

describe('a new code', () => {
  const waiting = () => frame.getByRole('button', { name: /^New code in \d seconds?$/ });

  it('is sent after the interval, and an earlier request shows the remaining wait', async () => {
    const id = await resumeOf('Otptest');
    // The request acts as if the person had pressed the button in another window.
    await until('a code is sent', async () => (await demo.post(`/screening/${id}/otp/resend`)).status === 200);
    await host.press(button('Send a new code'));
    await waiting().waitFor();
    await soon(async () =>
      expect(await toldOf('onError')).toEqual([
        { code: 'SCREENING_OTP_RESEND_FAILED', message: 'No new code could be sent.', recoverable: true },
      ]),
    );
    // The button keeps the focus while it waits.
    await waiting().and(frame.locator(':focus')).waitFor();
    await host.press(button('Send a new code'));
    await frame.getByText('We have sent you a new code.').first().waitFor();
    await code().and(frame.locator(':focus')).waitFor();
    await waiting().and(frame.locator('[aria-disabled]')).waitFor();
    await button('Send a new code').waitFor();
    expect(await frame.locator('[aria-live], [role=status]').getByText('New code in').count()).toBe(0);
  });

  it('is not sent when the limit is reached, and the last sent code can still be used', async () => {
    const sessionId = await usedUp;
    await resume(sessionId);
    await host.press(button('Send a new code'));
    await frame.getByText('No more codes can be sent.').waitFor();
    expect(await button('Send a new code').count()).toBe(0);
    await soon(async () =>
      expect(await toldOf('onError')).toMatchObject([{ code: 'SCREENING_OTP_RESEND_FAILED', recoverable: true }]),
    );
    await enter('123456');
    expect(await host.hears('onVerificationSuccess')).toEqual({ sessionId, status: 'VERIFIED' });
  });
});

describe('questions', () => {
  it('are answered one by one by keyboard, and sent together', async () => {
    const sessionId = await resumeOf('Kbatest');
    const { keyboard } = host.page;
    await question(1);
    await frame.getByRole('radio').first().focus();
    for (const position of [1, 2, 3, 4]) {
      if (position > 1) {
        await heading(`Question ${position} of 4`).and(frame.locator(':focus')).waitFor();
        await keyboard.press('Tab');
      }
      for (let moved = 1; moved < position; moved += 1) await keyboard.press('ArrowDown');
      if (position === 1) await keyboard.press('Space');
      await keyboard.press('Enter');
    }
    expect(await host.hears('onVerificationSuccess')).toEqual({ sessionId, status: 'VERIFIED' });
    await soon(async () => expect(await toldOf('onChange')).toContainEqual({ step: 'kba', complete: true }));
    const sent = host.requests.filter(({ url }) => url.endsWith('/kba')).map(({ body }) => body);
    expect(sent).toEqual([JSON.stringify({ answers: [1, 2, 3, 4].map((id) => ({ questionId: id, answerId: id })) })]);
  });

  it('keep their answers when the person goes back, and can be answered again until they are sent', async () => {
    const sessionId = await resumeOf('Kbatest');
    await answer(2, 2);
    await question(3);
    await host.press(button('Back'));
    await heading('Question 2 of 4').and(frame.locator(':focus')).waitFor();
    expect(await frame.getByRole('radio').nth(1).isChecked()).toBe(true);
    await host.press(button('Back'));
    await question(1);
    expect(await button('Back').count()).toBe(0);
    await answer(1, 2, 3, 4);
    expect(await host.hears('onVerificationSuccess')).toEqual({ sessionId, status: 'VERIFIED' });
  });

  it('without an answer show an error that moves no button, and are not sent', async () => {
    await resumeOf('Kbatest');
    await answer(1);
    await question(2);
    const place = () => button('Continue').evaluate((element: any) => element.getBoundingClientRect().toJSON());
    // The animation of the question has ended.
    await frame
      .locator(':root')
      .evaluate(({ ownerDocument }: any) =>
        Promise.all(ownerDocument.getAnimations().map(({ finished }: any) => finished)),
      );
    const before = await place();
    await host.press(button('Continue'));
    await frame.locator('.problem').getByText('Choose an answer.').waitFor();
    await frame.getByRole('radio').first().and(frame.locator(':focus')).waitFor();
    expect(await place()).toEqual(before);
    expect(await frame.getByRole('radiogroup').getAttribute('aria-invalid')).toBe('true');
    expect(host.requests.filter(({ url }) => url.endsWith('/kba'))).toEqual([]);
  });

  it('with wrong answers are asked again, and show the remaining attempts', async () => {
    await resumeOf('Kbatest');
    await answer(1, 1, 1, 1);
    await frame.getByRole('alert').and(frame.locator(':focus')).waitFor();
    expect(await frame.getByRole('alert').textContent()).toContain('You have 2 attempts left.');
    expect(await frame.getByRole('radio', { checked: true }).count()).toBe(0);
    await answer(1, 1, 1, 1);
    await frame.getByText('You have 1 attempt left.').waitFor();
    await answer(1, 1, 1, 1);
    await heading('Too many wrong answers').waitFor();
  });
});

describe('a choice between a code and questions', () => {
  it('of the code leads on to the questions, and the person cannot go back', async () => {
    const sessionId = await resumeOf('Choicetest');
    await host.press(button('Enter a code'));
    await heading('Enter your code').waitFor();
    await code().and(frame.locator(':focus')).waitFor();
    await enter('111111');
    await frame.getByText('You have 2 attempts left.').first().waitFor();
    await host.press(button('Answer questions instead'));
    await question(1);
    await answer(1, 1, 1, 1);
    await frame.getByText('You have 1 attempt left.').waitFor();
    expect(await frame.getByRole('button').allTextContents()).toEqual(['Continue']);
    await answer(1, 2, 3, 4);
    await host.hears('onStepStart', 4);
    await soon(async () =>
      expect((await told()).filter(([name]) => name.startsWith('onStep'))).toEqual([
        ['onStepStart', { step: 'choice' }],
        ['onStepComplete', { step: 'choice' }],
        ['onStepStart', { step: 'otp' }],
        ['onStepStart', { step: 'kba' }],
        ['onStepComplete', { step: 'kba' }],
        ['onStepStart', { step: 'payment' }],
      ]),
    );
    await soon(async () => expect(await toldOf('onVerificationSuccess')).toEqual([{ sessionId, status: 'VERIFIED' }]));
  });

  it('has the same state in another window', async () => {
    const id = await resumeOf('Choicetest');
    await heading('Confirm that it is you').waitFor();
    await host.close();
    await demo.post(`/screening/${id}/otp`, { code: '111111' });
    await resume(id);
    await heading('Enter your code').waitFor();
    await host.close();
    await demo.post(`/screening/${id}/kba`, { answers: [1, 2, 3, 4].map((q) => ({ questionId: q, answerId: 1 })) });
    await resume(id);
    await question(1);
  });
});

describe('a session that has ended', () => {
  it.each([
    ['Fraudtest', 'We cannot continue with this verification'],
    ['Deceasedtest', 'We cannot continue with this verification'],
  ])('of %s says that the session has ended and that the block does not end by itself', async (lastName, title) => {
    const sessionId = await submitted({ lastName });
    await resume(sessionId);
    await heading(title).waitFor();
    await frame.getByText('This does not end by itself.').waitFor();
    expect(await frame.getByRole('button').allTextContents()).toEqual(['Return to Elm Street Homes']);
    await soon(async () => expect(await toldOf('onVerificationFailure')).toEqual([{ sessionId, status: 'BLOCKED' }]));
  });

  it('can be started again when the details matched no person', async () => {
    const sessionId = await submitted({ lastName: 'Notfound' });
    await resume(sessionId);
    await heading('We could not confirm your identity').waitFor();
    await soon(async () =>
      expect(await toldOf('onVerificationFailure')).toEqual([
        { sessionId, status: 'BLOCKED', reasonCode: 'IDENTITY_NOT_FOUND' },
      ]),
    );
    await host.press(button('Start again'));
    expect(await host.hears('onStepStart')).toEqual({ step: 'details' });
  });

  it('can be started again when a fault of a vendor ended it', async () => {
    const sessionId = await submitted({ lastName: 'Garbledtest' });
    await resume(sessionId);
    await heading('Something went wrong on our side').waitFor();
    await soon(async () => expect(await toldOf('onVerificationFailure')).toEqual([{ sessionId, status: 'ERROR' }]));
    await host.press(button('Start again'));
    expect(await host.hears('onStepStart')).toEqual({ step: 'details' });
  });

  it('shows the end of the block in the reader’s own time zone and language', async () => {
    const id = await submitted({ lastName: 'Lockedtest' });
    const { body } = await demo.post(`/screening/${id}/otp`, { code: '111111' });
    await resume(id, { context: { timezoneId: 'Europe/Madrid', locale: 'es-ES' } });
    await heading('Demasiadas respuestas incorrectas').waitFor();
    const time = new Intl.DateTimeFormat('es-ES', { hour: 'numeric', minute: '2-digit', timeZone: 'Europe/Madrid' });
    await frame.getByText(time.format(new Date(body.blockedUntil))).waitFor();
  });
});
