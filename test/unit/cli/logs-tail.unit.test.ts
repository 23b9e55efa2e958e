import { expect, it } from '@jest/globals';

const { tail } = await import('../../../packages/cli/logs-tail.mjs' as string);
const { Temporary } = await import('../../../packages/cli/problem.mjs' as string);

const request = (status: number, code: string | null): object => ({
  at: '2026-01-31T12:00:00.000Z',
  status,
  method: 'GET',
  route: '/screening/:id/status',
  code,
  duration_ms: 12,
  request_id: 'request',
});

async function tailed(options: object): Promise<{ said: string[]; warned: string[]; asked: any[] }> {
  const ended = new AbortController();
  const said: string[] = [];
  const warned: string[] = [];
  const asked: any[] = [];
  const pages = [
    { data: [request(404, 'SCREENING_NOT_FOUND')], next_after: '1-0', has_more: true },
    new Temporary('Away.'),
    { data: [request(200, null)], next_after: '2-0', has_more: false },
    { data: [], next_after: '3-0', has_more: false },
  ];
  await tail({
    service: {
      get: async (_path: string, query: object) => {
        asked.push(query);
        const page = pages.shift();
        if (pages.length === 0) ended.abort();
        if (page instanceof Error) throw page;
        return page;
      },
    },
    terminal: { say: (text: string) => said.push(text), warn: (text: string) => warned.push(text) },
    signal: ended.signal,
    pause: async () => undefined,
    ...options,
  });
  return { said, warned, asked };
}

it('the newest requests are shown first and then the later ones, also after an outage', async () => {
  const { said, warned, asked } = await tailed({ status: '404', json: false });
  expect(said).toEqual([
    '2026-01-31T12:00:00.000Z  404  GET     /screening/:id/status  SCREENING_NOT_FOUND  12 ms  request',
    '2026-01-31T12:00:00.000Z  200  GET     /screening/:id/status  12 ms  request',
  ]);
  expect(asked).toEqual([
    { status: '404', after: undefined, limit: 10 },
    { status: '404', after: '1-0', limit: undefined },
    { status: '404', after: '1-0', limit: undefined },
    { status: '404', after: '2-0', limit: undefined },
  ]);
  expect(warned).toEqual(['Away. The next try is in 1 s.', 'The service answers again.']);
});

it('with --json each line is a request as the API gives it', async () => {
  const { said } = await tailed({ json: true });
  expect(said.map((line) => JSON.parse(line))).toEqual([request(404, 'SCREENING_NOT_FOUND'), request(200, null)]);
});
