// Faults between the frame and the API at every step. The tests check the text for the person, the next possible action
// and the callbacks. The tests also check that no request is carried out twice. The tests use the real service and put
// the faults between the service and the browser.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Frame, Page, Request, Route } from 'playwright-core';
import type { ComponentErrorCode } from '../../../web/contract/callbacks.js';
import { COMPONENT_ERRORS } from '../../../web/contract/codes.js';
import { ONE_PROCESS } from '../../support/browsers.js';
import { ANA, DetailsForm } from '../../support/details-form.js';
import { Embedding, type HostPage, type MountWish, type Told } from '../../support/embedding.js';
import { soon, until } from '../../support/eventually.js';
import { Processor } from '../../support/processor.js';
import { type Person, type PlatformCaller, WITH_BROWSER } from '../../support/service.js';

/** `swallowed`: the request reaches the service, and the reply never comes. `lost`: the connection breaks before the reply. */
type Fault = 'expired' | 'failed' | 'unavailable' | 'busy' | 'limited' | 'garbled' | 'reset' | 'lost' | 'swallowed';

let embedding: Embedding;
let processor: Processor;
let demo: PlatformCaller;
let nopay: PlatformCaller;
let host: HostPage;

beforeAll(async () => {
  embedding = await Embedding.start({ ...WITH_BROWSER, OTP_RESEND_INTERVAL: '1' }, { isolation: ONE_PROCESS });
  processor = new Processor(embedding.service.sandboxUrl);
  [demo, nopay] = await Promise.all([embedding.service.signIn('demo'), embedding.service.signIn('nopay')]);
});
afterAll(() => embedding?.stop());
afterEach(() => host?.close());

const button = (name: string) => host.frame.getByRole('button', { name, exact: true });
const field = (label: string) => host.frame.getByLabel(label, { exact: false }).and(host.frame.locator('.control'));
const seen = (text: string) => host.frame.getByText(text).first().waitFor();
const component = (code: ComponentErrorCode): object => ({
  code,
  message: COMPONENT_ERRORS[code].message,
  recoverable: COMPONENT_ERRORS[code].recoverable,
});
const toldOf = async (name: string): Promise<unknown[]> =>
  (await host.told()).filter(([each]: Told) => each === name).map(([, payload]) => payload);

/** Shortens the pauses in the frame. A time limit in the frame ends when the test decides. */
async function open(): Promise<void> {
  host = await embedding.open();
  await host.page.addInitScript(() => {
    const frame = globalThis as any;
    if (!frame.location.pathname.startsWith('/embedded')) return;
    const { setTimeout } = frame;
    frame.setTimeout = (run: () => void, ms = 0, ...more: unknown[]) =>
      setTimeout(run, ms >= 500 && ms <= 8_000 ? ms / 20 : ms, ...more);
    const limits: AbortController[] = [];
    frame.AbortSignal.timeout = () => {
      const limit = new AbortController();
      limits.push(limit);
      return limit.signal;
    };
    frame.passLimits = () => {
      for (const limit of limits.splice(0)) limit.abort(new frame.DOMException('', 'TimeoutError'));
    };
  });
}

interface Asked {
  readonly method: 'GET' | 'POST';
  readonly path: RegExp;
  readonly accept?: string;
}

/** Faults for the requests of one kind, in order. Requests after the last fault reach the service. */
class Faults {
  /** The idempotency keys of the requests since the last call of `next`. */
  readonly keys: (string | undefined)[] = [];
  private plan: Fault[] = [];
  swallowed = 0;

  constructor(private readonly asked: Asked) {}

  async stand(): Promise<this> {
    await host.page.route(
      (url) => url.origin === embedding.service.baseUrl && this.asked.path.test(url.pathname),
      async (route) => {
        if (!this.isMeant(route.request())) return route.fallback();
        this.keys.push(route.request().headers()['idempotency-key']);
        const fault = this.plan.shift();
        return fault ? this.strike(route, fault).catch(gone) : route.continue();
      },
    );
    return this;
  }

  next(...plan: Fault[]): void {
    this.plan = plan;
    this.keys.length = 0;
  }

