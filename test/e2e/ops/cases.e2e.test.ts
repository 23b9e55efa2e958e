// The search for cases: no argument and no event of the search has personal data.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '../../../src/kernel/ids.js';
import { DirectCaller } from '../../support/direct.js';
import { until } from '../../support/eventually.js';
import { type CommandResult, runOperatorCommand } from '../../support/operator.js';
import { aPerson, type Credentials, Service } from '../../support/service.js';

const folder = mkdtempSync(join(tmpdir(), 'ops-cases-'));
const RENTER = `lease-${newId()}`;
const EXTERNAL_ID = `Lease of Ada, ${newId()}`;
const ada = aPerson({ lastName: 'Kowalczyk' });
const spelled = { firstName: 'ada', lastName: 'KOWALCZYK', dateOfBirth: '4/12/1990', ssn: ada['ssn'] };

let service: Service;
let accounts: Credentials['accounts'];
/** The sessions by their names, the oldest first. */
const made: Record<string, string> = {};

beforeAll(async () => {
  service = await Service.shared('plain');
  ({ accounts } = await service.credentials());
  const opened = async (name: string, caller: Awaited<ReturnType<Service['signIn']>>, person = ada): Promise<void> => {
    const { body } = await caller.submit(person);
    made[name] = body.id ?? body.error.sessionId;
  };
  await opened('of nopay', await service.signIn('nopay'));
  await opened('of demo', await service.signInUnderGrant('demo', { external_id: EXTERNAL_ID }));
  await opened('of a stranger', await service.signIn('nopay'), aPerson());
  await opened('blocked', await service.signIn('nopay'), aPerson({ lastName: 'Fraudtest' }));
  const server = await DirectCaller.of(service);
  expect((await server.registered('renters', RENTER)).status).toBe(200);
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await service.stop();
});

const run = (...args: string[]): Promise<CommandResult> => runOperatorCommand(['cases', 'find', ...args], service.env);
const rowsOf = (stdout: string): any[] =>
  stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
async function found(...args: string[]): Promise<string[]> {
  const { exitCode, stdout, stderr } = await run(...args);
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
  return rowsOf(stdout).map(({ session }) => Object.keys(made).find((name) => made[name] === session) ?? 'other');
}
function file(content: unknown): string {
  const path = join(folder, 'person.json');
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

describe('ops cases find', () => {
  it('finds the screenings of a person in all accounts, in any spelling, or in one account', async () => {
    const person = ['--person', file(spelled)];
    expect(await found(...person)).toEqual(['of demo', 'of nopay']);
    expect(await found(...person, '--account', accounts.nopay.accountId)).toEqual(['of nopay']);
    expect(await found(...person, '--status', 'BLOCKED')).toEqual([]);
    expect(await found('--same-person-as', made['of demo'] as string)).toEqual(['of demo']);
  });

  it('finds by an id of the integrator, by facts and by the reason of a block', async () => {
    const { accountId } = accounts.demo;
    expect(await found('--account', accountId, '--external-id', EXTERNAL_ID)).toEqual(['of demo']);
    const ofNopay = ['--account', accounts.nopay.accountId] as const;
    const { stdout } = await run(...ofNopay, '--party-id', RENTER);
    expect(rowsOf(stdout)).toMatchObject([{ accountId: accounts.nopay.accountId, environment: 'test' }]);
    const fraud = [...ofNopay, '--reason', 'FRAUD_REPORTED', '--environment', 'test'] as const;
    expect((await found(...fraud))[0]).toBe('blocked');
    expect(await found(...fraud, '--to', '2020-01-01T00:00:00Z')).toEqual([]);
    expect(await found(...ofNopay, '--party-id', 'nobody')).toEqual([]);
  });

  it('records each search without the person and the ids of the integrator', async () => {
    const why = ['--purpose', `an inquiry ${newId()}`, '--ticket', 'SUP-9'] as const;
    await found('--person', file(spelled), '--status', 'VERIFIED', ...why);
    await found('--account', accounts.demo.accountId, '--external-id', EXTERNAL_ID, ...why);
    const { stdout } = await runOperatorCommand(['operators', 'uses', '--limit', '2'], service.env);
    const common = { tool: 'cases find', purpose: why[1], ticket: 'SUP-9' };
    expect(rowsOf(stdout)).toMatchObject([
      { ...common, subject: { kind: 'account', id: accounts.demo.accountId }, options: ['--external-id'] },
      { ...common, subject: null, options: ['--status VERIFIED', '--person'] },
    ]);
    const all = await runOperatorCommand(['stream', 'show', 'operator_uses-installation'], service.env);
    for (const personal of [ada['ssn'] as string, EXTERNAL_ID, RENTER, /kowalczyk/i])
      expect(all.stdout).not.toMatch(personal);
  });

  it('asks on a terminal without showing the answers', async () => {
    const child = spawn('script', ['-qefc', 'node dist/src/ops/main.js cases find --json --person', '/dev/null'], {
      env: { PATH: process.env['PATH'], ...service.env },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    let shown = '';
    child.stdout.on('data', (chunk: Buffer) => (shown += chunk.toString()));
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
    const answers = [ada['ssn'], 'Ada', 'Kowalczyk', '04121990', ''];
    for (const [index, answer] of answers.entries()) {
      await until('the next question is asked', () => shown.split('not shown: ').length === index + 2);
      child.stdin.write(`${answer as string}\r`);
    }
    expect(await ended).toBe(0);
    expect(shown).toContain(made['of nopay']);
    for (const answer of [ada['ssn'] as string, 'Ada', 'Kowalczyk', '04121990']) expect(shown).not.toContain(answer);
  });

  it.each<[string[], RegExp]>([
    [['--person'], /^--person asks on a terminal/],
    [['--person', 'nowhere.json'], /^The file of --person cannot be read as JSON\.$/],
    [['--external-id', 'x'], /^Give --account with --external-id\.$/],
    [['--party-id', 'x'], /^Give --account with --party-id\.$/],
    [['--same-person-as', newId()], /^There is no screening session /],
    [['--same-person-as', newId(), '--person', 'x'], /^Give only one of --person and --same-person-as\.$/],
    [['--reason', 'WHIM'], /^--reason must be one of TOO_MANY_ATTEMPTS, IDENTITY_NOT_FOUND/],
    [['--reason', 'DECEASED', '--status', 'ERROR'], /^--reason goes with --status BLOCKED\.$/],
  ])('refuses %j in one sentence', async (args, sentence) => {
    const { exitCode, stdout, stderr } = await run(...args);
    expect([exitCode, stdout, stderr.trim()]).toEqual([1, '', expect.stringMatching(sentence)]);
  });

  it.each<[unknown, RegExp]>([
    ['{"ssn": "123', /cannot be read as JSON/],
    [{ ssn: 123 }, /must be a JSON object with texts/],
    [{ socialSecurityNumber: '123' }, /must be a JSON object with texts/],
    [{ firstName: 'Ada' }, /The person needs the SSN, or the name and the date of birth/],
  ])('refuses the file %j without quoting it', async (content, sentence) => {
    const { exitCode, stdout, stderr } = await run('--person', file(content));
    expect([exitCode, stdout, stderr.trim()]).toEqual([1, '', expect.stringMatching(sentence)]);
    expect(stderr).not.toMatch(/123|socialSecurityNumber/);
  });
});
