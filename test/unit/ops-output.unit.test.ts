// How operator commands show their results.
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { printAsJson, printNone, recordText, tableText } from '../../src/ops/output.js';

it('a table has a heading for each column, and a line for each row', () => {
  const rows = [
    { accountId: 'a1', status: 'active', since: null },
    { accountId: 'a22', status: 'disabled', since: 5 },
  ];
  expect(tableText(rows, false).split('\n')).toEqual([
    'ACCOUNT ID  STATUS    SINCE',
    'a1          active    -',
    'a22         disabled  5',
  ]);
});

it('a table has colours only if they are asked for', () => {
  expect(tableText([{ status: 'disabled' }], false)).not.toContain('\u001b');
  expect(tableText([{ status: 'disabled' }], true)).toContain('\u001b[31mdisabled\u001b[39m');
});

it('a text with control characters does not reach the terminal as it is', () => {
  expect(tableText([{ name: 'Acme\u001b]0;owned\u0007\n' }], false)).toBe('NAME\nAcme ]0;owned');
  expect(recordText({ name: 'Acme\u001b[2J' })).toBe('name  Acme [2J');
});

it('a record is shown with a line for each field, even for a field within an object', () => {
  expect(recordText({ id: 'x', vendors: { identity: 'a', credit: null }, products: ['CONSUMER', 'AGENT'] })).toBe(
    ['id                x', 'vendors.identity  a', 'vendors.credit    -', 'products          CONSUMER, AGENT'].join(
      '\n',
    ),
  );
});

describe('a list without entries', () => {
  const isTerminal = process.stdout.isTTY;

  afterEach(() => {
    jest.restoreAllMocks();
    process.stdout.isTTY = isTerminal;
    printAsJson(false);
  });

  it.each([
    ['says so on a terminal', true, false, 'No screenings found.\n'],
    ['prints nothing in a pipe', false, false, ''],
    ['prints nothing with --json', true, true, ''],
  ])('%s', (_, terminal, json, expected) => {
    const written: unknown[] = [];
    jest.spyOn(process.stdout, 'write').mockImplementation((text) => written.push(text) > 0);
    process.stdout.isTTY = terminal;
    printAsJson(json);
    printNone('screenings');
    expect(written.join('')).toBe(expected);
  });
});