  get left(): number {
    return this.plan.length;
  }

  private isMeant(request: Request): boolean {
    const { method, accept } = this.asked;
    return request.method() === method && (accept === undefined || request.headers()['accept'] === accept);
  }

  private async strike(route: Route, fault: Fault): Promise<void> {
    const request = route.request();
    const reply = (status: number, code: string, recoverable: boolean, retryAfter = ''): Promise<void> =>
      route.fulfill({
        status,
        headers: {
          'access-control-allow-origin': '*',
          'access-control-expose-headers': 'Retry-After',
          ...(retryAfter && { 'retry-after': retryAfter }),
        },
        json: { error: { code, message: `It is ${fault}.`, recoverable } },
      });
    // The service would refuse the request without an origin, and requests from this process have none.
    const reach = () => route.fetch({ headers: { ...request.headers(), origin: embedding.service.baseUrl } });
    switch (fault) {
      case 'expired':
        // The service itself refuses this token, without a fault between.
        return route.continue({ headers: { ...request.headers(), authorization: 'Bearer none.of.ours' } });
      case 'failed':
        return reply(500, 'SYSTEM_INTERNAL_ERROR', false);
      case 'unavailable':
        return reply(503, 'SERVICE_UNAVAILABLE', true, '30');
      case 'busy':
        return reply(503, 'SERVICE_UNAVAILABLE', true, '5');
      case 'limited':
        return reply(429, 'NETWORK_RATE_LIMITED', true, '1');
      case 'garbled':
        return route.fulfill({ headers: { 'access-control-allow-origin': '*' }, body: '<html>' });
      case 'reset':
        return route.abort('connectionreset');
      case 'lost':
        await reach();
        return route.abort('connectionreset');
      case 'swallowed':
        await reach();
        this.swallowed += 1;
        return;
      default:
        return fault satisfies never;
    }
  }
}

/** The page was closed during the step. */
function gone(): void {}

const REFUSED = {
  failed: { code: 'SYSTEM_INTERNAL_ERROR', message: 'It is failed.', recoverable: false },
  unavailable: { code: 'SERVICE_UNAVAILABLE', message: 'It is unavailable.', recoverable: true },
  limited: { code: 'NETWORK_RATE_LIMITED', message: 'It is limited.', recoverable: true },
  garbled: {
    code: 'SYSTEM_INTERNAL_ERROR',
    message: 'The reply of the service could not be understood.',
    recoverable: false,
  },
  noReply: { code: 'SERVICE_UNAVAILABLE', message: 'The service could not be reached.', recoverable: true },
  noToken: component('AUTH_TOKEN_INVALID'),
} as const;
type Refused = keyof typeof REFUSED;

interface Press {
  readonly plan: readonly Fault[];
  readonly refused: Refused;
}

/**
 * The actions of a person in order. Each action has its faults and its result. Together they cover every kind of fault
 * that a step can distinguish. The frame renews the first expired token and not the second.
 */
const PRESSES: readonly Press[] = [
  { plan: ['expired', 'failed'], refused: 'failed' },
  { plan: ['limited'], refused: 'limited' },
  { plan: ['expired'], refused: 'noToken' },
  // The service has carried out the request, but two of its answers were lost.
  { plan: ['busy', 'lost', 'swallowed'], refused: 'noReply' },
];
/** Faults that look to a step like the faults above, because the client that all steps share handles them. */
const LIKE_THEM: readonly Press[] = [
  { plan: ['unavailable'], refused: 'unavailable' },
  { plan: ['garbled'], refused: 'garbled' },
  { plan: ['reset', 'reset', 'reset'], refused: 'noReply' },
];

