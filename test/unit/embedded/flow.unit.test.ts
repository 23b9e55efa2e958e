// The events that the page receives, and the screens that the frame shows, during a session.
import { describe, expect, it } from '@jest/globals';
import type { FrameEvent, FrameStart } from '../../../web/contract/messages.js';
import type { ScreeningOptions, SessionStatus } from '../../../web/frame/api/wire.js';
import { Flow, type Shown } from '../../../web/frame/flow.js';

const OPTIONS = {
  environment: 'test',
  userTypes: ['CONSUMER', 'AGENT'],
  productIds: [1],
  price: { amount: 3_500, currency: 'usd' },
  applicationFee: { fixed: null, max: 2_000 },
  grant: null,
  terms: { version: '1', language: 'en', paragraphs: [] },
  otpResendInterval: 30,
} as unknown as ScreeningOptions;
const START = {
  view: 'screening',
  userType: 'CONSUMER',
  endUserType: null,
  applicationFee: null,
  productId: null,
  screeningId: null,
  prefill: {},
} as unknown as FrameStart;

const status = (more: Partial<SessionStatus>): SessionStatus =>
  ({ id: 's1', status: 'VERIFIED', overallStatus: 'PAYMENT_PENDING', userType: 'CONSUMER', ...more }) as SessionStatus;

async function opened(
  start: Partial<FrameStart> = {},
  session = status({}),
  options: Partial<ScreeningOptions> = {},
  refusal: { readonly status: number; readonly error: { readonly code: string } } | null = null,
) {
  const told: [string, unknown][] = [];
  const served = { session };
  let shown: Shown = { kind: 'loading' };
  const flow = new Flow({
    settings: {} as never,
    start: { ...START, ...start },
    language: 'en',
    api: {
      call: async ({ path }) => {
        const isOptions = path.startsWith('/screening/options');
        if (refusal && !isOptions) return { ok: false, ...refusal } as never;
        return { ok: true, status: 200, body: isOptions ? { ...OPTIONS, ...options } : served.session } as never;
      },
      html: async () => ({ ok: true, status: 200, body: '' }),
    },
    emit: async ({ name, payload }: FrameEvent) => told.push([name, payload]) > 0,
    known: () => undefined,
    show: (next) => {
      shown = next;
      if (next.kind === 'place') flow.shown(next.place);
    },
  });
  await flow.open();
  const at = () => shown as Extract<Shown, { kind: 'place' }>;
  return { told, served, at, names: () => told.map(([name]) => name) };
}

