// Proof of income in the frame: the screens before the result, the callbacks, and the return to a session.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { FrameLocator } from 'playwright-core';
import { ONE_PROCESS } from '../../support/browsers.js';
import { Embedding, type HostPage } from '../../support/embedding.js';
import { soon, until } from '../../support/eventually.js';
import type { PlatformCaller } from '../../support/service.js';

const UUID = /^[0-9a-f-]{36}$/;

let embedding: Embedding;
let demo: PlatformCaller;
let host: HostPage;
let frame: FrameLocator;

beforeAll(async () => {
  embedding = await Embedding.start({ VENDOR_TIMEOUT: '2' }, { isolation: ONE_PROCESS });
  demo = await embedding.service.signIn();
});
afterAll(() => embedding.stop());
afterEach(() => host.close());

async function open(screeningId: string | null): Promise<void> {
  host = await embedding.open();
  frame = host.frame;
  await host.mount({ view: 'income', options: screeningId === null ? {} : { screeningId } });
  await host.press(frame.getByRole('button', { name: 'Agree and continue' }));
}

async function screened(lastName: string): Promise<string> {
  return (await demo.submit({ lastName })).body.id;
}

const heading = (name: string) => frame.getByRole('heading', { name });
const toldOf = async (name: string): Promise<unknown[]> =>
  (await host.told()).filter(([each]) => each === name).map(([, payload]) => payload);

/** Calls a control of the sandbox's income vendor. */
async function control(path: string, body?: object): Promise<any> {
  const reply = await fetch(`${embedding.service.sandboxUrl}/control/income/${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  expect(reply.status).toBe(200);
  return reply.json();
}

/** Ends the inquiry of the newest session that is in progress. */
async function decide(ending: string): Promise<void> {
  await until('an inquiry is in progress', async () => {
    const { inquiries } = await control('inquiries');
    const last = inquiries.at(-1);
    if (last?.status !== 'in-progress') return false;
    await control(`inquiries/${last.inquiryId}`, { ending });
    return true;
  });
}

describe('the income of a person', () => {
  it('is confirmed by payroll, and reported with the session', async () => {
    await open(await screened('Example'));
    expect(await host.hears('onReady')).toEqual({ view: 'income' });
    const { incomeSessionId } = await host.hears('onIncomeReportComplete');
    await heading('Your income is confirmed').waitFor();
    await soon(async () =>
      expect((await host.told()).filter(([name]) => name !== 'onResize')).toEqual([
        ['onReady', { view: 'income' }],
        ['onStepStart', { step: 'income' }],
        ['onIncomeReportComplete', { incomeSessionId: expect.stringMatching(UUID), route: 'PAYROLL' }],
        ['onStepComplete', { step: 'income' }],
      ]),
    );
    expect((await demo.get(`/voie/sessions/${incomeSessionId}/report`)).status).toBe(200);
  });

  it('is requested from banks when payroll has no match, and the person sees which source is asked', async () => {
    await open(await screened('Slowincometest'));
    await frame.getByText('Asking payroll providers').first().waitFor();
    await decide('NO_MATCH');
    await frame.getByText('Asking about your bank deposits instead').first().waitFor();
    await decide('completed');
    expect(await host.hears('onIncomeReportComplete')).toMatchObject({ route: 'BANKING' });
  });

  it('ends as a failure when no source knows the person, and may be requested again', async () => {
    await open(await screened('Noincometest'));
    const first = await host.hears('onIncomeReportFailure');
    expect(first).toEqual({
      incomeSessionId: expect.stringMatching(UUID),
      route: 'BANKING',
      reasonCode: 'NO_MATCH',
    });
    await heading('We could not confirm your income').waitFor();
    await host.press(frame.getByRole('button', { name: 'Try again' }));
    const second = await host.hears('onIncomeReportFailure', 2);
    expect(second).toMatchObject({ reasonCode: 'NO_MATCH' });
    expect(second.incomeSessionId).not.toBe(first.incomeSessionId);
    expect(await toldOf('onError')).toEqual([]);
  });

  it('can be requested without a screening', async () => {
    await open(null);
    expect(await host.hears('onIncomeReportComplete')).toMatchObject({ route: 'PAYROLL' });
  });
});

describe('a vendor that needs the person', () => {
  it('is opened in a window of its own, and the step goes on when the person has finished there', async () => {
    const { accounts } = await embedding.service.credentials();
    const demoAccount = accounts.demo.accountId;
    await embedding.service.ops('accounts', 'set', demoAccount, '--income-vendor', 'acme');
    try {
      await open(null);
      await heading('Log in to confirm your income').waitFor();
      const opened = host.page.context().waitForEvent('page');
      await host.press(frame.getByRole('link', { name: 'Continue at the provider' }));
      const vendor = await opened;
      await vendor.getByRole('button', { name: 'Share my income' }).click();
      await vendor.getByRole('heading', { name: 'Thank you' }).waitFor();
      expect(await vendor.evaluate(() => [window.opener, document.referrer])).toEqual([null, expect.any(String)]);
      await host.hears('onIncomeReportComplete');
    } finally {
      await embedding.service.ops('accounts', 'set', demoAccount, '--income-vendor', 'voie');
    }
  });
});

describe('an income session', () => {
  it('is found by its screening, in every state', async () => {
    const screeningId = await screened('Slowincometest');
    await open(screeningId);
    await frame.getByText('Asking payroll providers').first().waitFor();
    const { inquiries } = await control('inquiries');
    await host.close();
    await open(screeningId);
    await frame.getByText('Asking payroll providers').first().waitFor();
    expect((await control('inquiries')).inquiries).toHaveLength(inquiries.length);
    await decide('completed');
    const told = await host.hears('onIncomeReportComplete');
    await host.close();
    await open(screeningId);
    expect(await host.hears('onIncomeReportComplete')).toEqual(told);
  });

  it('that names an unknown screening is refused, and both the person and the page see the refusal', async () => {
    await open('01890000-0000-7000-8000-000000000000');
    await heading('We cannot continue right now').waitFor();
    expect(await host.hears('onError')).toEqual({ code: 'NOT_FOUND', message: expect.any(String), recoverable: false });
  });

  it('continues when the connection is back', async () => {
    await open(await screened('Slowincometest'));
    await frame.getByText('Asking payroll providers').first().waitFor();
    await host.page.context().setOffline(true);
    await frame.getByText('You are offline.').first().waitFor();
    await decide('completed');
    await host.page.context().setOffline(false);
    await host.hears('onIncomeReportComplete');
    expect(await toldOf('onError')).toEqual([]);
  });
});