const WORDS: Readonly<Record<Refused, string>> = {
  failed: 'Something went wrong on our side. Please try again later.',
  unavailable: 'The service cannot be reached right now. Please try again in a moment.',
  limited: 'Too many attempts in a short time.',
  garbled: 'Something went wrong on our side. Please try again later.',
  noReply: 'The service cannot be reached right now. Please try again in a moment.',
  noToken: 'Your visit to this page has expired. Please reload the page.',
};
const REPORT_WORDS: Readonly<Record<Refused, string>> = {
  failed: 'The credit bureau is not answering right now.',
  unavailable: 'The credit bureau is not answering right now.',
  limited: 'There were too many requests.',
  garbled: 'The credit bureau is not answering right now.',
  noReply: 'The credit bureau is not answering right now.',
  noToken: WORDS.noToken,
};
const DID_NOT = 'That did not work. Nothing has changed';
const always = (text: string): Readonly<Record<Refused, string>> =>
  Object.fromEntries(Object.keys(REFUSED).map((refused) => [refused, text])) as Record<Refused, string>;

interface Step {
  readonly asked: Asked;
  /** The actions of the person before the request. Null if mounting the view makes the request. */
  readonly first: (() => Promise<void>) | null;
  readonly again: () => Promise<void>;
  readonly words: Readonly<Record<Refused, string>>;
  /** The callback that the page receives for a refusal: the refusal itself, nothing, or a code of the component. */
  readonly told: 'all' | 'nothing' | ((refused: Refused) => object);
  readonly through: () => Promise<unknown>;
  readonly presses?: readonly Press[];
}

/** Tries every fault at one step. After the last fault, a lost connection, the step succeeds. */
async function endure(wish: MountWish, step: Step): Promise<void> {
  await open();
  const faults = await new Faults(step.asked).stand();
  const expected: object[] = [];
  if (step.first) {
    await host.mount(wish);
    await host.hears('onReady');
  }
  for (const [at, { plan, refused }] of (step.presses ?? PRESSES).entries()) {
    faults.next(...plan);
    if (at > 0) await step.again();
    else if (step.first) await step.first();
    else await host.mount(wish);
    if (plan.includes('swallowed')) {
      await until('the request is with the service', async () => faults.swallowed === 1);
      await host.frame.locator('html').evaluate(() => (globalThis as any).passLimits());
    }
    await until(`${refused}: all of it has happened`, async () => faults.left === 0);
    await seen(step.words[refused]);
    expect([refused, new Set(faults.keys).size]).toEqual([refused, 1]);
    if (step.told !== 'nothing') expected.push(step.told === 'all' ? REFUSED[refused] : step.told(refused));
    if (step.told !== 'nothing') await host.hears('onError', expected.length);
    await soon(async () => expect(await toldOf('onError')).toEqual(expected));
  }
  faults.next();
  await host.page.context().setOffline(true);
  await seen('You are offline.');
  await step.again();
  expect(faults.keys).toEqual([]);
  await host.page.context().setOffline(false);
  await step.through();
  await soon(async () => expect(await toldOf('onError')).toEqual(expected));
  expect(host.console.filter((line) => line.startsWith('uncaught'))).toEqual([]);
}

async function vendorCalls(): Promise<Record<string, { executed: number; billed: number }>> {
  const reply = await fetch(`${embedding.service.sandboxUrl}/control/calls`);
  return ((await reply.json()) as any).operations;
}

/** The number of calls that a vendor carried out or billed since the last count. */
async function vendorDid(what: 'executed' | 'billed', operation: string, act: () => Promise<void>): Promise<number> {
  const before = (await vendorCalls())[operation]![what];
  await act();
  return (await vendorCalls())[operation]![what] - before;
}

async function session(person: Person = {}, caller = demo): Promise<string> {
  return (await caller.submit(person)).body.id;
}

