// The HTTP adapter and servers that misbehave in other ways than the sandbox, and invalid answers.
import { createServer } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { VoieIncomeVendor } from '../../../src/vendors/voie/income.js';
import { AMBIGUOUS_ENDS, json, listen, urlOf } from '../../support/misbehaving-server.js';
import { misbehavingVendors } from '../../support/misbehaving-vendor.js';
import { recordedAnswer } from '../../support/recorded-answer.js';
import { newCall } from './suite.js';
import { ofSession } from '../../support/subjects.js';

const { misbehaving, adapter } = misbehavingVendors(VoieIncomeVendor);

const STARTED = json(200, recordedAnswer('voie', 'inquiry-started'));
const COMPLETED = recordedAnswer('voie', 'inquiry-completed');
const { report: REPORT } = COMPLETED;
const completed = (report: unknown): string => json(200, { ...COMPLETED, report });

/** Both calls, each with a successful answer. */
const CALLS: readonly (readonly [
  name: string,
  make: (vendor: VoieIncomeVendor) => Promise<{ kind: string }>,
  good: string,
  verdict: object,
])[] = [
  [
    'start',
    (vendor) => vendor.start(newCall(), 'PAYROLL', ofSession('vs_1')),
    STARTED,
    { kind: 'started', inquiry: 'inq_1' },
  ],
  [
    'outcomeOf',
    (vendor) => vendor.outcomeOf(newCall(), 'inq_1'),
    completed(REPORT),
    { kind: 'completed', report: REPORT },
  ],
];

