// The rules for webhook addresses: every spelling of an address, every special range and every name that is not public is refused.
import { describe, expect, test } from '@jest/globals';
import { AddressGuard, targetOf } from '../../../src/adapters/webhook-sender/address-guard.js';
import { AddressRules } from '../../../src/adapters/webhook-sender/address-rules.js';
import { CheckedNames } from '../../../src/adapters/webhook-sender/checked-names.js';

const PUBLIC = '93.184.216.34';

/** The rule that a URL breaks. A host that is a name resolves to `addresses`. */
function faultOf(
  url: string,
  addresses: readonly string[] = [PUBLIC],
  allow: readonly string[] = [],
): Promise<string | null> {
  return new AddressRules({ allow, lookup: async () => addresses.map((address) => ({ address })) }).faultOf(url);
}

const BAD_URLS: readonly (readonly [string, string])[] = [
  // The URL without a resolved name.
  ['not a URL', 'hooks.example.com'],
  ['an empty text', ''],
  ['plain HTTP', 'http://hooks.example.com/'],
  ['another scheme', 'ftp://hooks.example.com/'],
  ['a file', 'file:///etc/passwd'],
  ['a user name', 'https://user@hooks.example.com/'],
  ['a password', 'https://:secret@hooks.example.com/'],
  ['an address disguised as credentials', 'https://hooks.example.com@127.0.0.1/'],
  ['port 0', 'https://hooks.example.com:0/'],
  ['a port beyond the last', 'https://hooks.example.com:65536/'],
  ['no host', 'https:///'],
  ['a space in the host', 'https://hooks example.com/'],
  // Public addresses, in texts that another parser may read differently.
  ['no slashes', 'https:93.184.216.34'],
  ['one slash', 'https:/93.184.216.34'],
  ['three slashes', 'https:///93.184.216.34'],
  ['a space in front', ' https://93.184.216.34'],
  ['a space behind', 'https://93.184.216.34 '],
  ['a space in the path', 'https://93.184.216.34/a b'],
  ['a no-break space', 'https://93.184.216.34/\u00a0'],
  ['a line break behind', 'https://93.184.216.34/\r\nx'],
  ['a tab in the scheme', 'ht\ttps://93.184.216.34/'],
  ['a null character', 'https://93.184.216.34/\u0000'],
  ['a control character beyond ASCII', 'https://93.184.216.34/\u009f'],
  ['a backslash in the authority', 'https://93.184.216.34\\@10.0.0.1'],
  ['a backslash in the path', 'https://93.184.216.34/a\\b'],
  ['backslashes for slashes', 'https:\\\\93.184.216.34/'],
  ['an empty user name', 'https://@93.184.216.34/'],
  ['an empty user name and password', 'https://:@93.184.216.34/'],
  ['an empty authority with a query', 'https://?93.184.216.34'],
  // Names.
  ['localhost', 'https://localhost/'],
  ['localhost in capitals', 'https://LOCALHOST/'],
  ['localhost with a trailing dot', 'https://localhost./'],
  ['localhost, percent-encoded', 'https://%6c%6f%63alhost/'],
  ['localhost in circled letters', 'https://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/'],
  ['localhost, full-width', 'https://ｌｏｃａｌｈｏｓｔ/'],
  ['a name below localhost', 'https://hooks.localhost/'],
  ['localhost.localdomain', 'https://localhost.localdomain/'],
  ['a multicast DNS name', 'https://printer.local/'],
  ['an internal name', 'https://billing.internal/'],
  ['cloud metadata by name', 'https://metadata.google.internal/computeMetadata/v1/'],
  ['cloud metadata by its other name', 'https://metadata.goog/'],
  ['cloud metadata by name with a trailing dot', 'https://metadata.google.internal./'],
  ['cloud metadata as a single label', 'https://metadata/'],
  ['instance data by name', 'https://instance-data.ec2.internal/'],
  ['a service of a cluster', 'https://redis.default.svc/'],
  ['a service of a cluster by its full name', 'https://redis.default.svc.cluster.local/'],
  ['a name of a home network', 'https://router.home.arpa/'],
  ['a single label', 'https://intranet/'],
  ['a name with a trailing dot', 'https://hooks.example.com./'],
  ['a name with two trailing dots', 'https://hooks.example.com../'],
  ['a name with a leading dot', 'https://.hooks.example.com/'],
  ['a name with an empty label', 'https://hooks..example.com/'],
  ['a name that is too long', `https://${'a.'.repeat(130)}example.com/`],
  // IPv4 in all its spellings.
  ['loopback', 'https://127.0.0.1/'],
  ['loopback with a port', 'https://127.0.0.1:8443/'],
  ['loopback with a trailing dot', 'https://127.0.0.1./'],
  ['loopback, decimal', 'https://2130706433/'],
  ['loopback, octal', 'https://0177.0.0.1/'],
  ['loopback, one octal number', 'https://017700000001/'],
  ['loopback, hexadecimal', 'https://0x7f000001/'],
  ['loopback, hexadecimal parts', 'https://0x7f.0x0.0x0.0x1/'],
  ['loopback, mixed parts', 'https://0x7f.0.1/'],
  ['loopback, two parts', 'https://127.1/'],
  ['loopback, three parts', 'https://127.0.1/'],
  ['loopback, full-width digits', 'https://１２７.０.０.１/'],
  ['loopback, circled digits', 'https://①②⑦.⓪.⓪.①/'],
  ['loopback, ideographic dots', 'https://127。0。0。1/'],
  ['loopback, percent-encoded', 'https://%31%32%37.0.0.1/'],
  ['loopback behind a backslash', 'https:\\\\127.0.0.1/'],
  ['loopback with a tab in it', 'https://127.0.\t0.1/'],
  ['zero', 'https://0/'],
  ['an IPv4 address with five parts', 'https://93.184.216.34.1/'],
  ['an IPv4 part beyond 255', 'https://93.184.216.256/'],
  // IPv6 in all its spellings.
  ['IPv6 loopback', 'https://[::1]/'],
  ['IPv6 loopback, written in full', 'https://[0000:0000:0000:0000:0000:0000:0000:0001]/'],
  ['the unspecified address', 'https://[::]/'],
  ['a link-local address with a zone', 'https://[fe80::1%25eth0]/'],
  ['a public address with a zone', 'https://[2606:4700::1111%25eth0]/'],
  ['loopback, mapped', 'https://[::ffff:127.0.0.1]/'],
  ['loopback, mapped in hexadecimal', 'https://[::ffff:7f00:1]/'],
  ['a public address, mapped', 'https://[::ffff:93.184.216.34]/'],
  ['loopback, compatible', 'https://[::127.0.0.1]/'],
  ['loopback, compatible in hexadecimal', 'https://[::7f00:1]/'],
  ['metadata through NAT64', 'https://[64:ff9b::169.254.169.254]/'],
  ['loopback through 6to4', 'https://[2002:7f00:1::]/'],
];

