// How the frame calls the API: which requests it repeats, after which pauses, and which data it never sends.
import { describe, expect, it } from '@jest/globals';
import { Client, type Surroundings } from '../../../web/frame/api/client.js';

type Reply = { status: number; body?: unknown; headers?: Record<string, string> } | 'broken' | 'offline';

function playing(replies: Reply[], tokens: (string | null)[] = ['first', 'second']) {
  const requests: { url: string; init: RequestInit & { headers: Record<string, string> } }[] = [];
  const pauses: number[] = [];
  const refusedTokens: (string | null)[] = [];
  let online = true;
  const surroundings: Surroundings = {
    apiUrl: 'https://api.example',
    fetch: async (url, init) => {
      requests.push({ url: String(url), init: init as never });
      const reply = replies.shift();
      if (!reply) throw new Error('unexpected request');
      if (reply === 'offline') online = false;
      if (typeof reply === 'string') throw new TypeError('Failed to fetch');
      const text = typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body ?? {});
      return new Response(text, { status: reply.status, headers: reply.headers ?? {} });
    },
    pause: async (ms) => void pauses.push(ms),
    isOnline: () => online,
    online: async () => {
      online = true;
    },
    token: async (refused) => {
      refusedTokens.push(refused);
      return tokens[refusedTokens.length - 1] ?? null;
    },
  };
  return { client: new Client(surroundings), requests, pauses, refusedTokens };
}

const READ = { method: 'GET', path: '/screening/1/status' } as const;
const WRITE = { method: 'POST', path: '/screening/submit', body: { a: 1 } } as const;
const refusal = (code: string) => ({ error: { code, message: 'No.', recoverable: true } });

describe('A call of the API', () => {
  it('carries the token, sends no cookies and no referrer, and returns the body', async () => {
    const { client, requests } = playing([{ status: 200, body: { id: '1' } }]);
    expect(await client.call(READ)).toEqual({ ok: true, status: 200, body: { id: '1' } });
    expect(requests[0]!.url).toBe('https://api.example/screening/1/status');
    expect(requests[0]!.init.headers['Authorization']).toBe('Bearer first');
    expect(requests[0]!.init).toMatchObject({ credentials: 'omit', referrerPolicy: 'no-referrer', method: 'GET' });
    expect(requests[0]!.init.headers).not.toHaveProperty('Idempotency-Key');
  });

  it('has no idempotency key when a repeated request does no harm', async () => {
    const { client, requests } = playing([{ status: 200 }]);
    await client.call({ ...WRITE, key: null });
    expect(requests[0]!.init.headers).not.toHaveProperty('Idempotency-Key');
  });

  it('returns a refusal unchanged, together with the time to wait', async () => {
    const { client } = playing([
      { status: 429, body: refusal('NETWORK_RATE_LIMITED'), headers: { 'Retry-After': '30' } },
    ]);
    expect(await client.call(WRITE)).toEqual({
      ok: false,
      status: 429,
      error: { code: 'NETWORK_RATE_LIMITED', message: 'No.', recoverable: true },
      retryAfterSeconds: 30,
    });
  });

  it('fails as unavailable when a gateway answers with a page of its own', async () => {
    const { client } = playing(Array<Reply>(3).fill({ status: 502, body: '<html>Bad gateway</html>' }));
    expect(await client.call(READ)).toMatchObject({ ok: false, status: 502, error: { code: 'SERVICE_UNAVAILABLE' } });
  });

  it('fails with an internal error when the body of a success is not JSON', async () => {
    const { client } = playing([{ status: 200, body: '<html>' }]);
    expect(await client.call(READ)).toMatchObject({ ok: false, error: { code: 'SYSTEM_INTERNAL_ERROR' } });
  });
});