describe('the identity of a person', () => {
  it('is submitted once, whichever fault the submission meets', async () => {
    const press = () => host.press(button('Continue'));
    const executed = await vendorDid('executed', 'registration', () =>
      endure(
        {},
        {
          asked: { method: 'POST', path: /\/screening\/submit$/ },
          first: async () => {
            await new DetailsForm(host.frame).fill({ ...ANA, lastName: 'Otptest', ssn: '666700201' });
            await press();
          },
          again: press,
          words: WORDS,
          told: 'all',
          through: () => host.hears('onStepComplete'),
          presses: [...LIKE_THEM, ...PRESSES],
        },
      ),
    );
    expect(executed).toBe(1);
  });

  it('is confirmed by a code that is checked once', async () => {
    const screeningId = await session({ lastName: 'Otptest' });
    const executed = await vendorDid('executed', 'otp', () =>
      endure(
        { options: { screeningId } },
        {
          asked: { method: 'POST', path: /\/otp$/ },
          first: () => host.frame.getByLabel('Code', { exact: true }).fill('123456'),
          again: () => host.press(button('Try again')),
          words: WORDS,
          told: 'all',
          through: () => host.hears('onVerificationSuccess'),
        },
      ),
    );
    expect(executed).toBe(1);
  });

  it('is confirmed by a new code that is sent once', async () => {
    const screeningId = await session({ lastName: 'Otptest' });
    const press = () => host.press(button('Send a new code'));
    const executed = await vendorDid('executed', 'otp-resend', () =>
      endure(
        { options: { screeningId } },
        {
          asked: { method: 'POST', path: /\/otp\/resend$/ },
          first: press,
          again: press,
          words: { ...WORDS, limited: 'New code in' },
          told: () => component('SCREENING_OTP_RESEND_FAILED'),
          through: () => seen('We have sent you a new code.'),
        },
      ),
    );
    expect(executed).toBe(1);
  });

  it('is confirmed by answers that are checked once', async () => {
    const screeningId = await session({ lastName: 'Kbatest' });
    const executed = await vendorDid('executed', 'kba', () =>
      endure(
        { options: { screeningId } },
        {
          asked: { method: 'POST', path: /\/kba$/ },
          first: async () => {
            for (const at of [0, 1, 2, 3]) {
              await host.frame.getByRole('heading', { name: `Question ${at + 1} of 4` }).waitFor();
              await host.frame.getByRole('radio').nth(at).check();
              await host.press(button('Continue'));
            }
          },
          again: () => host.press(button('Try again')),
          words: WORDS,
          told: 'all',
          through: () => host.hears('onVerificationSuccess'),
        },
      ),
    );
    expect(executed).toBe(1);
  });
});

describe('a view that is opened', () => {
  const again = () => host.press(button('Try again'));
  const through = () => host.hears('onReady');

  it("requests the account's options until the service answers", async () => {
    await endure(
      {},
      {
        asked: { method: 'GET', path: /\/screening\/options$/ },
        first: null,
        again,
        words: WORDS,
        told: 'all',
        through,
        presses: [...LIKE_THEM, ...PRESSES],
      },
    );
  });

  it("requests the session's status until the service answers", async () => {
    const screeningId = await session({ lastName: 'Otptest' });
    const asked = { method: 'GET', path: /\/status$/ } as const;
    await endure({ options: { screeningId } }, { asked, first: null, again, words: WORDS, told: 'all', through });
    await seen('Enter your code');
  });
});

describe('the payment', () => {
  async function pay(): Promise<void> {
    await button('Pay $35.00').waitFor();
    const card = host.frame.frameLocator('iframe[src*="payment-element"]');
    await card.getByLabel('Card number').fill('4242424242424242');
    await card.getByLabel('Expiration date').fill('12 / 39');
    await card.getByLabel('Security code').fill('123');
    await card.getByLabel('ZIP code').fill('78701');
    await host.press(button('Pay $35.00'));
  }

  it('is started once', async () => {
    const screeningId = await session();
    await endure(
      { options: { screeningId } },
      {
        asked: { method: 'POST', path: /\/payments\/create-intent$/ },
        first: null,
        again: () => host.press(button('Try again')),
        words: always('We could not go on with the payment.'),
        told: (refused) => (refused === 'failed' ? component('SYSTEM_INTERNAL_ERROR') : REFUSED[refused]),
        through: () => button('Pay $35.00').waitFor(),
      },
    );
    const transaction = (await demo.status(screeningId)).body.transactionId;
    const { intents } = (await (
      await fetch(`${embedding.service.sandboxUrl}/control/processor/intents?transaction=${transaction}`)
    ).json()) as any;
    expect(intents).toHaveLength(1);
  });

  it('is checked until the processor has decided, and is charged once', async () => {
    const screeningId = await session();
    await open();
    const faults = await new Faults({ method: 'POST', path: /\/payments\/[^/]+\/confirm$/ }).stand();
    await host.mount({ options: { screeningId } });
    faults.next('expired', 'busy', 'lost', 'unavailable', 'limited', 'reset', 'reset', 'reset', 'failed');
    await pay();
    await seen('We could not go on with the payment.');
    await soon(async () => expect(await toldOf('onError')).toEqual([component('SYSTEM_INTERNAL_ERROR')]));
    expect(faults.left).toBe(0);
    faults.next('garbled');
    await host.press(button('Try again'));
    await host.hears('onError', 2);
    faults.next('expired');
    await host.press(button('Try again'));
    expect(await host.hears('onError', 3)).toEqual(component('AUTH_TOKEN_INVALID'));
    await host.page.context().setOffline(true);
    await host.press(button('Try again'));
    await host.page.context().setOffline(false);
    const { transactionId } = await host.hears('onPaymentSuccess');
    expect(await processor.money({ transaction: transactionId })).toMatchObject({ succeeded: 1, received: 3_500 });
    expect(await toldOf('onPaymentSuccess')).toHaveLength(1);
    // Waits until the vendor has billed this report, so that the next test does not count it.
    await host.hears('onScreeningSuccess');
  });
});