const BAD_ADDRESSES: readonly (readonly [string, string])[] = [
  ['this network', '0.0.0.0'],
  ['the last of this network', '0.255.255.255'],
  ['private, ten', '10.0.0.1'],
  ['the last of private ten', '10.255.255.255'],
  ['shared by carriers', '100.64.0.1'],
  ['the last of those shared by carriers', '100.127.255.255'],
  ["a cloud's metadata in the range of carriers", '100.100.100.200'],
  ['loopback', '127.0.0.53'],
  ['the last of loopback', '127.255.255.255'],
  ['link-local', '169.254.1.1'],
  ['cloud metadata', '169.254.169.254'],
  ['container credentials', '169.254.170.2'],
  ['private, 172', '172.16.0.1'],
  ['the last of private 172', '172.31.255.255'],
  ['protocol assignments', '192.0.0.8'],
  ['a cloud in protocol assignments', '192.0.0.192'],
  ['documentation 1', '192.0.2.1'],
  ['AS112', '192.31.196.1'],
  ['automatic multicast tunneling', '192.52.193.1'],
  ['a 6to4 relay', '192.88.99.1'],
  ['private, 192', '192.168.1.1'],
  ['AS112, direct', '192.175.48.1'],
  ['benchmarking', '198.18.0.1'],
  ['the last of benchmarking', '198.19.255.255'],
  ['documentation 2', '198.51.100.1'],
  ['documentation 3', '203.0.113.1'],
  ['multicast', '224.0.0.1'],
  ['the last of multicast', '239.255.255.255'],
  ['reserved', '240.0.0.1'],
  ['broadcast', '255.255.255.255'],
  ['the host of a cloud', '168.63.129.16'],
  ['IPv6 unspecified', '::'],
  ['IPv6 loopback', '::1'],
  ['IPv4-compatible', '::7f00:1'],
  ['IPv4-compatible, public', '::5db8:d822'],
  ['IPv4-mapped', '::ffff:10.0.0.1'],
  ['IPv4-translated', '::ffff:0:7f00:1'],
  ['NAT64', '64:ff9b::7f00:1'],
  ['NAT64, local', '64:ff9b:1::1'],
  ['discard only', '100::1'],
  ['below the global space', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['above the global space', '4000::1'],
  ['Teredo', '2001::1'],
  ['Teredo with loopback in it', '2001:0:7f00:1::1'],
  ['IPv6 benchmarking', '2001:2::1'],
  ['ORCHID', '2001:10::1'],
  ['ORCHIDv2', '2001:20::1'],
  ['the last of the protocol assignments', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['IPv6 documentation', '2001:db8::1'],
  ['6to4', '2002:7f00:1::1'],
  ['6to4 of a private address', '2002:a00:1::1'],
  ['IPv6 AS112', '2620:4f:8000::1'],
  ['the former 6bone', '3ffe::1'],
  ['the longer IPv6 documentation range', '3fff::1'],
  ['the last of the longer IPv6 documentation range', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['segment routing', '5f00::1'],
  ['unique local', 'fc00::1'],
  ['cloud metadata over IPv6', 'fd00:ec2::254'],
  ["another cloud's metadata over IPv6", 'fd20:ce::254'],
  ['IPv6 link-local', 'fe80::1'],
  ['IPv6 link-local with a zone', 'fe80::1%eth0'],
  ['a global address with a zone', '2606:4700::1111%eth0'],
  ['site-local', 'fec0::1'],
  ['IPv6 multicast', 'ff02::1'],
  ['no address', 'example.com'],
  ['nothing', ''],
  ['a short form', '127.1'],
];

const GOOD_ADDRESSES: readonly (readonly [string, string])[] = [
  ['an ordinary address', PUBLIC],
  ['the first address', '1.0.0.0'],
  ['below private ten', '9.255.255.255'],
  ['above private ten', '11.0.0.0'],
  ['below the carriers', '100.63.255.255'],
  ['above the carriers', '100.128.0.0'],
  ['below private 172', '172.15.255.255'],
  ['above private 172', '172.32.0.0'],
  ['beside the host of a cloud', '168.63.129.17'],
  ['above benchmarking', '198.20.0.0'],
  ['the last before multicast', '223.255.255.255'],
  ['IPv6', '2606:4700:4700::1111'],
  ['IPv6 after the protocol assignments', '2001:200::1'],
  ['IPv6 after documentation', '2001:db9::1'],
  ['IPv6 after 6to4', '2003::1'],
  ['IPv6 after the longer documentation', '3fff:1000::1'],
  ['IPv6, near the start of global space', '2000::1'],
];

describe('an endpoint cannot be', () => {
  test.each(BAD_URLS)('%s', async (_, url) => {
    expect(await faultOf(url)).toEqual(expect.any(String));
  });

  test.each(BAD_ADDRESSES)('a name that resolves to %s', async (_, address) => {
    expect(await faultOf('https://hooks.example.com/', [address])).toBe(
      'The host must resolve to public addresses only',
    );
  });

  test.each(BAD_ADDRESSES)('a name that has %s among good addresses', async (_, address) => {
    expect(await faultOf('https://hooks.example.com/', [PUBLIC, '2606:4700::1111', address])).toBe(
      'The host must resolve to public addresses only',
    );
    expect(await faultOf('https://hooks.example.com/', [address, PUBLIC])).toBe(
      'The host must resolve to public addresses only',
    );
  });

  test('on a port other than 443 and 8443, unless the address is exempt for tests', async () => {
    for (const host of ['hooks.example.com', PUBLIC])
      for (const port of [22, 25, 80, 6379, 8444])
        expect(await faultOf(`https://${host}:${port}/`)).toBe('The port must be one of 443, 8443');
    for (const port of ['', ':443', ':8443']) expect(await faultOf(`https://hooks.example.com${port}/`)).toBeNull();
    for (const host of ['hooks.example.com', '127.0.0.1'])
      expect(await faultOf(`https://${host}:6379/`, ['127.0.0.1'], ['127.0.0.1/32'])).toBeNull();
    expect(await faultOf('https://hooks.example.com:6379/', [PUBLIC, '127.0.0.1'], ['127.0.0.1/32'])).not.toBeNull();
    const rules = new AddressRules({ allow: [], ports: [9_443], lookup: async () => [{ address: PUBLIC }] });
    expect(await rules.faultOf('https://hooks.example.com:9443/')).toBeNull();
    expect(await rules.faultOf('https://hooks.example.com/')).toBe('The port must be one of 9443');
  });

  test('a name that does not resolve', async () => {
    expect(await faultOf('https://hooks.example.com/', [])).toBe('The host does not resolve');
    const rules = new AddressRules({ allow: [], lookup: () => Promise.reject(new Error('no such name')) });
    expect(await rules.faultOf('https://hooks.example.com/')).toBe('The host does not resolve');
  });

  test('refused with a message that repeats its URL', async () => {
    for (const [, url] of BAD_URLS) {
      const fault = await faultOf(url);
      if (url !== '') expect(fault).not.toContain(url);
      expect(fault).not.toContain('secret');
    }
  });
});

describe('an endpoint can be', () => {
  test.each(GOOD_ADDRESSES)('a public address: %s', async (_, address) => {
    expect(await faultOf(`https://${address.includes(':') ? `[${address}]` : address}/`)).toBeNull();
    expect(await faultOf('https://hooks.example.com/', [address])).toBeNull();
  });

  test.each([
    ['an ordinary name', 'https://hooks.example.com/'],
    ['any port', 'https://hooks.example.com:8443/'],
    ['a path and a query', 'https://hooks.example.com/a/b?c=d'],
    ['signs in the path and the query', 'https://hooks.example.com/@a:b//c?d=https://e@f#g'],
    ['a query without a path', 'https://hooks.example.com?a@b'],
    ['capitals', 'HTTPS://Hooks.Example.COM/'],
    ['an international name', 'https://bücher.example/'],
    ['a name with an underscore', 'https://my_hooks.example.com/'],
    ['a name that contains a special name', 'https://localhost.example.com/'],
    ['a name that only seems to end in a special name', 'https://mylocalhost.example.com.notlocal/'],
    ['a public address in hexadecimal', 'https://0x5db8d822/'],
  ])('%s', async (_, url) => {
    expect(await faultOf(url)).toBeNull();
  });
});

describe('an address that is exempt for tests', () => {
  test('is permitted, but an address beside it is not', () => {
    const guard = new AddressGuard(['127.0.0.1/32', '10.1.0.0/16', '::1', 'fd00::/8']);
    expect(['127.0.0.1', '10.1.2.3', '::1', 'fd12::1', PUBLIC].map((address) => guard.permits(address))).toEqual([
      true,
      true,
      true,
      true,
      true,
    ]);
    expect(['127.0.0.2', '10.2.0.1', '::2', 'fe80::1'].map((address) => guard.permits(address))).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });

  test('is not permitted in another spelling', () => {
    const guard = new AddressGuard(['127.0.0.0/8', '0.0.0.0/0']);
    expect(
      ['::ffff:127.0.0.1', '::7f00:1', '64:ff9b::7f00:1', '2002:7f00:1::'].map((address) => guard.permits(address)),
    ).toEqual([false, false, false, false]);
  });

  test('may have a special name, if all addresses of the name are exempt', async () => {
    expect(await faultOf('https://127.0.0.1:8443/', [], ['127.0.0.1/32'])).toBeNull();
    for (const name of ['localhost', 'receiver', 'hooks.localhost', 'receiver.internal']) {
      expect(await faultOf(`https://${name}:8443/`, ['127.0.0.1'], ['127.0.0.1/32'])).toBeNull();
      expect(await faultOf(`https://${name}:8443/`, ['127.0.0.1', '::1'], ['127.0.0.1/32', '::1/128'])).toBeNull();
      expect(await faultOf(`https://${name}:8443/`, ['127.0.0.1', '::1'], ['127.0.0.1/32'])).toBe(
        'The host must resolve to public addresses only',
      );
      expect(await faultOf(`https://${name}:8443/`, ['10.0.0.1'], ['127.0.0.1/32'])).toBe(
        'The host must resolve to public addresses only',
      );
      expect(await faultOf(`https://${name}:8443/`, ['127.0.0.1'])).toMatch(/^The host must be a public name/);
    }
    expect(await faultOf('https://receiver.:8443/', ['127.0.0.1'], ['127.0.0.1/32'])).toEqual(expect.any(String));
  });
});

describe('a name whose addresses change', () => {
  const answering = (answers: (readonly string[])[]) => async (): Promise<{ address: string }[]> =>
    (answers.shift() ?? []).map((address) => ({ address }));

  test('is judged by each answer of the resolver, and only a good answer is remembered', async () => {
    const names = new CheckedNames(
      new AddressGuard([]),
      60_000,
      answering([[PUBLIC, '10.0.0.1'], ['127.0.0.1'], [], ['2606:4700::1111', PUBLIC], ['10.0.0.1']]),
    );
    expect(await names.addressesOf('hooks.example.com')).toBe('not-public');
    expect(await names.addressesOf('hooks.example.com')).toBe('not-public');
    expect(await names.addressesOf('hooks.example.com')).toBe('not-found');
    expect(await names.addressesOf('hooks.example.com')).toEqual([PUBLIC, '2606:4700::1111']);
    // The guard returns the remembered answer. The guard does not ask the resolver again.
    expect(await names.addressesOf('hooks.example.com')).toEqual([PUBLIC, '2606:4700::1111']);
    names.failed('hooks.example.com', PUBLIC);
    expect(await names.addressesOf('hooks.example.com')).toBe('not-public');
  });

  test('has its failed addresses last, in the order of their failures', async () => {
    const [first, second, third] = [PUBLIC, '93.184.216.35', '2606:4700::1111'];
    const names = new CheckedNames(new AddressGuard([]), 60_000, async () =>
      [third, first, second].map((address) => ({ address })),
    );
    expect(await names.addressesOf('hooks.example.com')).toEqual([first, second, third]);
    names.failed('hooks.example.com', first);
    expect(await names.addressesOf('hooks.example.com')).toEqual([second, third, first]);
    names.failed('hooks.example.com', second);
    expect(await names.addressesOf('hooks.example.com')).toEqual([third, first, second]);
    names.failed('hooks.example.com', first);
    expect(await names.addressesOf('hooks.example.com')).toEqual([third, second, first]);
  });

  test('is judged again after the endpoint was registered', async () => {
    const lookup = answering([[PUBLIC], ['169.254.169.254']]);
    expect(await new AddressRules({ allow: [], lookup }).faultOf('https://hooks.example.com/')).toBeNull();
    expect(await new CheckedNames(new AddressGuard([]), 2_000, lookup).addressesOf('hooks.example.com')).toBe(
      'not-public',
    );
  });

  test('is not found while a hundred other names wait for a resolver that hangs', async () => {
    let asked = 0;
    const names = new CheckedNames(new AddressGuard([]), 0, (name) => {
      asked += 1;
      return name === 'hooks.example.com' ? Promise.resolve([{ address: PUBLIC }]) : new Promise(() => undefined);
    });
    for (let number = 0; number < 99; number += 1) void names.addressesOf(`${number}.example.com`);
    expect(await names.addressesOf('hooks.example.com')).toEqual([PUBLIC]);
    void names.addressesOf('99.example.com');
    expect(await names.addressesOf('hooks.example.com')).toBe('not-found');
    expect(asked).toBe(101);
  });

  test('is not remembered when the time to remember is zero', async () => {
    const names = new CheckedNames(new AddressGuard([]), 0, answering([[PUBLIC], []]));
    await names.addressesOf('hooks.example.com');
    expect(await names.addressesOf('hooks.example.com')).toBe('not-found');
  });
});

test('a target has the parts that are sent: origin, port, path, and host without brackets', () => {
  expect(targetOf('https://Hooks.Example.com:443/é?c=d#e')).toEqual({
    origin: 'https://hooks.example.com',
    port: 443,
    path: '/%C3%A9?c=d',
    host: 'hooks.example.com',
    literal: false,
  });
  expect(targetOf('https://[2606:4700:0::1111]:8443')).toEqual({
    origin: 'https://[2606:4700::1111]:8443',
    port: 8443,
    path: '/',
    host: '2606:4700::1111',
    literal: true,
  });
});

test('a URL that was stored before URLs were checked is requested as a URL parser reads it', () => {
  for (const url of [
    ' https://hooks.example.com/x y',
    'https:hooks.example.com/x%20y',
    'https://@hooks.example.com/x y',
    'https:\\\\hooks.example.com/x y',
  ]) {
    expect(targetOf(url)).toEqual({
      origin: 'https://hooks.example.com',
      port: 443,
      path: '/x%20y',
      host: 'hooks.example.com',
      literal: false,
    });
  }
});
