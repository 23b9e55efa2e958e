// The level gold: recordings without personal data that are replayed, and a recent test at the vendor itself.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { fastify, type FastifyInstance } from 'fastify';
import { levelOf, SMOKE_LASTS_DAYS } from '../../../src/vendor-kit/certificate.js';
import { withoutPersonal } from '../../../src/vendor-kit/certification/personal.js';
import { type Recording } from '../../../src/vendor-kit/certification/recording.js';
import { replayProblems } from '../../../src/vendor-kit/certification/replay.js';
import { smokeProblems, smokeResults } from '../../../src/vendor-kit/certification/smoke.js';
import { operationsOf } from '../../../src/vendor-kit/certification/vendor-operations.js';
import { double, personas } from '../../../src/vendors/acme/double/certified.js';
import { vendor } from '../../../src/vendors/acme/vendor.js';

const DAY_MS = 86_400_000;

describe('the level of a certificate', () => {
  const gold = { level: 'gold', cases: {}, smokeTested: '2026-03-01' } as const;
  const tested = Date.parse(gold.smokeTested);

  it('is gold until the smoke test is too old, and then silver', () => {
    expect(levelOf(gold, tested + (SMOKE_LASTS_DAYS - 1) * DAY_MS)).toBe('gold');
    expect(levelOf(gold, tested + SMOKE_LASTS_DAYS * DAY_MS)).toBe('silver');
    expect(levelOf({ level: 'gold', cases: {} }, tested)).toBe('silver');
    expect(levelOf({ ...gold, level: 'bronze' }, tested)).toBe('bronze');
  });
});

describe('the smoke test', () => {
  const folder = mkdtempSync(join(tmpdir(), 'smoke-'));
  const { part, settings } = double.start(folder);
  const [first] = personas;
  const atVendor = { ...double, smoke: first ? [first] : [] };
  let server: FastifyInstance;
  let environment: Record<string, string>;

  beforeAll(async () => {
    server = fastify({ forceCloseConnections: true });
    part.mount(server);
    const { clientId = '', clientSecret = '' } = settings('');
    environment = {
      VENDOR_ACME_URL: await server.listen({ host: '127.0.0.1', port: 0 }),
      VENDOR_ACME_CLIENT_ID: clientId ?? '',
      VENDOR_ACME_CLIENT_SECRET: clientSecret ?? '',
      VENDOR_ACME_NOTICE_SECRET: 'notices',
    };
  });
  afterAll(async () => {
    await server.close();
    part.close();
    rmSync(folder, { recursive: true });
  });

  it('passes when the vendor gives each test person its verdict', async () => {
    expect(await smokeProblems(vendor, atVendor, environment)).toEqual([]);
  });

  it('names the operations that fail, and no data', async () => {
    const problems = await smokeProblems(vendor, atVendor, { ...environment, VENDOR_ACME_CLIENT_SECRET: 'wrong' });
    expect(problems).toContain('register: confirmed: the verdict is unavailable');
  });

  it('names the variable that is missing', async () => {
    await expect(smokeProblems(vendor, atVendor, {})).rejects.toThrow('VENDOR_ACME_URL');
  });

  it('leaves the case out until the double names persons of the vendor', () => {
    expect(smokeResults(vendor, double, '2026-03-01').every(({ problems }) => problems === null)).toBe(true);
    expect(smokeResults(vendor, atVendor, '2026-03-01').every(({ problems }) => problems?.length === 0)).toBe(true);
  });
});

describe('a replay', () => {
  const file = join(import.meta.dirname, '../../../src/vendors/acme/fixtures/recorded/register-confirmed.json');
  const recorded = JSON.parse(readFileSync(file, 'utf8')) as Recording;
  const replay = async (recording: Recording): Promise<readonly string[]> => {
    const folder = mkdtempSync(join(tmpdir(), 'replay-'));
    const { part, settings } = double.start(folder);
    try {
      const [operation] = operationsOf(vendor, double, personas).filter(({ name }) => name === recording.operation);
      if (operation === undefined) throw new Error('no such operation');
      return await replayProblems({ vendor, double, settings, canaries: [] }, operation, recording);
    } finally {
      part.close();
      rmSync(folder, { recursive: true });
    }
  };

  it('tells a request and a verdict that differ from the recording', async () => {
    const [token, submit, verdict] = recorded.exchanges;
    if (!token || !submit || !verdict) throw new Error('the recording has three exchanges');
    const declined = { ...verdict.answer, body: { ...(verdict.answer.body as object), state: 'unheard-of' } };
    const problems = await replay({
      ...recorded,
      exchanges: [
        token,
        { ...submit, request: { ...(submit.request as object), workflow: 'another' } },
        { ...verdict, answer: declined },
      ],
    });
    expect(problems).toContain('POST /v1/verifications has another /workflow');
    expect(problems).toContain('the verdict is unintelligible');
  });
});

describe('a text that a vendor declares as personal', () => {
  it('keeps only its form, in every entry of a list and below the place', () => {
    const body = { person: { born: '1983-04-07', zip: 60601 }, lines: [{ name: 'Ada' }, { name: 'Bo', n: 'x1' }] };
    expect(withoutPersonal(body, ['/person', '/lines/*/name'])).toEqual({
      person: { born: '1111-11-11', zip: 60601 },
      lines: [{ name: 'xxx' }, { name: 'xx', n: 'x1' }],
    });
  });
});
