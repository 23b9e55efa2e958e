// `npm run vendor:new`: the folder of a new vendor.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { makeVendor } from '../../../scripts/vendor-folder.mjs';

const vendors = mkdtempSync(join(tmpdir(), 'vendors-'));
afterAll(() => rmSync(vendors, { recursive: true }));

describe('the folder of a new vendor', () => {
  it('has every part of a vendor, with the declared requests', async () => {
    await makeVendor(vendors, ['one', '--port', 'identity', '--auth', 'oauth2', '--polls']);
    const text = (file: string): string => readFileSync(join(vendors, 'one', file), 'utf8');
    for (const file of ['vendor.ts', 'adapter.ts', 'wire.ts', 'double/part.ts', 'double/double.ts'])
      expect(text(file)).not.toBe('');
    expect(text('vendor.test.ts')).toContain('await certify(vendor, double, personas);');
    expect(text('double/certified.ts')).toContain("token: ['POST /oauth/token']");
    expect(text('double/certified.ts')).toContain("verdict: ['GET /v1/checks/*']");
    expect(text('vendor.ts')).toContain('VENDOR_ONE_TEST_CLIENT_SECRET');
    expect(existsSync(join(vendors, 'one', 'certification.json'))).toBe(false);
  });

  it.each([
    ['exists already', ['one', '--port', 'identity'], 'exists already'],
    ['has an id in capital letters', ['One', '--port', 'identity'], "A vendor's id"],
    ['has an id that leaves the folder', ['../one', '--port', 'identity'], "A vendor's id"],
    ['has no id', ['--port', 'identity'], "A vendor's id"],
    ['has no port', ['two'], '--port names'],
    ['has an unknown port', ['two', '--port', 'identity,telepathy'], '--port names'],
    ['has an unknown authentication', ['two', '--port', 'credit', '--auth', 'shout'], '--auth is one of'],
    ['has an unknown option', ['two', '--port', 'credit', '--now'], 'Usage'],
  ])('is not made when the request %s', async (_name, args, message) => {
    await expect(makeVendor(vendors, args)).rejects.toThrow(message);
    expect(existsSync(join(vendors, 'two'))).toBe(false);
  });
});