describe('the report', () => {
  const wish = (screeningId: string): MountWish => ({ account: 'nopay', options: { screeningId } });
  const tryAgain = () => host.press(button('Try again'));

  it.each([
    ['its data', 'application/json'],
    ['its page', 'text/html'],
  ])('is billed once, whichever fault meets %s', async (_, accept) => {
    const id = await session({}, nopay);
    const asked = { method: 'GET', path: /\/reports\/[^/]+$/, accept } as const;
    const through = () => host.hears('onScreeningSuccess');
    const billed = await vendorDid('billed', 'report', () =>
      endure(wish(id), {
        asked,
        first: null,
        again: tryAgain,
        words: REPORT_WORDS,
        told: 'nothing',
        through,
      }),
    );
    expect(billed).toBe(1);
  });

  it('is saved as a PDF as soon as the PDF can be made', async () => {
    const id = await session({}, nopay);
    const press = () => host.press(button('Download PDF'));
    await endure(wish(id), {
      asked: { method: 'POST', path: /\/pdf$/ },
      first: press,
      again: press,
      words: {
        ...always('The PDF could not be made right now.'),
        limited: 'Too many PDFs are being made right now.',
      },
      told: 'nothing',
      through: () => host.page.waitForEvent('download'),
    });
  });

  it('has its sharing state requested again until the service answers', async () => {
    const id = await session({}, nopay);
    await endure(wish(id), {
      asked: { method: 'GET', path: /\/sharing$/ },
      first: null,
      again: tryAgain,
      words: always('We could not find out whether the report is shared.'),
      told: 'nothing',
      through: () => seen('Share with Demo account nopay?'),
    });
  });

  it('is shared once and revoked once', async () => {
    const id = await session({}, nopay);
    const step = {
      words: { ...always('We do not know whether that worked.'), limited: DID_NOT, noToken: DID_NOT },
      told: 'nothing',
    } as const;
    const share = () => host.press(button('Share my report'));
    await endure(wish(id), {
      ...step,
      asked: { method: 'POST', path: /\/consent-to-share$/ },
      first: share,
      again: share,
      through: () => host.hears('onReportShared'),
    });
    expect(await toldOf('onReportShared')).toHaveLength(1);
    await host.close();
    const revoke = () => host.press(button('Stop sharing for good'));
    await endure(wish(id), {
      ...step,
      asked: { method: 'POST', path: /\/revoke-sharing$/ },
      first: async () => {
        await host.press(button('Stop sharing'));
        await revoke();
      },
      again: revoke,
      through: () => seen('You have stopped sharing your report'),
    });
    await soon(async () => expect(await toldOf('onReportRevoked')).toHaveLength(1));
    const events = (await embedding.service.ops('timeline', id)).stdout;
    for (const event of ['ReportReleased', 'ReportShared', 'SharingRevoked'])
      expect([event, events.split(`"event":"${event}"`).length - 1]).toEqual([event, 1]);
  });
});