describe('A consumer', () => {
  it('sees the details, code, payment, report and share question in this order, and the page receives one event for each step', async () => {
    const { told, at } = await opened();
    const stepUp = { type: 'OTP', otpEnabled: true, kbaEnabled: false } as const;
    await at().journey.follow({ id: 's1', status: 'STEP_UP_REQUIRED', stepUp });
    await at().journey.follow({ id: 's1', status: 'VERIFIED' });
    // The status may not show the payment yet. The report already shows that it is paid.
    at().journey.next();
    await new Promise(setImmediate);
    expect(at().place).toBe('report');
    at().journey.screened(712);
    at().journey.screened(712);
    at().journey.next();
    at().journey.next();
    expect(at().place).toBe('share');
    expect(told.filter(([name]) => name !== 'onStepStart')).toEqual([
      ['onReady', { view: 'screening' }],
      ['onStepComplete', { step: 'details' }],
      ['onStepComplete', { step: 'otp' }],
      ['onVerificationSuccess', { sessionId: 's1', status: 'VERIFIED' }],
      ['onStepComplete', { step: 'payment' }],
      ['onScreeningSuccess', { sessionId: 's1', overallStatus: 'COMPLETED', score: 712 }],
      ['onStepComplete', { step: 'report' }],
      ['onStepComplete', { step: 'share' }],
    ]);
    expect(told.filter(([name]) => name === 'onStepStart').map(([, payload]) => payload)).toEqual(
      ['details', 'otp', 'payment', 'report', 'share'].map((step) => ({ step })),
    );
  });

  it('causes one event for each reason when the bureau refuses the report, and one for the score when the report arrives', async () => {
    const { told, at } = await opened({ screeningId: 's1' }, status({ overallStatus: 'COMPLETED' }));
    const { journey } = at();
    for (const reasonCode of ['FILE_FROZEN', 'FILE_FROZEN', 'NO_RECORD', 'FILE_FROZEN']) {
      journey.screened(null);
      journey.tell('onReportUnavailable', { sessionId: 's1', reasonCode });
    }
    journey.screened(712);
    journey.screened(712);
    expect(told.filter(([name]) => ['onScreeningSuccess', 'onReportUnavailable'].includes(name))).toEqual([
      ['onScreeningSuccess', { sessionId: 's1', overallStatus: 'COMPLETED' }],
      ['onReportUnavailable', { sessionId: 's1', reasonCode: 'FILE_FROZEN' }],
      ['onReportUnavailable', { sessionId: 's1', reasonCode: 'NO_RECORD' }],
      ['onScreeningSuccess', { sessionId: 's1', overallStatus: 'COMPLETED', score: 712 }],
    ]);
  });

  it('continues after a right code, although the status does not show it yet', async () => {
    const { served, at, names } = await opened();
    const stepUp = { type: 'OTP', otpEnabled: true, kbaEnabled: false } as const;
    await at().journey.follow({ id: 's1', status: 'STEP_UP_REQUIRED', stepUp });
    served.session = status({ status: 'OTP_PENDING', overallStatus: 'OTP_PENDING' });
    await at().journey.follow({ id: 's1', status: 'VERIFIED' });
    expect(at().place).toBe('payment');
    expect(names()).toContain('onVerificationSuccess');
  });

  it('starts again without a payment when no report is possible', async () => {
    const { names, at } = await opened({ screeningId: 's1' });
    expect(at().place).toBe('payment');
    at().journey.startAgain();
    expect(at()).toMatchObject({ place: 'details', journey: { session: null } });
    expect(names()).not.toContain('onStepComplete');
  });

  it('starts again with the field that the person wants to correct, and next time without it', async () => {
    const { at } = await opened();
    at().journey.startAgain('phoneNumber');
    expect(at()).toMatchObject({ place: 'details', journey: { session: null, wrong: 'phoneNumber' } });
    at().journey.startAgain();
    expect(at()).toMatchObject({ place: 'details', journey: { wrong: null } });
  });

  it('can start again after a block, and the page receives the reason and no event of a completed step', async () => {
    const { told, served, at } = await opened();
    served.session = status({ status: 'BLOCKED', reasonCode: 'IDENTITY_NOT_FOUND' });
    await at().journey.follow({ id: 's1', status: 'BLOCKED' });
    expect(at().place).toBe('ended');
    expect(told.at(-1)).toEqual([
      'onVerificationFailure',
      { sessionId: 's1', status: 'BLOCKED', reasonCode: 'IDENTITY_NOT_FOUND' },
    ]);
    at().journey.next();
    expect(at()).toMatchObject({ place: 'details', journey: { session: null } });
    expect(told.map(([name]) => name)).not.toContain('onStepComplete');
  });

  it("resumes at the session's current step, and the page receives no events of earlier steps", async () => {
    const { at, names } = await opened({ screeningId: 's1' });
    expect(at().place).toBe('payment');
    expect(names()).toEqual(['onReady', 'onVerificationSuccess', 'onStepStart']);
  });
});

