import { describe, expect, it } from '@jest/globals';
import { quickToPrint } from '../../../src/adapters/pdf-renderer/quick-to-print.js';
import { processorMs } from '../../support/measuring.js';

const wraps = (html: string): boolean => quickToPrint(html).includes('overflow-wrap');
const LONG = 'x'.repeat(2_000);

describe('a page that was made quick to print', () => {
  it.each([
    ['', 'text'],
    ['', '<html><body>text'],
    ['<!doctype html>', '<p>text'],
    [' \n<!-- a > b --><!--><!---->\n<!DOCTYPE html SYSTEM "about:legacy-compat">', '<p>text'],
    ['<?xml version="1.0"?>\n<!doctype html>', '<p>text'],
    ['\uFEFF', '<p>text'],
    ['\uFEFF<!doctype html>', '<p>text'],
    ['', '<p><!doctype html>'],
    ['', '<!-- <!doctype html>'],
    ['', '<!doctype html'],
  ])('keeps %j at the start, before %j, so that the doctype still has its effect', (before, rest) => {
    const quick = quickToPrint(before + rest);
    expect([
      quick.slice(0, before.length),
      quick.slice(before.length, before.length + 7),
      quick.slice(-8 - rest.length),
    ]).toEqual([before, '<style>', `</style>${rest}`]);
  });

  it.each([
    LONG,
    `<p>short</p><p>${LONG}`,
    `a < b ${LONG}`,
    `<!-- > -->${LONG}`,
    `<style>p { color: red }</style><pre>${LONG}`,
    `<SCRIPT>if (a<b) c()</SCRIPT>${LONG}`,
  ])('has its long words wrapped in %#', (html) => {
    expect(wraps(html)).toBe(true);
  });

  it.each([
    `${'x'.repeat(1_999)} x`,
    `<img src="data:image/png;base64,${LONG}">`,
    `<style>p { background: url(data:image/png;base64,${LONG}) }</style>`,
    `<script>"${LONG}"</script>`,
    `<!-- ${LONG} -->`,
    `<!-- ${LONG}`,
    `<style>${LONG}`,
    'some words '.repeat(10_000),
  ])('has unchanged lines and columns in %#', (html) => {
    expect(wraps(html)).toBe(false);
  });

  it.each(['<', '<!--', '<a', '<style', '<style>', '<!--><', '<?', ' ', `${'x'.repeat(1_999)} `, '<!-->'])(
    'is ready within a second for two megabytes of %#',
    (part) => {
      const html = part.repeat(2_000_000 / part.length);
      expect(processorMs(() => quickToPrint(html))).toBeLessThan(1_000);
    },
  );
});
