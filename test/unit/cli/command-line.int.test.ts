// The command `screening` as a process: arguments, settings, and one sentence with an exit code for each failure.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { freePort } from '../../support/redis.js';

const COMMAND = resolve('packages/cli/screening.mjs');
const KEY = 'sk_test_0123456789abcdef';
const LISTEN = ['listen', '--forward', 'http://127.0.0.1:9/hooks'];

interface Ended {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

let folder: string;
let server: Server;
let url: string;
let reply = { status: 200, text: '' };
/** The paths of the requests to the service and to the receiver, which are one server here. */
const asked: string[] = [];
/** The answer of the receiver. */
let answer = 204;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cli-'));
  server = createServer(({ url: path = '' }, response) => {
    asked.push(path);
    response.writeHead(path.startsWith('/hooks') ? answer : reply.status).end(reply.text);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

function screening(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  return new Promise((ended) => {
    const options = { cwd: folder, env: { PATH: process.env['PATH'], ...env } };
    execFile(process.execPath, [COMMAND, ...args], options, (error, stdout, stderr) => {
      ended({ exitCode: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}
const withSettings = (args: readonly string[], more: object = {}): Promise<Ended> =>
  screening(args, { SCREENING_URL: url, SCREENING_SECRET_KEY: KEY, ...more });

describe('the help', () => {
  it.each([
    [['--help'], 'screening: tools'],
    [['help', 'listen'], 'screening listen --forward <address>'],
    [['listen', '--help'], 'screening listen --forward <address>'],
    [['trigger', '-h'], 'screening trigger <event>'],
    [['logs', '--help'], 'screening logs tail'],
    [['logs', 'tail', '--help'], 'screening logs tail'],
  ])('%j shows the help of the command without any settings', async (args, begin) => {
    const { exitCode, stdout } = await screening(args);
    expect([exitCode, stdout.slice(0, begin.length)]).toEqual([0, begin]);
  });

  it('says that listen does not forward redeliveries', async () => {
    expect((await screening(['listen', '--help'])).stdout).toContain('The feed does not\nshow it');
  });

  it('--version shows the version of the package', async () => {
    expect((await screening(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

describe('a wrong command line', () => {
  it.each([
    [['listne'], 'screening has no command "listne". screening --help lists the commands.'],
    [['logs'], 'screening has no command "logs". screening --help lists the commands.'],
    [['listen'], 'listen needs --forward with the address of your receiver.'],
    [[...LISTEN, '--after', 'x'], '--after must be a sequence, such as 0 for all events.'],
    [[...LISTEN, '--type', 'a'], "Unknown option '--type'. screening listen --help lists the options."],
    [[...LISTEN, 'more'], 'Unexpected word: more. screening listen --help lists the options.'],
    [
      ['resend', '--forward', 'http://127.0.0.1:9'],
      'resend needs the sequence of one event, which is in the line of listen.',
    ],
    [['resend', '0'], 'resend needs the sequence of one event, which is in the line of listen.'],
    [['resend', '3'], 'resend needs --forward with the address of your receiver.'],
    [['trigger'], 'trigger needs one event type, such as screening.completed.'],
    [['trigger', 'a', '--data', '[]'], '--data must be a JSON object, such as \'{"session_id": "..."}\'.'],
    [['trigger', 'a', '--data', '{'], '--data must be a JSON object, such as \'{"session_id": "..."}\'.'],
    [['logs', 'tail', '--status', '40'], '--status must be an HTTP status, such as 404.'],
  ])('%j is refused in one sentence with exit code 2', async (args, sentence) => {
    expect(await withSettings(args)).toEqual({ exitCode: 2, stdout: '', stderr: `${sentence}\n` });
  });

  // Guarantee: a misspelt type never makes the command wait for events that cannot come.
  it('an unknown type of events is refused with the types that exist, before the secret is shown', async () => {
    const error = { code: 'VALIDATION_ERROR', message: 'types must be one of report.shared.', field: 'types' };
    reply = { status: 400, text: JSON.stringify({ error }) };
    expect(await withSettings([...LISTEN, '--types', 'foo.bar'])).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: '--types is wrong: types must be one of report.shared. (VALIDATION_ERROR)\n',
    });
  });

  it('without a command the usage is shown with exit code 2', async () => {
    const { exitCode, stderr } = await screening([]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('screening trigger <event>')]);
  });
});

describe('the settings', () => {
  it.each([
    [{}, /^There is no secret key: set SCREENING_SECRET_KEY, .*\.data\/demo-credentials\.json does not exist\)\.\n$/],
    [{ SCREENING_SECRET_KEY: 'pk_test_0123456789abcdef' }, /^The secret key must begin with sk_test_ or sk_live_/],
    [{ SCREENING_SECRET_KEY: KEY }, /^The address of the service is missing: set SCREENING_URL/],
    [{ SCREENING_SECRET_KEY: KEY, SCREENING_URL: 'localhost:3000' }, /^SCREENING_URL must be an address that begins/],
  ])('%j are refused in one sentence with exit code 1', async (env, sentence) => {
    const { exitCode, stdout, stderr } = await screening(LISTEN, env);
    expect([exitCode, stdout, stderr]).toEqual([1, '', expect.stringMatching(sentence)]);
  });

  it('without variables, the demo keys of DATA_DIR are used', async () => {
    const file = join(folder, 'demo-credentials.json');
    writeFileSync(file, JSON.stringify({ baseUrl: url, accounts: { demo: { secretKey: KEY } } }));
    reply = { status: 418, text: JSON.stringify({ error: { code: 'TEA', message: 'The demo keys arrived.' } }) };
    expect((await screening(LISTEN, { DATA_DIR: folder })).stderr).toBe('The demo keys arrived. (TEA)\n');
  });

  it.each([
    [{ SCREENING_SECRET_KEY: 'sk_live_0123456789abcdef' }, /^The address of the service is missing: set SCREENING_URL/],
    [{ SCREENING_URL: 'http://127.0.0.1:9' }, /^The secret key is missing: set SCREENING_SECRET_KEY too\.\n$/],
  ])('with only %j, the demo keys are not used, and the other variable is asked for', async (env, sentence) => {
    const file = join(folder, 'demo-credentials.json');
    writeFileSync(file, JSON.stringify({ baseUrl: url, accounts: { demo: { secretKey: KEY } } }));
    const before = asked.length;
    const { exitCode, stderr } = await screening(LISTEN, { DATA_DIR: folder, ...env });
    expect([exitCode, stderr, asked.length]).toEqual([1, expect.stringMatching(sentence), before]);
  });

  it('trigger refuses a live key without a request', async () => {
    const { exitCode, stderr } = await withSettings(['trigger', 'a'], { SCREENING_SECRET_KEY: 'sk_live_0123456789' });
    expect([exitCode, stderr]).toEqual([2, 'trigger needs a test key, which begins with sk_test_.\n']);
  });
});

describe('resend', () => {
  const resend = (path: string): Promise<Ended> => {
    const event = { id: 'evt_1', type: 'report.shared', account_id: 'own', data: {} };
    reply = { status: 200, text: JSON.stringify({ data: [{ sequence: 1, digest: '', event }] }) };
    return withSettings(['resend', '1', '--forward', url + path]);
  };

  it.each([
    [204, 0, ''],
    [299, 0, ''],
    [301, 1, 'The receiver did not take the event.\n'],
    [500, 1, 'The receiver did not take the event.\n'],
  ])('an answer %i of the receiver gives the exit code %i', async (status, code, sentence) => {
    answer = status;
    const { exitCode, stdout, stderr } = await resend('/hooks');
    expect([exitCode, stdout, stderr]).toEqual([
      code,
      expect.stringContaining(`  ${status}  report.shared  `),
      sentence,
    ]);
  });

  it('the address of the receiver is used as it is given, with the slash at its end', async () => {
    answer = 204;
    await resend('/hooks/');
    await resend('/hooks');
    expect(asked.filter((path) => path.startsWith('/hooks')).slice(-2)).toEqual(['/hooks/', '/hooks']);
  });
});

describe('a service that does not do the work', () => {
  it('does not answer: one sentence with exit code 1', async () => {
    const closed = `http://127.0.0.1:${await freePort()}`;
    const { exitCode, stderr } = await withSettings(LISTEN, { SCREENING_URL: closed });
    expect([exitCode, stderr]).toEqual([1, `The service at ${closed} does not answer (connection refused).\n`]);
  });

  it.each([
    [
      401,
      '{"error":{"code":"AUTH_UNAUTHORIZED","message":"No valid key."}}',
      /does not accept the secret key: No valid/,
    ],
    [
      400,
      '{"error":{"code":"VALIDATION_ERROR","message":"data is wrong.","field":"data"}}',
      /^data is wrong\. \(VALIDATION/,
    ],
    [404, '<html></html>', /is not the address of a screening service: it answered with the status 404 /],
    [200, '<html></html>', /is not the address of a screening service/],
    [301, '', /is not the address of a screening service: it answered with the status 301 /],
    [503, '', /answers with the status 503\.\n$/],
  ])('answers %i %s: one sentence with exit code 1', async (status, text, sentence) => {
    reply = { status, text };
    expect(await withSettings(LISTEN)).toEqual({ exitCode: 1, stdout: '', stderr: expect.stringMatching(sentence) });
  });

  it.each([[['trigger', 'screening.completed']], [['logs', 'tail']]])('%j reports it too', async (args) => {
    reply = { status: 404, text: 'not found' };
    const { exitCode, stderr } = await withSettings(args);
    expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/is not the address of a screening service/)]);
  });
});