describe('An agent', () => {
  it('is done after the verification, without a score', async () => {
    const session = status({ userType: 'AGENT', overallStatus: 'COMPLETED' });
    const { told, at } = await opened({ screeningId: 's1', userType: 'AGENT' }, session);
    expect(at().place).toBe('verified');
    expect(told).toEqual([
      ['onReady', { view: 'screening' }],
      ['onVerificationSuccess', { sessionId: 's1', status: 'VERIFIED' }],
      ['onScreeningSuccess', { sessionId: 's1', overallStatus: 'COMPLETED' }],
    ]);
  });

  it('has no report view', async () => {
    const { told, at } = await opened({ view: 'report', screeningId: 's1' }, status({ userType: 'AGENT' }));
    expect(at().kind).toBe('failed');
    expect(told).toEqual([
      ['onError', expect.objectContaining({ code: 'SYSTEM_CONFIGURATION_ERROR', recoverable: false })],
    ]);
  });
});

describe('A refusal while a view opens', () => {
  const told = async (view: FrameStart['view'], code: string) => {
    const refusal = { status: 402, error: { code, message: 'No.', recoverable: false } };
    const { told, at } = await opened({ view, screeningId: 's1' }, undefined, {}, refusal);
    expect(at().kind).toBe('failed');
    return told.map(([name, payload]) => [name, (payload as { code: string }).code]);
  };

  it('reaches the page from a screening view with its code', async () => {
    expect(await told('screening', 'AUTH_FORBIDDEN')).toEqual([['onError', 'AUTH_FORBIDDEN']]);
  });

  it('reaches the page from a report view only when a payment is missing or the component cannot continue', async () => {
    expect(await told('report', 'AUTH_FORBIDDEN')).toEqual([]);
    expect(await told('report', 'PAYMENT_REQUIRED')).toEqual([['onError', 'PAYMENT_REQUIRED']]);
    expect(await told('report', 'AUTH_TOKEN_INVALID')).toEqual([['onError', 'AUTH_TOKEN_INVALID']]);
  });
});

describe('An option of the page', () => {
  const warnings = (told: [string, any][]) => told.filter(([name]) => name === 'onWarning').map(([, { code }]) => code);

  it('that the account does not allow is ignored with a warning', async () => {
    const { told, at } = await opened({ applicationFee: 2_001, productId: 2, prefill: { email: 'x' } });
    expect(warnings(told)).toEqual(['INVALID_APPLICATION_FEE', 'INVALID_PRODUCT_ID', 'INVALID_PREFILL_FIELDS']);
    expect(at().journey.start).toMatchObject({ applicationFee: null, productId: null, prefill: {} });
  });

  it('is replaced by the value of the session grant', async () => {
    const grant = {
      userType: 'AGENT',
      endUserType: 'REAL_ESTATE_AGENT',
      otherEndUserType: false,
      applicationFee: 500,
    } as const;
    const wish = { endUserType: 'INDEPENDENT_OWNER', applicationFee: 700 } as const;
    const { told, at } = await opened(wish, undefined, { grant });
    expect(warnings(told)).toEqual(['IGNORED_END_USER_TYPE', 'INVALID_APPLICATION_FEE']);
    expect(at().journey.start).toMatchObject({
      userType: 'AGENT',
      endUserType: 'REAL_ESTATE_AGENT',
      applicationFee: 500,
    });
  });

  it("is replaced by the account's setting, and an equal value causes no warning", async () => {
    const applicationFee = { fixed: 800, max: 2_000 };
    const { told, at } = await opened({ applicationFee: 500 }, undefined, { applicationFee });
    expect(warnings(told)).toEqual(['INVALID_APPLICATION_FEE']);
    expect(at().journey.start.applicationFee).toBe(800);
    expect(warnings((await opened({ applicationFee: 800 }, undefined, { applicationFee })).told)).toEqual([]);
    expect(warnings((await opened({}, undefined, { applicationFee })).told)).toEqual([]);
  });

  it('with a user type that the account may not screen ends the view before the person types', async () => {
    const { told, at } = await opened({ userType: 'PMC' });
    expect(at().kind).toBe('failed');
    expect(told).toEqual([['onError', expect.objectContaining({ code: 'PRODUCT_NOT_ENABLED' })]]);
  });
});
