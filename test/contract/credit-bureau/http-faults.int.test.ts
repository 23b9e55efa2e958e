// The HTTP adapter and servers that misbehave in other ways than the sandbox, and invalid reports.
import { createServer } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { IdvCreditBureau } from '../../../src/vendors/idv/credit.js';
import { AMBIGUOUS_ENDS, json, listen, urlOf } from '../../support/misbehaving-server.js';
import { misbehavingVendors } from '../../support/misbehaving-vendor.js';
import { withoutReplies } from '../../support/replies.js';
import { recordedAnswer } from '../../support/recorded-answer.js';
import { newCall } from './suite.js';
import { ofSession } from '../../support/subjects.js';

const { misbehaving, adapter: replying } = misbehavingVendors(IdvCreditBureau);
const adapter = (url: string, timeoutMs?: number): IdvCreditBureau => withoutReplies(replying(url, timeoutMs));

const ANSWER = recordedAnswer('idv', 'report');
const { score: SCORE, report: REPORT } = ANSWER;
const [LINE] = REPORT.tradeLines;
const GOOD = json(200, ANSWER);
const READ = { kind: 'report', score: SCORE, report: REPORT };

describe('after a call with an unknown outcome', () => {
  it.each(AMBIGUOUS_ENDS)(
    'the adapter sends the pull once more with the same key after a call in which the vendor %s',
    async (_name, respond) => {
      const { url, requests } = await misbehaving((socket, _request, count) =>
        count === 1 ? respond(socket) : void socket.write(GOOD),
      );
      const call = newCall();
      expect(await adapter(url).pullReport(call, ofSession('vs_1'))).toEqual(READ);
      expect(requests.map(({ line, headers, body }) => [line, headers.get('idempotency-key'), body])).toEqual(
        Array(2).fill(['POST /credit/v1/reports HTTP/1.1', call.attemptId, '{"session":"vs_1"}']),
      );
    },
  );

  it.each(AMBIGUOUS_ENDS)(
    'the adapter sends the pull at most twice, and leaves the outcome unknown: the vendor always %s',
    async (_name, respond) => {
      const { url, requests } = await misbehaving((socket) => respond(socket));
      expect(await adapter(url).pullReport(newCall(), ofSession('vs_1'))).toEqual({ kind: 'timed-out' });
      expect(requests).toHaveLength(2);
    },
  );

  it.each([
    ['refuses the second call', json(503, {}), { kind: 'timed-out' }],
    ['refuses the second call with a number', json(500, { error: { code: 9001 } }), { kind: 'timed-out' }],
    ['is still working on the first call', json(409, { error: { code: 'call_in_progress' } }), { kind: 'timed-out' }],
    ['answers nonsense', json(200, {}), { kind: 'unintelligible' }],
    [
      'refuses the report',
      json(422, { error: { code: 9132 } }),
      { kind: 'refused', reason: 'FILE_FROZEN', upstreamCode: 9132 },
    ],
  ])('the adapter does not report the call as "not executed" when the vendor %s', async (_name, answer, verdict) => {
    const { url } = await misbehaving((socket, _request, count) =>
      count === 1 ? socket.resetAndDestroy() : void socket.write(answer),
    );
    expect(await adapter(url).pullReport(newCall(), ofSession('vs_1'))).toEqual(verdict);
  });

  it('the adapter has one time limit for both calls together', async () => {
    const { url } = await misbehaving((socket, _request, count) => {
      // With a limit of its own, the second call would be answered in time.
      if (count === 1) setTimeout(() => socket.resetAndDestroy(), 400);
      else setTimeout(() => socket.write(GOOD), 300);
    });
    expect(await adapter(url, 500).pullReport(newCall(), ofSession('vs_1'))).toEqual({ kind: 'timed-out' });
  });
});