describe('A token', () => {
  it('that is refused is renewed once, and the call is repeated with the same key', async () => {
    const { client, requests, refusedTokens } = playing([{ status: 401 }, { status: 200 }]);
    expect(await client.call(WRITE)).toMatchObject({ ok: true });
    expect(refusedTokens).toEqual([null, 'first']);
    expect(requests.map(({ init }) => init.headers['Authorization'])).toEqual(['Bearer first', 'Bearer second']);
    expect(requests[0]!.init.headers['Idempotency-Key']).toMatch(/^[0-9a-f]{32}$/);
    expect(requests[1]!.init.headers['Idempotency-Key']).toBe(requests[0]!.init.headers['Idempotency-Key']);
  });

  it('that is refused twice ends the call', async () => {
    const { client, requests } = playing([{ status: 401 }, { status: 401 }]);
    expect(await client.call(READ)).toMatchObject({ ok: false, status: 401, error: { code: 'AUTH_TOKEN_INVALID' } });
    expect(requests).toHaveLength(2);
  });

  it('that cannot be obtained ends the call before a request is sent', async () => {
    const { client, requests } = playing([], [null]);
    expect(await client.call(WRITE)).toMatchObject({ ok: false, status: 401, error: { code: 'AUTH_TOKEN_INVALID' } });
    expect(requests).toHaveLength(0);
  });
});

describe('A failed request', () => {
  it.each([
    [503, [5_000, 10_000]],
    [502, [1_000, 3_000]],
    [504, [5_000]],
  ])('with %d is repeated after %j ms', async (status, expected) => {
    const { client, pauses, requests } = playing(
      Array<Reply>(5).fill({ status, body: refusal('SERVICE_UNAVAILABLE') }),
    );
    expect(await client.call(WRITE)).toMatchObject({ ok: false, status });
    expect(pauses).toEqual(expected);
    expect(new Set(requests.map(({ init }) => init.headers['Idempotency-Key'])).size).toBe(1);
  });

  it('with 504 is not repeated when the vendor may still judge the first request', async () => {
    const { client, requests } = playing([{ status: 504, body: refusal('UPSTREAM_TIMEOUT') }]);
    expect(await client.call({ ...WRITE, judged: true })).toMatchObject({ status: 504 });
    expect(requests).toHaveLength(1);
  });

  it('is repeated after the time in Retry-After, but not when a person would not wait that long', async () => {
    const asking = (seconds: string): Reply => ({ status: 503, headers: { 'Retry-After': seconds } });
    const short = playing([asking('8'), { status: 200 }]);
    await short.client.call(READ);
    expect(short.pauses).toEqual([8_000]);
    const long = playing([asking('60')]);
    expect(await long.client.call(READ)).toMatchObject({ ok: false, retryAfterSeconds: 60 });
    expect(long.pauses).toEqual([]);
  });

  it('without a connection is repeated twice', async () => {
    const { client, pauses } = playing(['broken', 'broken', 'broken']);
    expect(await client.call(READ)).toMatchObject({ ok: false, status: 0, error: { code: 'SERVICE_UNAVAILABLE' } });
    expect(pauses).toEqual([500, 2_000]);
  });

  it('while the browser is offline is repeated each time the connection is restored', async () => {
    const { client, pauses } = playing([...Array<Reply>(4).fill('offline'), { status: 200 }]);
    expect(await client.call(WRITE)).toMatchObject({ ok: true });
    expect(pauses).toEqual([]);
  });

  it.each([400, 404, 409, 410, 422, 423, 500])('with %d is not repeated', async (status) => {
    const { client, requests } = playing([{ status, body: refusal('ANY') }]);
    expect(await client.call(WRITE)).toMatchObject({ ok: false, status });
    expect(requests).toHaveLength(1);
  });

  it('is not sent when its signal was aborted before', async () => {
    const gone = new AbortController();
    gone.abort();
    const { client, requests } = playing([]);
    expect(await client.call(READ, gone.signal)).toMatchObject({ ok: false, status: 0 });
    expect(requests).toHaveLength(0);
  });
});