describe.each(CALLS)('%s', (_call, make, good, verdict) => {
  it.each(AMBIGUOUS_ENDS)('is sent once more when its outcome is unknown: the vendor %s', async (_name, respond) => {
    const { url, requests } = await misbehaving((socket, _request, count) =>
      count === 1 ? respond(socket) : void socket.write(good),
    );
    expect(await make(adapter(url))).toEqual(verdict);
    expect(requests).toHaveLength(2);
    expect(requests[1]!.headers.get('idempotency-key')).toBe(requests[0]!.headers.get('idempotency-key'));
  });

  it.each(AMBIGUOUS_ENDS)(
    'is sent at most twice, and its outcome stays unknown: the vendor always %s',
    async (_name, respond) => {
      const { url, requests } = await misbehaving((socket) => respond(socket));
      expect(await make(adapter(url))).toEqual({ kind: 'timed-out' });
      expect(requests).toHaveLength(2);
    },
  );

  it('ends at the time limit when the vendor never answers, or answers byte by byte', async () => {
    const silent = await misbehaving(() => {});
    expect(await make(adapter(silent.url, 300))).toEqual({ kind: 'timed-out' });
    const dripping = await misbehaving((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n');
      const drip = setInterval(() => void socket.write(' '), 20);
      socket.on('close', () => clearInterval(drip));
    });
    expect(await make(adapter(dripping.url, 300))).toEqual({ kind: 'timed-out' });
  });

  it.each([401, 403, 429, 503])('is unavailable when the vendor refuses the call: %i', async (status) => {
    const { url, requests } = await misbehaving((socket) => void socket.write(json(status, { error: { code: 'no' } })));
    expect(await make(adapter(url))).toEqual({ kind: 'unavailable' });
    expect(requests).toHaveLength(1);
  });

  it('is unavailable when no server listens', async () => {
    const server = createServer();
    await listen(server);
    const url = urlOf(server);
    await new Promise((resolve) => server.close(resolve));
    expect(await make(adapter(url))).toEqual({ kind: 'unavailable' });
  });

  it.each([
    ['an HTML page', 'HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 13\r\n\r\n<html></html>'],
    ['truncated JSON', 'HTTP/1.1 200 OK\r\ncontent-length: 12\r\n\r\n{"inquiryId"'],
    ['a redirect to a log-in', 'HTTP/1.1 302 X\r\nlocation: /login\r\ncontent-length: 0\r\n\r\n'],
    ['empty', 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'],
    [
      'over two megabytes',
      `HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${JSON.stringify({ filler: 'x'.repeat(2_200_000) })}`,
    ],
    ['an internal error', json(500, { error: { code: 'internal_error' } })],
    ['a number of the upstream', json(400, { error: { code: 708 } })],
    ['a success other than 200', good.replace(' 200 ', ' 201 ')],
    ['an unknown inquiry', json(404, { error: { code: 'inquiry_unknown' } })],
  ])('is unintelligible: %s', async (_name, response) => {
    const { url, requests } = await misbehaving((socket) => void socket.end(response));
    expect(await make(adapter(url))).toEqual({ kind: 'unintelligible' });
    expect(requests).toHaveLength(1);
  });
});

describe('an invalid answer', () => {
  it.each([{}, { inquiryId: '' }, { inquiryId: 7 }, { inquiryId: 'two words' }, { inquiryId: 'x'.repeat(256) }])(
    'is unintelligible when it answers a start with %j',
    async (body) => {
      const { url } = await misbehaving((socket) => void socket.write(json(200, body)));
      expect(await adapter(url).start(newCall(), 'PAYROLL', null)).toEqual({ kind: 'unintelligible' });
    },
  );

  const withIncome = (more: object): object => ({ ...REPORT, income: { ...REPORT.income, ...more } });
  const withStub = (more: object): object => ({ ...REPORT, paystubs: [{ ...REPORT.paystubs[0], ...more }] });
  it.each([
    ['is about another inquiry', json(200, { inquiryId: 'inq_2', status: 'in-progress' })],
    ['names no inquiry', json(200, { status: 'in-progress' })],
    ['has another status', json(200, { inquiryId: 'inq_1', status: 'paused' })],
    ['fails for another reason', json(200, { inquiryId: 'inq_1', status: 'failed', reason: 'BORED' })],
    ['fails for no reason', json(200, { inquiryId: 'inq_1', status: 'failed' })],
    ['is completed without a report', completed(undefined)],
    ['has an employer without a name', completed({ ...REPORT, employers: [{ ...REPORT.employers[0], name: '' }] })],
    [
      'has a first day that does not exist',
      completed({ ...REPORT, employers: [{ ...REPORT.employers[0], startedOn: '2021-02-29' }] }),
    ],
    ['leaves a title out', completed({ ...REPORT, employers: [{ ...REPORT.employers[0], title: undefined }] })],
    ['has an income in fractions', completed(withIncome({ annualGrossCents: 0.5 }))],
    ['has a negative income', completed(withIncome({ annualGrossCents: -1 }))],
    ['has no currency', completed(withIncome({ currency: '$' }))],
    ['has another pay frequency', completed(withIncome({ payFrequency: 'DAILY' }))],
    ['has a paystub without a day', completed(withStub({ payDate: null }))],
    ['has a paystub without net pay', completed(withStub({ netCents: undefined }))],
    ['has paystubs without end', completed({ ...REPORT, paystubs: Array(501).fill(REPORT.paystubs[0]) })],
  ])('is unintelligible when it %s', async (_name, response) => {
    const { url } = await misbehaving((socket) => void socket.write(response));
    expect(await adapter(url).outcomeOf(newCall(), 'inq_1')).toEqual({ kind: 'unintelligible' });
  });

  it('is passed on with only the fields of the port', async () => {
    const more = { ssn: '666443210' };
    const report = { ...withIncome(more), ...more, employers: [{ ...REPORT.employers[0], ...more }] };
    const { url } = await misbehaving((socket) => void socket.write(completed(report)));
    expect(await adapter(url).outcomeOf(newCall(), 'inq_1')).toEqual({ kind: 'completed', report: REPORT });
  });
});

describe('a request of the adapter', () => {
  it('is sent with credential, key and request id, and names the person only when a person is given', async () => {
    const { url, requests } = await misbehaving((socket) => void socket.write(STARTED));
    const call = newCall();
    await adapter(`${url}/vendor/`).start(call, 'BANKING', ofSession('vs_1'));
    await adapter(url).start(newCall(), 'PAYROLL', null);
    expect(requests[0]!.line).toBe('POST /vendor/income/v1/inquiries HTTP/1.1');
    expect(requests[0]!.headers.get('authorization')).toBe('Bearer test-credential');
    expect(requests[0]!.headers.get('idempotency-key')).toBe(call.attemptId);
    expect(requests[0]!.headers.get('x-request-id')).toBe(call.correlationId);
    expect(requests.map(({ body }) => JSON.parse(body))).toEqual([
      { route: 'BANKING', identitySession: 'vs_1' },
      { route: 'PAYROLL' },
    ]);
  });

  it("is sent for one inquiry, even if the inquiry's name looks like a path", async () => {
    const { url, requests } = await misbehaving(
      (socket) => void socket.write(json(200, { inquiryId: 'a/../b?c', status: 'in-progress' })),
    );
    expect(await adapter(url).outcomeOf(newCall(), 'a/../b?c')).toEqual({ kind: 'in-progress' });
    expect(requests[0]!.line).toBe('GET /income/v1/inquiries/a%2F..%2Fb%3Fc HTTP/1.1');
  });
});