describe('the time limit of the adapter', () => {
  it('ends a call after one request when the vendor never answers', async () => {
    const { url, requests } = await misbehaving(() => {});
    expect(await adapter(url, 400).pullReport(newCall(), ofSession('vs_1'))).toEqual({ kind: 'timed-out' });
    expect(requests).toHaveLength(1);
  });

  it.each([
    ['head', 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx-drip: '],
    ['body', 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 5000\r\n\r\n'],
  ])('covers a %s that arrives byte by byte', async (_name, beginning) => {
    const { url } = await misbehaving((socket) => {
      socket.write(beginning);
      const drip = setInterval(() => void socket.write(' '), 20);
      socket.on('close', () => clearInterval(drip));
    });
    expect(await adapter(url, 400).pullReport(newCall(), ofSession('vs_1'))).toEqual({ kind: 'timed-out' });
  });
});

describe('a vendor that refuses the call', () => {
  it.each([401, 403, 429, 503])('is reported as unavailable: %i', async (status) => {
    const { url, requests } = await misbehaving((socket) => void socket.write(json(status, { error: { code: 'no' } })));
    expect(await adapter(url).pullReport(newCall(), ofSession('vs_1'))).toEqual({ kind: 'unavailable' });
    expect(requests).toHaveLength(1);
  });

  it('is reported as unavailable when it answers that it will never execute this key', async () => {
    const { url } = await misbehaving((socket) => void socket.write(json(409, { error: { code: 'key_closed' } })));
    expect(await adapter(url).pullReport(newCall(), ofSession('vs_1'))).toEqual({ kind: 'unavailable' });
  });

  it('is reported as unavailable when no server listens, and when the adapter is closed', async () => {
    const server = createServer();
    await listen(server);
    const url = urlOf(server);
    await new Promise((resolve) => server.close(resolve));
    expect(await adapter(url).pullReport(newCall(), ofSession('vs_1'))).toEqual({ kind: 'unavailable' });
    const bureau = new IdvCreditBureau({ baseUrl: url, credential: 'x', timeoutMs: 1_000 });
    await bureau.close();
    expect(await bureau.pullReport(newCall(), ofSession('vs_1'))).toEqual({ kind: 'unavailable' });
  });
});

describe('an answer of the bureau', () => {
  it('is read up to two megabytes', async () => {
    const body = JSON.stringify({ score: SCORE, report: REPORT, filler: 'x'.repeat(2_000_000) });
    const { url } = await misbehaving(
      (socket) => void socket.end(`HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${body}`),
    );
    expect(await adapter(url).pullReport(newCall(), ofSession('vs_1'))).toEqual(READ);
  });

  it('is unintelligible above two megabytes', async () => {
    const body = JSON.stringify({ score: SCORE, report: REPORT, filler: 'x'.repeat(2_100_000) });
    const { url, requests } = await misbehaving(
      (socket) => void socket.end(`HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${body}`),
    );
    expect(await adapter(url).pullReport(newCall(), ofSession('vs_1'))).toEqual({ kind: 'unintelligible' });
    expect(requests).toHaveLength(1);
  });

  it.each([
    ['an HTML page', 'HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 13\r\n\r\n<html></html>'],
    ['truncated JSON', 'HTTP/1.1 200 OK\r\ncontent-length: 12\r\n\r\n{"score":nul'],
    ['a redirect to a log-in', 'HTTP/1.1 302 X\r\nlocation: /login\r\ncontent-length: 0\r\n\r\n'],
    ['a head over 16 kB', `HTTP/1.1 200 OK\r\nx-big: ${'x'.repeat(40_000)}\r\n\r\n`],
    ['empty', 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'],
    ['a list', json(200, [{ score: SCORE, report: REPORT }])],
    ['a success other than 200', json(201, { score: SCORE, report: REPORT })],
    ['an internal error', json(500, { error: { code: 'internal_error' } })],
    ['a key that belongs to another call', json(409, { error: { code: 'idempotency_key_reused' } })],
    ['an unknown number', json(422, { error: { code: 31_337 } })],
    ['a number that is text', json(422, { error: { code: '9132' } })],
    ['without a statement about the score', json(200, { report: REPORT })],
  ])('is unintelligible: %s', async (_name, response) => {
    const { url, requests } = await misbehaving((socket) => void socket.write(response));
    expect(await adapter(url).pullReport(newCall(), ofSession('vs_1'))).toEqual({ kind: 'unintelligible' });
    expect(requests).toHaveLength(1);
  });

  const withLine = (more: object): object => ({ ...REPORT, tradeLines: [{ ...LINE, ...more }] });
  it.each<[string, object | null, object]>([
    ['a score outside its scale', { ...SCORE, value: 851 }, REPORT],
    ['a score that is not a number', { ...SCORE, value: '700' }, REPORT],
    ['a score of half a point', { ...SCORE, value: 700.5 }, REPORT],
    ['a score without a day', { ...SCORE, date: undefined }, REPORT],
    ['a factor that is not text', { ...SCORE, factors: [1] }, REPORT],
    ['no consumer', null, { ...REPORT, consumer: undefined }],
    ['a consumer without a name', null, { ...REPORT, consumer: { ...REPORT.consumer, name: '' } }],
    ['a section left out', null, { ...REPORT, housingCourt: undefined }],
    ['a section that is null and cannot be', null, { ...REPORT, inquiries: null }],
    ['a section that is not a list', null, { ...REPORT, inquiries: {} }],
    ['a record that is null', null, { ...REPORT, publicRecords: [null] }],
    ['an account number in full', null, withLine({ account: '4111111111111111' })],
    ['an amount in fractions', null, withLine({ balanceCents: 10.5 })],
    ['a negative amount', null, withLine({ pastDueCents: -1 })],
    ['an amount that is too large to count', null, withLine({ balanceCents: 1e15 })],
    ['an amount left out', null, withLine({ limitCents: undefined })],
    ['a day that does not exist', null, withLine({ openedOn: '2021-02-29' })],
    ['a time instead of a day', null, withLine({ openedOn: '2021-02-01T00:00:00Z' })],
    ['markup instead of a history', null, withLine({ paymentHistory: '<b>' })],
    ['text without end', null, withLine({ creditor: 'x'.repeat(501) })],
    ['lines without end', null, { ...REPORT, tradeLines: Array(1_001).fill(LINE) }],
  ])('is unintelligible as a whole with %s', async (_name, score, report) => {
    const { url } = await misbehaving((socket) => void socket.write(json(200, { score, report })));
    expect(await adapter(url).pullReport(newCall(), ofSession('vs_1'))).toEqual({ kind: 'unintelligible' });
  });

  it('has only the fields of the port', async () => {
    const more = { ssn: '666443210' };
    const report = { ...withLine(more), ...more, consumer: { ...REPORT.consumer, ...more } };
    const { url } = await misbehaving(
      (socket) => void socket.write(json(200, { score: { ...SCORE, ...more }, report, ...more })),
    );
    expect(await adapter(url).pullReport(newCall(), ofSession('vs_1'))).toEqual(READ);
  });

  it('is judged by its number, whatever its HTTP status', async () => {
    const { url } = await misbehaving((socket) => void socket.write(json(504, { error: { code: 710 } })));
    expect(await adapter(url).pullReport(newCall(), ofSession('vs_1'))).toEqual({ kind: 'session-over' });
  });
});

describe('the answer that comes with a verdict', () => {
  const http = (status: number, body: string): string =>
    `HTTP/1.1 ${status} X\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

  it('is passed on byte for byte, including fields that the port does not have', async () => {
    const body = `${JSON.stringify(ANSWER).slice(0, -1)}, "much":12345678901234567890,\n"one":1.0}`;
    const { url } = await misbehaving((socket) => void socket.write(http(200, body)));
    expect(await replying(url).pullReport(newCall(), ofSession('vs_1'))).toEqual({
      ...READ,
      reply: { status: 200, body, code: null, field: null, message: null },
    });
  });

  it.each([
    [422, 9132, 'refused'],
    [504, 710, 'session-over'],
    [500, 9001, 'unavailable'],
    [422, 31_337, 'unintelligible'],
    [400, null, 'unintelligible'],
  ])('is passed on with a refusal: %i with %s', async (status, code, kind) => {
    const body = `{"error": {"code":${code}}}`;
    const { url } = await misbehaving((socket) => void socket.write(http(status, body)));
    expect(await replying(url).pullReport(newCall(), ofSession('vs_1'))).toMatchObject({
      kind,
      reply: { status, body, code, field: null, message: null },
    });
  });

  it.each([
    ['no JSON', http(200, '<html>')],
    ['turned away', http(503, '{}')],
    ['a gateway', http(502, '{}')],
    ['a key that is in use', http(409, '{"error":{"code":"call_in_progress"}}')],
  ])('is not passed on: %s', async (_name, response) => {
    const { url } = await misbehaving((socket) => void socket.write(response));
    expect(await replying(url).pullReport(newCall(), ofSession('vs_1'))).not.toHaveProperty('reply');
  });
});

it('the adapter sends the credential and the request id, below the path of the base address', async () => {
  const { url, requests } = await misbehaving((socket) => void socket.write(GOOD));
  const call = newCall();
  await adapter(`${url}/vendor/`).pullReport(call, ofSession('vs_1'));
  const [request] = requests;
  expect(request!.line).toBe('POST /vendor/credit/v1/reports HTTP/1.1');
  expect(request!.headers.get('authorization')).toBe('Bearer test-credential');
  expect(request!.headers.get('x-request-id')).toBe(call.correlationId);
});