describe('the income of a person', () => {
  const first = () => host.press(button('Agree and continue'));
  const step = { first, again: () => host.press(button('Try again')), words: WORDS, told: 'all' } as const;
  const through = () => host.hears('onIncomeReportComplete');

  it.each([
    ['opening', { method: 'POST', path: /\/voie\/sessions$/ }],
    ['its status', { method: 'GET', path: /\/voie\/sessions\/[^/]+\/status$/ }],
  ] as const)('is requested once, whichever fault meets %s', async (_, asked) => {
    const screeningId = await session();
    const inquiries = async (): Promise<number> =>
      ((await (await fetch(`${embedding.service.sandboxUrl}/control/income/inquiries`)).json()) as any).inquiries
        .length;
    await fetch(`${embedding.service.sandboxUrl}/control/income/pace`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ milliseconds: 0 }),
    });
    const before = await inquiries();
    await endure({ view: 'income', options: { screeningId } }, { ...step, asked, through });
    expect((await inquiries()) - before).toBe(1);
  });
});

describe('the token of an open page', () => {
  /** A key of the demo account. The service refuses the key to this page. */
  async function refusedKey(origin: string, deactivated: boolean): Promise<string> {
    const { accountId } = embedding.credentials.accounts.demo;
    const ops = async (...args: string[]): Promise<{ readonly keyId: string; readonly key: string }> =>
      JSON.parse((await embedding.service.ops(...args)).stdout.trim().split('\n').at(-1)!);
    const kind = ['--kind', 'publishable', '--environment', 'test'];
    const { keyId, key } = await ops('keys', 'issue', accountId, ...kind, '--origins', origin);
    if (deactivated) await ops('keys', 'deactivate', keyId);
    return key;
  }
  const enterCode = (): Promise<void> => host.frame.getByLabel('Code', { exact: true }).fill('123456');

  it('is renewed after nine tenths of its life, and the frame uses the new one', async () => {
    const screeningId = await session({ lastName: 'Otptest' });
    host = await embedding.open();
    await host.page.clock.install();
    const tokens: (string | undefined)[] = [];
    await host.page.route(/\/(status|otp)$/, (route) => {
      tokens.push(route.request().headers()['authorization']);
      return route.continue();
    });
    await host.mount({ options: { screeningId } });
    await host.hears('onReady');
    const exchanged = host.page.waitForResponse((reply) => reply.url().endsWith('/auth/token/exchange'));
    await host.page.clock.fastForward('55:00');
    const { token } = (await (await exchanged).json()) as { token: string };
    await enterCode();
    await host.hears('onVerificationSuccess');
    expect(tokens.slice(-2)).toEqual([`Bearer ${token}`, `Bearer ${token}`]);
    expect(tokens[0]).not.toBe(`Bearer ${token}`);
    expect(await toldOf('onError')).toEqual([]);
  });

  it.each<[string, ComponentErrorCode, () => Promise<string>]>([
    ['its key was deactivated', 'KEY_INACTIVE', () => refusedKey(embedding.hostOrigin, true)],
    [
      'the page is no longer an origin of its key',
      'ORIGIN_NOT_ALLOWED',
      () => refusedKey('https://elsewhere.example.test', false),
    ],
  ])('is not renewed when %s: the page gets %s, and the person reads what to do', async (_, code, refused) => {
    const screeningId = await session({ lastName: 'Otptest' });
    const key = await refused();
    await open();
    const faults = await new Faults({ method: 'POST', path: /\/otp$/ }).stand();
    await host.mount({ options: { screeningId } });
    await host.hears('onReady');
    // The service remembers an accepted key for some seconds. The renewal therefore uses a key that the service has
    // never accepted.
    await host.page.route('**/auth/token/exchange', (route) =>
      route.continue({ headers: { ...route.request().headers(), 'x-publishable-key': key } }),
    );
    faults.next('expired');
    await enterCode();
    await seen(WORDS.noToken);
    await soon(async () =>
      expect(await toldOf('onError')).toEqual([
        { code, message: COMPONENT_ERRORS[code].message },
        component('AUTH_TOKEN_INVALID'),
      ]),
    );
    expect(await toldOf('onVerificationFailure')).toEqual([]);
    expect((await demo.status(screeningId)).body.status).toBe('STEP_UP_REQUIRED');
  });
});

