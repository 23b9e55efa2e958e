// The addresses to which the processor's page may return a renter.
import { describe, expect, it } from '@jest/globals';
import { faultOfRedirect } from '../../../src/modules/payments/http/direct/redirect-address.js';

describe('a return address', () => {
  it.each([
    'https://app.example.test/paid',
    'https://app.example.test',
    'HTTPS://app.example.test:8443/a%20b?x=1&y=[2]#end',
    'https://app.example.test/paid?session={CHECKOUT_SESSION_ID}',
    'https://app.example.test/{CHECKOUT_SESSION_ID}/x?again={CHECKOUT_SESSION_ID}#{CHECKOUT_SESSION_ID}',
    'https://[2001:db8::1]/x',
    'https://192.0.2.1/x',
  ])('is valid in live and test: %s', (address) => {
    expect([faultOfRedirect(address, 'live'), faultOfRedirect(address, 'test')]).toEqual([null, null]);
  });

  it('with http is valid only in test', () => {
    const address = 'http://localhost:5173/done?session={CHECKOUT_SESSION_ID}';
    expect(faultOfRedirect(address, 'test')).toBeNull();
    expect(faultOfRedirect(address, 'live')).toBe('must begin with https');
  });

  it.each([
    '',
    'paid',
    '/paid',
    '//app.example.test/paid',
    'https:app.example.test',
    'https:///paid',
    'https:\\\\app.example.test',
    'https://app.example.test\\@evil.test/',
    'https://app .example.test/',
    'https://app\t.example.test/',
    'https://app.example.test/a b',
    'https://app.example.test/\n',
    ' https://app.example.test/',
    'https://app.example.test/%zz',
    'https://app.example.test/{other}',
    'https://app.example.test/{checkout_session_id}',
    'https://app.example.test/<script>',
    'https://äpp.example.test/',
    'https://{CHECKOUT_SESSION_ID}.example.test/',
    'https://app.example.test:99999/',
    'javascript:alert(1)',
    'javascript://app.example.test/%0aalert(1)',
    'data:text/html,x',
    'ftp://app.example.test/',
    'intent://app.example.test/',
  ])('is not valid: %j', (address) => {
    expect(faultOfRedirect(address, 'test')).toBe('must be an absolute https address');
  });

  it.each(['https://jo:secret@app.example.test/', 'https://jo@app.example.test/', 'https://@app.example.test/'])(
    'must not contain credentials: %s',
    (address) => {
      expect(faultOfRedirect(address, 'test')).toBe('must not hold credentials');
    },
  );

  it('has at most 2,048 characters', () => {
    const start = 'https://app.example.test/';
    expect(faultOfRedirect(start + 'x'.repeat(2_048 - start.length), 'live')).toBeNull();
    expect(faultOfRedirect(start + 'x'.repeat(2_049 - start.length), 'live')).toBe('must have at most 2048 characters');
  });
});
