// Every command of docs/how-to/investigate-a-case.md runs, and prints the events and states that the page shows.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runOperatorCommand } from '../../support/operator.js';
import { aPerson, Service } from '../../support/service.js';

const PAGE = readFileSync('docs/how-to/investigate-a-case.md', 'utf8');
const QUESTIONS = PAGE.split(/^### /m).slice(1);
const COMMANDS = QUESTIONS.flatMap((text) => {
  const title = text.split('\n', 1)[0] ?? '';
  return [...text.matchAll(/^```sh\n([\s\S]*?)^```$(?:\s*^```json\n([\s\S]*?)^```$)?/gm)].map(
    ([, command, output]) => ({
      title,
      command: (command ?? '').trim().replaceAll('\\\n', ' '),
      shown: output ?? '',
    }),
  );
});

const folder = mkdtempSync(join(tmpdir(), 'investigate-'));
let service: Service;
const variables: Record<string, string> = { WHY: 'the consumer disputes the report' };

beforeAll(async () => {
  service = await Service.shared('plain');
  const { accounts } = await service.credentials();
  const page = await service.signIn('nopay');
  const person = aPerson({ lastName: 'Otptest' });
  const { id } = (await page.submit(person)).body;
  await page.post(`/screening/${id}/otp`, { code: '000000' });
  variables['WHEN'] = new Date().toISOString();
  expect((await page.post(`/screening/${id}/otp`, { code: '123456' })).status).toBe(200);
  expect((await page.get(`/reports/${id}`)).status).toBe(200);
  expect((await page.post(`/reports/${id}/consent-to-share`)).status).toBe(200);
  const stranger = await service.signIn('unrelated');
  expect((await stranger.get(`/reports/${id}`)).status).toBe(403);
  await page.submit(aPerson({ lastName: 'Fraudtest' }));
  Object.assign(variables, {
    SESSION: id,
    ACCOUNT: accounts.nopay.accountId,
    FROM: new Date(Date.now() - 86_400_000).toISOString(),
    LATER: new Date().toISOString(),
    TO: new Date(Date.now() + 86_400_000).toISOString(),
    PERSON: join(folder, 'person.json'),
  });
  const { firstName, lastName, dateOfBirth, ssn } = person;
  writeFileSync(join(folder, 'person.json'), JSON.stringify({ firstName, lastName, dateOfBirth, ssn }));
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await service.stop();
});

const env = (): Record<string, string> => ({ PATH: process.env['PATH'] ?? '', ...variables });

/** The command runs in a process that has loaded the program, and the rest of its line in a shell. */
async function printed(line: string): Promise<string> {
  const [command = '', ...rest] = line.split(' | ');
  const words = command.replace(/^npm run --silent ops -- /, '');
  expect(words).not.toBe(command);
  const args = execFileSync('bash', ['-c', `printf '%s\\0' ${words}`], { env: env(), encoding: 'utf8' });
  const { exitCode, stdout, inOrder } = await runOperatorCommand(args.split('\0').slice(0, -1), service.env);
  expect({ exitCode, inOrder }).toMatchObject({ exitCode: 0 });
  if (rest.length === 0) return stdout;
  return execFileSync('bash', ['-c', rest.join(' | ')], { input: stdout, env: env(), encoding: 'utf8' });
}

/** The events, tools, states and reasons in an output. */
const namesIn = (text: string): string[] => [
  ...new Set(
    [...text.matchAll(/"(?:event|tool|status|state|outcome|reason)":\s?"[\w ]+"/g)].map(([name]) =>
      name.replace(': ', ':'),
    ),
  ),
];

describe('the page about the investigation of a case', () => {
  it('has an answer to each of the twenty questions', () => {
    expect(QUESTIONS.map((text) => Number(/^\d+/.exec(text)?.[0]))).toEqual(
      Array.from({ length: 20 }, (_, at) => at + 1),
    );
    for (const text of QUESTIONS) expect(text).toMatch(/^```sh$|\]\([\w./#-]+\)/m);
  });

  it.each(COMMANDS)('$title: $command', async ({ title, command, shown }) => {
    const output = await printed(command);
    if (process.env['SHOW_OUTPUT'])
      writeFileSync(process.env['SHOW_OUTPUT'], `### ${title}\n${output}\n`, { flag: 'a' });
    expect(output.trim()).not.toBe('');
    expect(namesIn(output)).toEqual(expect.arrayContaining(namesIn(shown)));
  });

  it('has a command that shows the report and its share only as of a time when they existed', async () => {
    const last = async (time: string): Promise<any> => {
      const lines = await printed(`npm run --silent ops -- timeline $SESSION --as-of ${time} --purpose "$WHY"`);
      return JSON.parse(lines.trim().split('\n').at(-1) ?? '');
    };
    const [before, after] = [await last('$WHEN'), await last('$LATER')];
    expect([before.state.status, before.reports, before.shares]).toEqual(['OTP_PENDING', undefined, undefined]);
    expect(Object.values(after.reports)).toMatchObject([{ status: 'RELEASED' }]);
    expect(Object.values(after.shares)).toHaveLength(1);
  });
});
