// The delivery of the browser code: addresses, headers, caches (docs/contract/platform.md#embedded-component).
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { productionHere } from '../../support/production.js';
import { type Credentials, type Reply, Service } from '../../support/service.js';

const YEAR = 'public, max-age=31536000, immutable';

describe('the embedded component', () => {
  let service: Service;
  let demo: Credentials['accounts']['demo'];
  let page: Reply;

  beforeAll(async () => {
    service = await Service.start();
    demo = (await service.credentials()).accounts.demo;
    page = await framePage(demo.publishableKey);
  });
  afterAll(() => service.stop());

  const get = (path: string, headers: Record<string, string> = {}): Promise<Reply> =>
    service.request('GET', path, { headers });
  const framePage = (key: string): Promise<Reply> => get(`/embedded/?key=${encodeURIComponent(key)}`);

  describe('the page of the frame', () => {
    it('holds only the settings that the browser needs', () => {
      expect(page.status).toBe(200);
      expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(settingsIn(page)).toEqual({
        apiUrl: service.baseUrl,
        embeddedUrl: `${service.baseUrl}/embedded`,
        allowedOrigins: demo.allowedOrigins,
        processor: {
          scriptUrl: `${service.sandboxUrl}/browser/processor.js`,
          publishableKey: 'pk_test_sandbox_processor',
        },
        fingerprintScriptUrl: `${service.sandboxUrl}/browser/fingerprint.js`,
      });
    });

    it('may be embedded only by the origins of its key, and loads and calls only its own parts', () => {
      expect(directives(page)).toEqual({
        'default-src': ["'none'"],
        'script-src': [
          "'self'",
          `${service.sandboxUrl}/browser/processor.js`,
          `${service.sandboxUrl}/browser/fingerprint.js`,
        ],
        'style-src': ["'self'", expect.stringMatching(/^'sha256-[A-Za-z0-9+/]{43}='$/)],
        'img-src': ["'self'", 'data:'],
        'font-src': ["'self'"],
        'connect-src': [service.baseUrl, service.sandboxUrl],
        'frame-src': [service.sandboxUrl],
        'object-src': ["'none'"],
        'base-uri': ["'none'"],
        'form-action': ["'none'"],
        'frame-ancestors': demo.allowedOrigins,
        'require-trusted-types-for': ["'script'"],
        'trusted-types': ['service-frame'],
      });
      expect(Object.fromEntries(page.headers)).toMatchObject({
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'cross-origin-embedder-policy': 'require-corp',
        'cross-origin-resource-policy': 'cross-origin',
        'permissions-policy': expect.stringMatching(
          /^payment=\(self "http:\/\/127\.0\.0\.1:\d+"\), accelerometer=\(\), /,
        ),
      });
    });

    it.each(['', '?key=', '?key=pk_test_unknown', '?key=a&key=b'])('answers 404 at /embedded/%s', async (query) => {
      const reply = await get(`/embedded/${query}`);
      expect([reply.status, reply.text]).toEqual([404, '<!doctype html>\n']);
      expect(directives(reply)).toMatchObject({ 'default-src': ["'none'"], 'frame-ancestors': ["'none'"] });
    });

    it('redirects from the address without the last slash, and keeps the query', async () => {
      const reply = await get(`/embedded?key=${demo.publishableKey}`);
      const location = new URL(reply.headers.get('location')!, `${service.baseUrl}/embedded`);
      expect([reply.status, location.href]).toEqual([308, `${service.baseUrl}/embedded/?key=${demo.publishableKey}`]);
    });
  });

  describe('the assets of the frame', () => {
    const files = readdirSync('dist-web/frame/assets');

    it('have the names that the page uses, are compressed as the browser accepts, and are cached for a year', async () => {
      const named = [...page.text.matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map(([, path]) => path!);
      expect(named.map((path) => path.replace(/^.*\./, '')).sort()).toEqual(['css', 'js']);
      for (const path of named) {
        for (const encoding of ['br', 'gzip', 'identity']) {
          const reply = await get(`/embedded/${path}`, { 'accept-encoding': encoding });
          expect([reply.status, reply.text]).toEqual([200, readFileSync(`dist-web/frame/${path}`, 'utf8')]);
          expect(Object.fromEntries(reply.headers)).toMatchObject({
            ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
            'cache-control': YEAR,
            vary: 'Accept-Encoding',
            'content-type': `text/${path.endsWith('.js') ? 'javascript' : 'css'}; charset=utf-8`,
            'access-control-allow-origin': '*',
            'cross-origin-resource-policy': 'cross-origin',
            'x-content-type-options': 'nosniff',
          });
          expect(reply.headers.has('content-encoding')).toBe(encoding !== 'identity');
        }
        const head = await service.request('HEAD', `/embedded/${path}`);
        expect([head.status, head.headers.get('cache-control'), head.text]).toEqual([200, YEAR, '']);
      }
    });

    it.each([
      '/embedded/assets/',
      '/embedded/assets/unknown.js',
      `/embedded/assets/${files.find((name) => name.endsWith('.br'))}`,
      '/embedded/assets/../index.html',
      '/embedded/assets/%2e%2e/index.html',
      '/embedded/assets/..%2findex.html',
      '/embedded/assets/..%5cindex.html',
      '/embedded/assets/%252e%252e/index.html',
      '/embedded/assets//etc/passwd',
      '/embedded/assets/%00',
      '/embedded/index.html',
      '/embed/v1/',
      '/embed/v1/0000000000000000/service.js',
      '/embed/v1/../.build-stamp',
      '/embed/v1/%2e%2e/.build-stamp',
      '/embed/',
    ])('are not served at other addresses: %s', async (path) => {
      // The test sends the path without `fetch`, because `fetch` would resolve the dots.
      const reply = await raw(service.baseUrl, path);
      expect(reply).toMatch(/^HTTP\/1\.1 404 /);
      expect(reply).toContain('"code":"NOT_FOUND"');
    });
  });

  describe('the host script', () => {
    it('is cached for five minutes under its plain name, together with its types and its manifest', async () => {
      for (const [name, type] of [
        ['service.js', 'text/javascript; charset=utf-8'],
        ['service.mjs', 'text/javascript; charset=utf-8'],
        ['service.d.ts', 'text/plain; charset=utf-8'],
        ['manifest.json', 'application/json; charset=utf-8'],
      ]) {
        const reply = await get(`/embed/v1/${name}`);
        expect([reply.status, reply.text]).toEqual([200, readFileSync(`dist-web/embed/${name}`, 'utf8')]);
        expect(Object.fromEntries(reply.headers)).toMatchObject({
          'cache-control': 'public, max-age=300',
          'content-type': type,
          'access-control-allow-origin': '*',
          'cross-origin-resource-policy': 'cross-origin',
        });
      }
    });

    it('never changes under the name with its version, and matches the manifest', async () => {
      const { version, files } = (await get('/embed/v1/manifest.json')).body;
      expect(Object.keys(files)).toEqual(expect.arrayContaining(['service.js', 'service.mjs']));
      for (const { path, integrity } of Object.values<{ path: string; integrity: string }>(files)) {
        expect(path.startsWith(`/embed/v1/${version}/`)).toBe(true);
        const reply = await get(path);
        expect([reply.status, reply.headers.get('cache-control')]).toEqual([200, YEAR]);
        expect(`sha384-${createHash('sha384').update(reply.text).digest('base64')}`).toBe(integrity);
      }
    });
  });
});

describe('the frame at another path', () => {
  it('is served with its assets at that path and at /embedded, so that a proxy can give the frame an origin of its own', async () => {
    const url = 'http://service.example';
    const service = await Service.start({ PUBLIC_URL: url, EMBEDDED_URL: `${url}/verify/frame/` });
    try {
      const { publishableKey } = (await service.credentials()).accounts.demo;
      for (const path of ['/embedded', '/verify/frame']) {
        const page = await service.request('GET', `${path}/?key=${publishableKey}`);
        expect([path, page.status]).toEqual([path, 200]);
        const [, script] = /src="\.\/(assets\/[^"]+)"/.exec(page.text)!;
        expect((await service.request('GET', `${path}/${script}`)).status).toBe(200);
        const redirect = await service.request('GET', path);
        expect(new URL(redirect.headers.get('location')!, url + path).pathname).toBe(`${path}/`);
      }

      // One process serves only health probes. The other process accepts requests only over TLS.
      const worker = await service.startBeside({ ROLE: 'worker' });
      const strict = await service.startBeside({ ROLE: 'api', REQUIRE_TLS: 'true' });
      for (const path of [`/embedded/?key=${publishableKey}`, '/embed/v1/service.js', '/embed/v1/manifest.json']) {
        expect((await worker.request('GET', path)).status).toBe(404);
        expect((await strict.request('GET', path)).status).toBe(403);
      }
      expect(worker.program.output).not.toContain('the embedded component is not served');
      await worker.program.end('SIGTERM');
      await strict.program.end('SIGTERM');
    } finally {
      await service.stop();
    }
  });
});

