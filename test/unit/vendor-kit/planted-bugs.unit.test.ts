import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { PLANTED_BUGS } from '../../certify/planted-bugs.js';

const SOURCES = join(import.meta.dirname, '..', '..', '..', 'src');

/** `npm run test:certify` runs outside CI, so a place that has changed would be noticed late. */
describe('the planted bugs of the certification', () => {
  it.each(PLANTED_BUGS)('has one place for the bug: $name', ({ file, change: [from, to] }) => {
    expect(readFileSync(join(SOURCES, file), 'utf8').split(from)).toHaveLength(2);
    expect(to).not.toBe(from);
  });
});
