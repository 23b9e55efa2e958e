// The token of the integrator's page: which requests are repeated or ended, and what happens to a session grant.
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type Exchanged } from '../../../web/embed/token-exchange.js';
import { Tokens } from '../../../web/embed/tokens.js';

type Reply = number | 'broken' | 'never' | { readonly grant?: object; readonly status?: number; retryAfter?: string };

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'], now: 0 }));
afterEach(() => void jest.useRealTimers());

/** The service sends these replies in order, and then repeats the last reply. */
function answering(replies: readonly Reply[], sessionToken: string | null = null) {
  const asked: { readonly atMs: number; readonly signal: AbortSignal }[] = [];
  jest.spyOn(globalThis, 'fetch').mockImplementation((_, init) => {
    const reply = replies[Math.min(asked.length, replies.length - 1)] as Reply;
    const signal = init?.signal as AbortSignal;
    asked.push({ atMs: Date.now(), signal });
    return new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error));
      if (reply === 'broken') reject(new TypeError('Failed to fetch'));
      else if (reply !== 'never') resolve(responseOf(reply));
    });
  });
  const settled: Exchanged[] = [];
  const settings = { publishableKey: 'pk_test_0123456789abcdef', baseUrl: 'https://api.example' };
  const rest = { embeddedUrl: 'https://frame.example', sessionToken, locale: null, appearance: {} };
  const tokens = new Tokens({ ...settings, ...rest }, (exchanged) => settled.push(exchanged));
  return { tokens, asked, settled };
}

function responseOf(reply: Exclude<Reply, string>): Response {
  const { status = 200, grant, retryAfter } = typeof reply === 'number' ? { status: reply } : reply;
  const body = status === 200 ? { token: 'a.b.c', expires_in: 3_600, grant } : { error: {} };
  return new Response(JSON.stringify(body), { status, headers: retryAfter ? { 'Retry-After': retryAfter } : {} });
}

const seconds = (count: number): Promise<void> => jest.advanceTimersByTimeAsync(count * 1_000);
const failed = (recoverable: boolean): object => ({
  error: expect.objectContaining({ code: 'TOKEN_EXCHANGE_FAILED', recoverable }),
});

describe('The first token', () => {
  it.each<[Reply, readonly number[], boolean]>([
    ['broken', [0, 500, 2_500], false],
    [502, [0, 1_000, 4_000], true],
    [503, [0, 5_000, 15_000], true],
    [{ status: 503, retryAfter: '8' }, [0, 8_000, 18_000], true],
    [504, [0, 5_000], true],
    [{ status: 429, retryAfter: '7' }, [0, 7_000], false],
  ])('is requested again after %j and then fails with one event', async (reply, times, recoverable) => {
    const { tokens, asked, settled } = answering([reply]);
    const current = tokens.current();
    await seconds(60);
    expect(await current).toBeNull();
    expect(asked.map(({ atMs }) => atMs)).toEqual(times);
    expect(settled).toEqual([expect.objectContaining(failed(recoverable))]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it.each<Reply>([500, 403, { status: 429, retryAfter: '60' }, 'never'])(
    'is not requested again after %j',
    async (reply) => {
      const { tokens, asked, settled } = answering([reply]);
      void tokens.current();
      await seconds(60);
      expect([asked.length, settled.length]).toEqual([1, 1]);
    },
  );

  it('causes no event of a failure when it arrives after failed requests', async () => {
    const { tokens, settled } = answering(['broken', 503, {}]);
    const current = tokens.current();
    await seconds(20);
    expect(await current).toMatchObject({ token: 'a.b.c' });
    expect(settled).toEqual([expect.objectContaining({ token: await current })]);
  });
});

describe('When the last view is unmounted', () => {
  it.each<[string, Reply, number]>([
    ['a request', 'never', 0],
    ['a pause', 503, 1],
  ])(
    'the token exchange ends during %s, leaves no timer, and the next view makes a new request',
    async (_, reply, after) => {
      const { tokens, asked, settled } = answering([reply, {}]);
      const current = tokens.current();
      await seconds(after);
      expect(jest.getTimerCount()).toBe(1);
      tokens.rest();
      expect(asked[0]?.signal.aborted).toBe(reply === 'never');
      // The next view is mounted at once, before the earlier request has ended.
      const next = tokens.current();
      expect([await current, await next]).toEqual([null, expect.objectContaining({ token: 'a.b.c' })]);
      expect([asked.length, settled.length]).toEqual([2, 1]);
      tokens.rest();
      expect(jest.getTimerCount()).toBe(0);
    },
  );

  it('the request that redeems a grant answers the next view, and is not repeated without a view', async () => {
    const { tokens, asked, settled } = answering([503], 'sgt_test_1');
    void tokens.current();
    tokens.rest();
    expect(asked[0]?.signal.aborted).toBe(false);
    const next = tokens.current();
    expect(asked).toHaveLength(1);
    tokens.rest();
    await seconds(60);
    expect(await next).toBeNull();
    expect([asked.length, settled.length, jest.getTimerCount()]).toEqual([1, 1, 0]);
  });
});

describe('A session grant', () => {
  const bound = { grant: { consumed: true, reason: null } };
  const used = { grant: { consumed: false, reason: 'ALREADY_CONSUMED' } };
  const expired = { grant: { consumed: false, reason: 'EXPIRED' } };

  it.each<[string, readonly Reply[], 'bound' | 'unbound' | 'failed']>([
    ['was used before', [used], 'unbound'],
    ['was redeemed without a reply', ['broken', used], 'failed'],
    ['was redeemed behind a gateway that timed out', [502, used], 'failed'],
    ['was not reached by the request that failed', ['broken', bound], 'bound'],
    ['was not checked, because of a limit', [{ status: 429, retryAfter: '1' }, used], 'unbound'],
    ['had expired when the request came again', ['broken', expired], 'unbound'],
  ])('that %s: %j is %s', async (_, replies, outcome) => {
    const warn = jest.spyOn(console, 'warn').mockImplementation(() => undefined);
    const { tokens } = answering(replies, 'sgt_test_1');
    const current = tokens.current();
    await seconds(20);
    expect([(await current) !== null, tokens.grant?.consumed]).toEqual(
      { bound: [true, true], unbound: [true, false], failed: [false, undefined] }[outcome],
    );
    expect(warn).toHaveBeenCalledTimes(outcome === 'unbound' ? 1 : 0);
    warn.mockRestore();
  });
});
