// Stores the data folder of a build in the working directory as a fixture for later builds. For the present code, run
// `npm run build && node --import ./test/support/typescript.js test/support/store-data.ts test/fixtures/<name>`. For an
// earlier commit, run it in a built work tree of that commit, with the paths of this work tree.
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Processor } from './processor.js';
import { ALONE, Program, type Reply, Service } from './service.js';
import {
  productionOnStoredData,
  ORIGIN,
  pack,
  pageOf,
  PERSONS,
  type PersonName,
  type StoredDescription,
  told,
} from './stored-data.js';
import { until } from './eventually.js';

const target = resolve(process.argv[2] ?? '');
if (process.argv[2] === undefined) throw new Error('Say which folder to store it in.');

// No lock, report, code or share in the stored data ends by itself.
const TEN_YEARS = String(3_650 * 86_400);
const LASTING = ['BLOCK_DURATION', 'REPORT_VALIDITY', 'STEP_UP_TTL', 'SHARE_WINDOW'];
const CONSENT = ['--reason', 'a stored folder', '--yes'];

Object.assign(globalThis, {
  runOperatorCommand: async (args: readonly string[], env: Readonly<Record<string, string>>) => {
    const program = new Program('dist/src/ops/main.js', env, args);
    program.spawn();
    const exitCode = await program.ended();
    return { exitCode, inOrder: program.output };
  },
});

const lasting = Object.fromEntries(LASTING.map((name) => [name, TEN_YEARS]));
const service = await Service.start({ ...(await productionOnStoredData()), ...lasting }, { alone: ALONE });
try {
  const description = await fill();
  await service.program.end('SIGTERM');
  await service.sandbox.end('SIGTERM');
  await mkdir(target);
  await pack(service.dataDir, join(target, 'data'), (file) => file !== 'reserve' && !/lock/.test(file));
  await writeFile(join(target, 'expected.json'), `${JSON.stringify(description, null, 2)}\n`);
} finally {
  await service.stop();
}

async function fill(): Promise<StoredDescription> {
  const settings = [
    '--live',
    'yes',
    '--prepaid',
    'yes',
    '--payer',
    'consumer',
    '--fee',
    '3500',
    '--require-purpose',
    'no',
  ];
  const { accountId } = await told(service, 'accounts', 'create', '--name', 'Example', ...settings);
  const { accountId: childAccountId } = await told(
    service,
    ...['accounts', 'create', '--name', 'Example Child', '--parent', accountId, ...settings],
  );
  await told(service, 'accounts', 'credit', accountId, '--add', '100', ...CONSENT);
  const publishableKey = await keyOf(accountId);
  const childPublishableKey = await keyOf(childAccountId);
  const endpoint = await registerEndpoint(accountId);
  const page = await pageOf(service, publishableKey);

  const submit = async (name: PersonName): Promise<string> =>
    ok(await page('POST', '/screening/submit', PERSONS[name])).id;
  const pay = async (screeningId: string): Promise<void> => {
    const intent = ok(await page('POST', '/payments/create-intent', { amount: 3_500, screeningId }));
    const { status } = await new Processor(service.sandboxUrl).confirm(intent.client_secret, 'pm_card_visa');
    if (status !== 200) throw new Error(`The payment was answered with ${status}.`);
    // The sandbox sends its own events for test payments only, so the page confirms this payment.
    ok(await page('POST', `/payments/${intent.transaction_id}/confirm`));
    await until('it is paid', async () => (await statusOf(screeningId)).overallStatus === 'COMPLETED');
  };
  const statusOf = async (id: string): Promise<any> => ok(await page('GET', `/screening/${id}/status`));

  const sessions = {
    registered: await submit('registered'),
    agent: await submit('agent'),
    refused: await submit('refused'),
    blocked: await submit('blocked'),
    blockedAgent: await submit('blockedAgent'),
    waiting: await submit('waiting'),
  };
  await pay(sessions.registered);
  await pay(sessions.refused);
  const report = ok(await page('GET', `/reports/${sessions.registered}`));
  ok(await page('POST', `/reports/${sessions.registered}/consent-to-share`, { recipientAccountId: childAccountId }));
  const { status } = await page('GET', `/reports/${sessions.refused}`);
  if (status < 400) throw new Error(`The report of a frozen file was answered with ${status}.`);
  for (let attempt = 0; attempt < 3; attempt++) {
    const answers = [1, 2, 3, 4].map((questionId) => ({ questionId, answerId: 5 }));
    ok(await page('POST', `/screening/${sessions.blocked}/kba`, { answers }));
    ok(await page('POST', `/screening/${sessions.blockedAgent}/otp`, { code: '000000' }));
  }
  const names = Object.keys(PERSONS) as PersonName[];
  const statuses = await Promise.all(names.map(async (name) => [name, await statusOf(sessions[name])] as const));
  return {
    accountId,
    publishableKey,
    childAccountId,
    childPublishableKey,
    endpoint,
    sessions,
    statuses: Object.fromEntries(statuses) as StoredDescription['statuses'],
    report,
  };
}

async function keyOf(accountId: string): Promise<string> {
  const use = ['--kind', 'publishable', '--environment', 'live', '--origins', ORIGIN];
  return (await told(service, 'keys', 'issue', accountId, ...use, ...CONSENT)).key;
}

/** The service does not publish this event, so it does not search for a receiver. */
async function registerEndpoint(accountId: string): Promise<StoredDescription['endpoint']> {
  const { token } = await told(service, 'tokens', 'issue', accountId, '--user', 'owner-1', '--role', 'OWNER');
  const url = 'https://93.184.216.34/screenings';
  const headers = { authorization: `Bearer ${token}` };
  const body = { url, enabled_events: ['income_report.failed'] };
  return { id: ok(await service.request('POST', '/tsp/webhooks', { headers, body })).id, url };
}

function ok({ status, text, body }: Reply): any {
  if (status >= 300) throw new Error(`${status}: ${text}`);
  return body;
}