describe('in production', () => {
  let service: Service;
  beforeAll(async () => {
    service = await Service.start(await productionHere());
  });
  afterAll(() => service.stop());

  it('the frame is not served until its scripts are configured, and the start logs this once; the host script is always served', async () => {
    expect((await service.request('GET', '/embed/v1/service.js')).status).toBe(200);
    expect((await service.request('GET', '/embedded/?key=x')).body.error.code).toBe('NOT_FOUND');
    const lines = service.program.output.split('\n').filter((line) => line.includes('the embedded component'));
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({
        level: 'warn',
        msg: 'the embedded component is not served',
        reason: 'PROCESSOR_JS_URL, PROCESSOR_PUBLISHABLE_KEY and FINGERPRINT_SCRIPT_URL are not set',
      }),
    ]);
  });

  it('live keys get the configured scripts; without a sandbox, test keys get no frame', async () => {
    const before = service.program.output.length;
    const scripts = {
      PROCESSOR_JS_URL: 'https://js.stripe.com/v3/',
      PROCESSOR_PUBLISHABLE_KEY: 'pk_live_example',
      FINGERPRINT_SCRIPT_URL: 'https://device.example.com/collect.js',
    };
    const named = await service.startBeside(scripts);
    try {
      const { accountId } = await ops(service, 'accounts', 'create', '--name', 'Example', '--live', 'yes');
      const consent = ['--reason', 'a test', '--yes'];
      const origins = ['--origins', 'https://app.example.com'];
      const issue = ['keys', 'issue', accountId, '--kind', 'publishable', ...origins, ...consent];
      const live = await ops(service, ...issue, '--environment', 'live');
      const test = await ops(service, ...issue, '--environment', 'test');
      const page = await named.request('GET', `/embedded/?key=${live.key}`);
      expect(settingsIn(page)).toEqual({
        apiUrl: 'https://api.example.com',
        embeddedUrl: 'https://api.example.com/embedded',
        allowedOrigins: ['https://app.example.com'],
        processor: { scriptUrl: 'https://js.stripe.com/v3/', publishableKey: 'pk_live_example' },
        fingerprintScriptUrl: 'https://device.example.com/collect.js',
      });
      expect(directives(page)).toMatchObject({
        'connect-src': ['https://api.example.com', 'https://api.stripe.com'],
        'frame-ancestors': ['https://app.example.com'],
      });
      expect((await named.request('GET', `/embedded/?key=${test.key}`)).status).toBe(404);

      // The service serves no frame to a deactivated key. A process that has just accepted the key would still remember
      // it.
      await ops(service, 'keys', 'deactivate', live.keyId, ...consent);
      const fresh = await service.startBeside(scripts);
      expect((await fresh.request('GET', `/embedded/?key=${live.key}`)).status).toBe(404);
      await fresh.program.end('SIGTERM');
    } finally {
      await named.program.end('SIGTERM');
    }
    expect(service.program.output.slice(before)).not.toContain('the embedded component');
    expect(named.program.output).not.toContain('the embedded component');
  });
});

async function ops(service: Service, ...args: string[]): Promise<any> {
  const { exitCode, stdout } = await service.ops(...args);
  expect([exitCode, stdout]).toEqual([0, expect.anything()]);
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
}

function settingsIn({ text }: Reply): unknown {
  const content = /<meta name="service-settings" content="([^"]*)" \/>/.exec(text)?.[1] ?? '';
  return JSON.parse(
    content.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&lt;', '<').replaceAll('&amp;', '&'),
  );
}

function directives({ headers }: Reply): Record<string, string[]> {
  const policy = headers.get('content-security-policy') ?? '';
  return Object.fromEntries(
    policy.split('; ').map((directive) => {
      const [name, ...sources] = directive.split(' ');
      return [name, sources];
    }),
  );
}

/** The whole answer to a path that the test sends unchanged. */
function raw(baseUrl: string, path: string): Promise<string> {
  const { hostname, port } = new URL(baseUrl);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () =>
      socket.write(`GET ${path} HTTP/1.1\r\nhost: ${hostname}:${port}\r\nconnection: close\r\n\r\n`),
    );
    let answer = '';
    socket.setEncoding('utf8').on('data', (text: string) => (answer += text));
    socket.on('end', () => resolve(answer)).on('error', reject);
  });
}
