import 'reflect-metadata';
import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { SURFACES } from '../../src/surfaces/all.js';
import { errorsDocument } from '../../src/surfaces/errors-document.js';
import { said, type StringError } from '../../src/surfaces/string-codes.js';
import { ERROR_CODES } from '../../src/kernel/error-codes.js';
import {
  ADDED_CODES,
  GENERIC_CODES,
  PAYMENT_AND_INCOME_CODES,
  REPORT_CODES,
  SCREENING_CODES,
  TOKEN_CODES,
  WEBHOOK_CODES,
} from './spec/string-codes.js';

const faces: readonly StringError[] = said;
const specified = [
  ...SCREENING_CODES,
  ...TOKEN_CODES,
  ...GENERIC_CODES,
  ...REPORT_CODES,
  ...PAYMENT_AND_INCOME_CODES,
  ...WEBHOOK_CODES,
  ...ADDED_CODES,
];

describe('the error catalogue', () => {
  it.each(specified)('has $code with the specified status', ({ code, status, recoverable }) => {
    const said = faces.filter((face) => face.code === code);
    expect(said.length).toBeGreaterThan(0);
    for (const face of said) {
      expect(face.status).toBe(status);
      if (recoverable !== undefined) expect(face.recoverable).toBe(recoverable);
    }
  });

  it('has only specified codes', () => {
    const known = new Set(specified.map(({ code }) => code));
    expect(faces.map(({ code }) => code).filter((code) => !known.has(code))).toEqual([]);
  });

  it('has one status for each code', () => {
    const statuses = new Map<string, Set<number>>();
    for (const { code, status } of faces) statuses.set(code, (statuses.get(code) ?? new Set()).add(status));
    expect([...statuses].filter(([, of]) => of.size > 1)).toEqual([]);
  });

  it('equals docs/errors.md line for line', () => {
    expect(readFileSync('docs/errors.md', 'utf8')).toBe(errorsDocument(SURFACES.all));
  });

  it('has only error codes that the source uses', () => {
    const sources = filesBelow('src')
      .filter((file) => !/(?:error-codes|string-codes|numeric-codes)\.ts$/.test(file))
      .map((file) => readFileSync(file, 'utf8'))
      .join('\n');
    expect(Object.keys(ERROR_CODES).filter((condition) => !sources.includes(`'${condition}'`))).toEqual([]);
  });
});

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => `${entry.parentPath}/${entry.name}`);
}