describe('a slow connection', () => {
  it('still leads to the first step', async () => {
    host = await embedding.open();
    const slow3G = { offline: false, latency: 400, downloadThroughput: 50_000, uploadThroughput: 50_000 };
    const slowDown = async (target: Page | Frame): Promise<void> => {
      const devtools = await host.page.context().newCDPSession(target);
      await devtools.send('Network.emulateNetworkConditions', slow3G);
    };
    await slowDown(host.page);
    host.page.on('framenavigated', (frame) => void slowDown(frame).catch(gone));
    await host.mount();
    await host.hears('onReady');
    await field('First name').fill('Ana');
    expect(await host.hears('onChange')).toEqual({ step: 'details', complete: false });
    expect(await toldOf('onError')).toEqual([]);
  });
});

describe('a reload of the page', () => {
  const reloaded = async (wish: MountWish): Promise<void> => {
    await host.page.reload();
    await host.mount(wish);
    await host.hears('onReady');
  };

  it('during the details step keeps no typed text', async () => {
    await open();
    await host.mount();
    await field('First name').fill('Ana');
    await field('Date of birth').fill('04121990');
    await reloaded({});
    for (const label of ['First name', 'Date of birth']) expect(await field(label).inputValue()).toBe('');
  });

  it("before the vendor's answer shows the wait, and then the next step", async () => {
    const screeningId = await session({ lastName: 'Otptest' });
    await open();
    let waits = true;
    await host.page.route('**/status', async (route) => {
      const reply = await route.fetch({ headers: { ...route.request().headers(), origin: embedding.service.baseUrl } });
      const { stepUp: _, ...status } = (await reply.json()) as Record<string, unknown>;
      return waits ? route.fulfill({ response: reply, json: { ...status, status: 'SUBMITTED' } }) : route.continue();
    });
    await host.mount({ options: { screeningId } });
    await seen('We are confirming your identity');
    await reloaded({ options: { screeningId } });
    await seen('We are confirming your identity');
    waits = false;
    expect(await host.hears('onStepStart')).toEqual({ step: 'otp' });
  });

  it('after the verification of the person shows the end', async () => {
    const screeningId = await session({ userType: 'AGENT' });
    await open();
    await host.mount({ options: { screeningId } });
    await reloaded({ options: { screeningId } });
    await seen('You are verified');
    await soon(async () =>
      expect(await toldOf('onScreeningSuccess')).toEqual([{ sessionId: screeningId, overallStatus: 'COMPLETED' }]),
    );
  });
});

describe('a view that is unmounted', () => {
  it('during a request cancels the request, and calls no more callbacks', async () => {
    const screeningId = await session({ lastName: 'Otptest' });
    await open();
    for (const [path, act] of [
      [/\/screening\/options\?/, async () => undefined],
      [/\/status$/, async () => undefined],
      [/\/otp$/, enter],
      [/\/otp\/resend$/, () => host.press(button('Send a new code'))],
    ] as const) {
      let pending = 0;
      await host.page.route(path, () => void (pending += 1));
      await host.mount({ options: { screeningId } });
      await act();
      await until(`a call of ${path.source} is under way`, async () => pending === 1);
      // Runs in one turn of the page's event loop, so that no callback runs in between.
      const told: Told[] = await host.page.evaluate(() => {
        const page = globalThis as any;
        page.mounted.unmount();
        return [...page.told];
      });
      expect(await host.page.locator('iframe').count()).toBe(0);
      expect([path.source, await host.told(), host.console]).toEqual([path.source, told, []]);
      await host.page.unroute(path);
    }
    const started = (await toldOf('onStepStart')).length;
    await host.mount({ options: { screeningId } });
    await host.hears('onStepStart', started + 1);
  });

  const enter = (): Promise<void> => host.frame.getByLabel('Code', { exact: true }).fill('111111');
});
