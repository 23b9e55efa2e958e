import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { packed, plainFilename, unpacked } from '../../../src/modules/reports/application/pdf-file.js';

describe('the name of a PDF', () => {
  it.each([
    [null, 'report.pdf'],
    ['', 'report.pdf'],
    ['.pdf', 'report.pdf'],
    ['..', 'report.pdf'],
    ['Ada Example', 'Ada Example.pdf'],
    ['Ada.PDF', 'Ada.pdf'],
    ['/etc/passwd', 'passwd.pdf'],
    ['C:\\temp\\Ada.pdf', 'Ada.pdf'],
    ['Zoë', 'Zoe.pdf'],
    ['a"; filename="evil.exe', 'a__ filename__evil.exe.pdf'],
    ['a\r\nset-cookie: x', 'a__set-cookie_ x.pdf'],
    ['x'.repeat(300), `${'x'.repeat(100)}.pdf`],
  ])('%j becomes %s', (given, name) => {
    expect(plainFilename(given)).toBe(name);
  });

  it('is safe for any text, and is read back with the file', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), fc.uint8Array(), (given, bytes) => {
        const filename = plainFilename(given);
        expect(filename).toMatch(/^[A-Za-z0-9][A-Za-z0-9 ._-]{0,99}\.pdf$/);
        const file = unpacked(packed({ filename, content: bytes }));
        expect([file.filename, Buffer.from(file.content)]).toEqual([filename, Buffer.from(bytes)]);
      }),
    );
  });
});
