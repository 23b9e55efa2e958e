// The help of operator commands, which scripts/ops.mjs shows without loading a command.
import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';

interface Help {
  readonly text: string;
  readonly exitCode: number;
}
const { helpFor } = (await import('../../scripts/ops-help.mjs' as string)) as {
  helpFor(args: readonly string[]): Help | null;
};
const help = JSON.parse(readFileSync('scripts/ops-help.json', 'utf8')) as Record<string, string>;

it.each([
  [['--help'], ''],
  [['help'], ''],
  [['accounts', '--help'], 'accounts'],
  [['help', 'accounts'], 'accounts'],
  [['accounts', 'help', 'list'], 'accounts list'],
  [['accounts', 'list', '-h'], 'accounts list'],
  [['keys', 'list', '01234567-89ab-7cde-8f01-23456789abcd', '--help'], 'keys list'],
])('a command line that asks for help gets the help of its command: %j', (args, name) => {
  expect(helpFor(args)).toEqual({ text: help[name], exitCode: 0 });
});

it.each([[[]], [['accounts']]])(
  'a command line without a command gets the usage and exit code 1: %j',
  (args: string[]) => {
    expect(helpFor(args)).toEqual({ text: help[args.join(' ')], exitCode: 1 });
  },
);

it.each([
  [['foo', '--help'], 'foo', ''],
  [['help', 'foo'], 'foo', ''],
  [['accounts', 'nope'], 'accounts nope', 'accounts'],
  [['accounts', 'nope', '--help'], 'accounts nope', 'accounts'],
])('a command line with an unknown command gets its name, the usage and exit code 1: %j', (args, unknown, group) => {
  expect(helpFor(args)).toEqual({ text: `There is no command ${unknown}.\n\n${help[group]}`, exitCode: 1 });
});

it('a command line that names a command gets no help', () => {
  expect(helpFor(['accounts', 'list', '--parent', 'x'])).toBeNull();
});

it('the help of each command with --yes says that only production asks for a confirmation', () => {
  const asking = Object.values(help).filter((text) => text.includes('--yes'));
  expect(asking).not.toEqual([]);
  for (const text of asking) expect(text).toMatch(/--yes +in production, go on without a confirmation\n/);
});
