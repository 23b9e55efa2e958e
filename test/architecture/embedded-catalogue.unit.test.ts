// The callbacks, error codes and warnings of the embedded component. The tests compare this catalogue in both
// directions with the promises to integrators, the document, and the browser tests that cause them.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { COMPONENT_ERRORS } from '../../web/contract/codes.js';
import { CALLBACK_WEBHOOKS, EMBEDDED_CODES, WARNING_CODES } from './spec/embedded-codes.js';

const page = readFileSync('docs/how-to/embed-the-component.md', 'utf8');
const contract = readFileSync('web/contract/callbacks.ts', 'utf8');
const sources = filesBelow('web')
  .filter((file) => /\.tsx?$/.test(file) && !file.endsWith('codes.ts') && !file.endsWith('callbacks.ts'))
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n');
const browserTests = filesBelow('test/e2e/embedded')
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n');
/** The API returns these codes, and the page passes them on. */
const OF_THE_API = readFileSync('docs/errors.md', 'utf8');

/** The table rows under a heading of the document, by each name in the first cell. */
function rowsUnder(heading: string): readonly (readonly [name: string, cells: readonly string[]])[] {
  const [, section = ''] = page.split(new RegExp(`^## ${heading}$`, 'm'));
  const rows = (section.split(/^## /m)[0] ?? '').split('\n').filter((line) => line.startsWith('| '));
  return rows.flatMap((row) => {
    const cells = row.split('|').slice(1, -1);
    const names = (cells[0] ?? '').match(/\b(?:[A-Z]{3,}(?:_[A-Z]+)+|(?:on|handle)[A-Z]\w+)\b/g) ?? [];
    return names.map((name) => [name, cells.map((cell) => cell.trim())] as const);
  });
}

describe('the catalogue of the embedded component', () => {
  it('has the promised error codes, each with the promised value of `recoverable`', () => {
    const known = Object.fromEntries(
      Object.entries(COMPONENT_ERRORS).map(([code, { recoverable }]) => [code, recoverable]),
    );
    expect(known).toEqual(EMBEDDED_CODES);
  });

  it('has the promised callbacks and warnings', () => {
    const [, payloads = ''] = contract.split('export interface CallbackPayloads {');
    const names = [...(payloads.split('\n}')[0] ?? '').matchAll(/^ {2}(\w+):/gm)].map(([, name]) => name);
    expect(names.sort()).toEqual(Object.keys(CALLBACK_WEBHOOKS).sort());
    const [, warnings = ''] = contract.split('export type WarningCode =');
    expect([...(warnings.split(';')[0] ?? '').matchAll(/'(\w+)'/g)].map(([, code]) => code)).toEqual([
      ...WARNING_CODES,
    ]);
  });

  it('has only error codes and warnings that can occur', () => {
    const caused = (code: string): boolean => sources.includes(`'${code}'`) || OF_THE_API.includes(`\`${code}\``);
    expect([...Object.keys(EMBEDDED_CODES), ...WARNING_CODES].filter((code) => !caused(code))).toEqual([]);
  });

  it('equals its document row by row', () => {
    const errors = new Map(rowsUnder('Errors'));
    expect([...errors.keys()].sort()).toEqual(Object.keys(EMBEDDED_CODES).sort());
    const words = { true: 'true', false: 'false', null: '', server: 'true only for 5xx' };
    for (const [code, recoverable] of Object.entries(EMBEDDED_CODES))
      expect([code, errors.get(code)?.at(-1)]).toEqual([code, words[String(recoverable) as keyof typeof words]]);
    expect(rowsUnder('Warnings').map(([code]) => code)).toEqual([...WARNING_CODES]);
    const callbacks = rowsUnder('Callbacks');
    expect([...new Set(callbacks.map(([name]) => name))].sort()).toEqual(Object.keys(CALLBACK_WEBHOOKS).sort());
    const told = new Map(callbacks);
    for (const [name, webhooks] of Object.entries(CALLBACK_WEBHOOKS))
      for (const webhook of webhooks)
        expect([name, told.get(name)?.at(-1)]).toEqual([name, expect.stringContaining(webhook)]);
  });

  it('has a browser test for every entry', () => {
    const names = [...Object.keys(CALLBACK_WEBHOOKS), ...Object.keys(EMBEDDED_CODES), ...WARNING_CODES];
    expect(names.filter((name) => !browserTests.includes(name))).toEqual([]);
  });
});

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
