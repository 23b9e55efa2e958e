// The programs of docs/how-to/receive-webhooks.md, which check a feed, against the service. Between them is a server that alters what it passes on. A
// program is skipped where its language is not installed.
import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../../support/eventually.js';
import { type Credentials, Service } from '../../support/service.js';

const PAGE = join(import.meta.dirname, '../../../docs/how-to/receive-webhooks.md');
const PROGRAMS = [
  { language: 'Node', fence: 'js', command: process.execPath, file: 'check.mjs' },
  { language: 'Python', fence: 'python', command: 'python3', file: 'check.py' },
  { language: 'PHP', fence: 'php', command: 'php', file: 'check.php' },
] as const;
const COUNT = 5;

type Entry = { sequence: number; digest: string; event: { type: string; data: Record<string, unknown> } };
type Feed = { data: Entry[]; head?: { sequence: number; digest: string } };

let service: Service;
let account: Credentials['accounts']['nopay'];
let between: Server;
let folder: string;
let markdown: string;
/** Changes a reply of the feed, or of the heads. */
let alter: (reply: Feed, path: string) => void;
/** The deliveries as a receiver stores them. */
let deliveries: { sequence: number; digest: string; body: string }[];

beforeAll(async () => {
  [service, folder, markdown] = await Promise.all([
    Service.shared('plain'),
    mkdtemp(join(tmpdir(), 'checkers-')),
    readFile(PAGE, 'utf8'),
  ]);
  account = (await service.credentials()).accounts.nopay;
  const caller = await service.signIn('nopay');
  const read = async (): Promise<Feed> =>
    (await service.request('GET', '/v1/events?limit=1000', { headers: { 'x-secret-key': account.secretKey } })).body;
  for (let count = 0; count < COUNT; count++) await caller.submit({ lastName: 'Otptest' });
  await until('the events are in the feed', async () => (await read()).data.length === COUNT);
  deliveries = (await read()).data.map(({ sequence, digest, event }) => ({
    sequence,
    digest,
    body: JSON.stringify(event),
  }));
  between = createServer((request, response) => {
    void (async () => {
      // Pages of two events, so that the programs read several.
      const path = (request.url ?? '').replace('limit=1000', 'limit=2');
      const key = String(request.headers['x-secret-key']);
      const { status, body } = await service.request('GET', path, { headers: { 'x-secret-key': key } });
      if (status === 200) alter(body as Feed, path);
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    })();
  }).listen(0, '127.0.0.1');
  await until('the server listens', () => between.listening);
});
afterAll(async () => {
  between?.close();
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** The program of the page that reads the heads. */
function programOf(fence: string): string {
  const programs = [...markdown.matchAll(new RegExp(`^\`\`\`${fence}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, text = '']) => text,
  );
  return programs.find((text) => text.includes('/v1/events/heads')) ?? '';
}

describe.each(PROGRAMS)('the program in $language', ({ language, fence, command, file }) => {
  const missing = spawnSync(command, ['--version']).status !== 0;
  const run = missing ? it.skip : it;

  async function checks(
    received: readonly object[] | null = null,
    altering: typeof alter = () => undefined,
    types: readonly string[] = [],
  ): Promise<[number, string]> {
    alter = altering;
    await writeFile(join(folder, file), programOf(fence));
    const list = join(folder, 'deliveries.jsonl');
    if (received !== null) await writeFile(list, received.map((one) => `${JSON.stringify(one)}\n`).join(''));
    const env = {
      ...process.env,
      SCREENING_URL: `http://127.0.0.1:${(between.address() as AddressInfo).port}`,
      SCREENING_SECRET_KEY: account.secretKey,
    };
    return new Promise((resolve) => {
      execFile(
        command,
        [join(folder, file), ...(received === null ? [] : [list, ...types])],
        { env },
        (error, stdout, stderr) => resolve([error === null ? 0 : Number(error.code), `${stdout}${stderr}`.trim()]),
      );
    });
  }
  const inFeed = (change: (data: Entry[]) => void) => (reply: Feed, path: string) =>
    path.includes('heads') ? undefined : change(reply.data);
  const without = (sequence: number) =>
    inFeed((data) => {
      const at = data.findIndex((entry) => entry.sequence === sequence);
      if (at >= 0) data.splice(at, 1);
    });

  if (missing) it.skip(`is not run: ${command} is not installed`, () => undefined);

  run('accepts the feed and all deliveries', async () => {
    const whole = [0, `${COUNT} events, none is missing`];
    expect([await checks(), await checks(deliveries)]).toEqual([whole, whole]);
  });

  run.each([
    ['the first event', 1],
    ['an event inside', 3],
    ['the last event', COUNT],
  ])('ends with 1 when %s is left out of the feed', async (_, sequence) => {
    expect(await checks(null, without(sequence))).toEqual([1, `Event ${sequence} is missing`]);
  });

  run('ends with 1 when an event of the feed is altered, and when its digest is altered too', async () => {
    const other = (digest?: string) =>
      inFeed((data) => {
        for (const entry of data.filter(({ sequence }) => sequence === 3)) {
          entry.event.data.session_id = 'another';
          entry.digest = digest ?? entry.digest;
        }
      });
    expect(await checks(null, other())).toEqual([1, 'Event 3 is altered']);
    expect(await checks(null, other('f'.repeat(64)))).toEqual([1, 'Event 3 is altered']);
  });

  run('ends with 1 when the digest of the head is another one', async () => {
    const head = (reply: Feed, path: string): void => {
      if (path.includes('heads')) (reply.data[0] as Entry).digest = 'f'.repeat(64);
    };
    expect(await checks(null, head)).toEqual([1, 'The digest of the head is another one']);
  });

  run('ends with 1 when a delivery is left out, or its body or digest is altered', async () => {
    const [, second] = deliveries as [object, { body: string }];
    const changed = (change: object): object[] =>
      deliveries.map((one) => (one === second ? { ...one, ...change } : one));
    expect(await checks(deliveries.filter((one) => one !== second))).toEqual([1, 'Delivery 2 is missing']);
    expect(await checks(changed({ body: `${second.body} ` }))).toEqual([1, 'Delivery 2 is altered']);
    expect(await checks(changed({ digest: '0'.repeat(64) }))).toEqual([1, 'Delivery 2 is altered']);
    expect(await checks([])).toEqual([1, 'Delivery 1 is missing']);
  });

  run('expects no delivery from before the first one, and none of types that are not delivered', async () => {
    const whole = [0, `${COUNT} events, none is missing`];
    expect(await checks(deliveries.slice(2))).toEqual(whole);
    expect(await checks(deliveries.slice(0, 1), undefined, ['report.shared,report.revoked'])).toEqual(whole);
    const type = 'screening.step_up_required';
    expect(await checks(deliveries.slice(0, 1), undefined, [`report.shared,${type}`])).toEqual([
      1,
      'Delivery 2 is missing',
    ]);
  });

  run('ends with another status than 0 when the key is refused', async () => {
    const { secretKey } = account;
    account = { ...account, secretKey: `${secretKey}x` };
    try {
      expect((await checks())[0]).not.toBe(0);
    } finally {
      account = { ...account, secretKey };
    }
  });

  it('is on the page', () => {
    expect([language, programOf(fence).includes('none is missing')]).toEqual([language, true]);
  });
});
