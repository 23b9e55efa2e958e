// The results of a command: tables for people on a terminal, one JSON object on a line for programs.

/** A value in a table or a record for people. */
type Cell = string | number | boolean | null | undefined;
export type Row = Readonly<Record<string, Cell>>;

const MOST_ROWS_TOGETHER = 200;
const WIDEST = 60;
const GREEN = new Set(['ACTIVE', 'COMPLETED', 'SUCCEEDED', 'VERIFIED', 'IDENTITY_VERIFIED', 'OPEN', 'PAID']);
const RED = new Set(['FAILED', 'ERROR', 'ERRORED', 'BLOCKED', 'DISABLED', 'EXHAUSTED', 'FAILING', 'EXPIRED']);

let json = false;
let waiting: Row[] = [];

/** Each run of a command says first whether `--json` was given. */
export function printAsJson(wanted: boolean): void {
  json = wanted;
  waiting = [];
}

function isForPeople(): boolean {
  return process.stdout.isTTY && !json;
}

function colours(): boolean {
  return process.stdout.isTTY && (process.env['NO_COLOR'] ?? '') === '';
}

/** Prints one result. */
export function print(result: object): void {
  if (!isForPeople()) return void process.stdout.write(`${JSON.stringify(result)}\n`);
  endTable();
  process.stdout.write(`${recordText(result)}\n\n`);
}

/** Prints one result of a list. People see `row` in a table, and programs the whole result. */
export function printRow(result: object, row: Row): void {
  if (!isForPeople()) return print(result);
  if (waiting.length === MOST_ROWS_TOGETHER) endTable();
  waiting.push(row);
}

/** Tells people that a list has no entries. Programs read nothing. */
export function printNone(things: string): void {
  if (isForPeople()) process.stdout.write(`No ${things} found.\n`);
}

/** Prints the rows that wait for the width of their table. Called at the end of a command. */
export function endTable(): void {
  if (waiting.length > 0) process.stdout.write(`${tableText(waiting, colours())}\n`);
  waiting = [];
}

/** A line for each row below a line of headings. */
export function tableText(rows: readonly Row[], coloured: boolean): string {
  const names = Object.keys(rows[0] ?? {});
  const cells = rows.map((row) => names.map((name) => shortened(textOf(row[name]))));
  const headings = names.map((name) => wordsOf(name).toUpperCase());
  const widths = headings.map((heading, at) => Math.max(heading.length, ...cells.map((row) => (row[at] ?? '').length)));
  const lineOf = (row: readonly string[], paint: (padded: string, text: string) => string): string =>
    row
      .map((text, at) => paint(at === row.length - 1 ? text : text.padEnd(widths[at] ?? 0), text))
      .join('  ')
      .trimEnd();
  const heading = lineOf(headings, (padded) => (coloured ? `\u001b[1m${padded}\u001b[22m` : padded));
  return [
    heading,
    ...cells.map((row) => lineOf(row, (padded, text) => (coloured ? painted(padded, text) : padded))),
  ].join('\n');
}

/** A line for each field, with the fields of an object below its name. */
export function recordText(result: object): string {
  const fields = fieldsOf(result, '');
  const width = Math.max(0, ...fields.map(([name]) => name.length));
  return fields.map(([name, text]) => `${name.padEnd(width)}  ${text}`.trimEnd()).join('\n');
}

function fieldsOf(value: object, before: string): [string, string][] {
  return Object.entries(value).flatMap(([name, one]: [string, unknown]): [string, string][] =>
    typeof one === 'object' && one !== null && !Array.isArray(one) && Object.keys(one).length > 0
      ? fieldsOf(one, `${before}${name}.`)
      : [[`${before}${name}`, textOf(one)]],
  );
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '-';
  const text =
    typeof value === 'string'
      ? value
      : Array.isArray(value) && value.every((one) => typeof one !== 'object')
        ? value.join(', ')
        : JSON.stringify(value);
  // An account chooses its name, and a terminal must not obey it.
  return text.replace(/\p{Cc}+/gu, ' ');
}

function shortened(text: string): string {
  return text.length > WIDEST ? `${text.slice(0, WIDEST - 3)}...` : text;
}

/** `accountId` is the heading `account id`. */
function wordsOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function painted(padded: string, text: string): string {
  const word = text.toUpperCase();
  if (GREEN.has(word)) return `\u001b[32m${padded}\u001b[39m`;
  return RED.has(word) ? `\u001b[31m${padded}\u001b[39m` : padded;
}
