// The page of the frame and its security policy, without the service around it (docs/contract/platform.md#embedded-component).
import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { fastify } from 'fastify';
import { newId } from '../../../src/kernel/ids.js';
import { reportPage } from '../../../src/modules/reports/http/platform/report-page/page.js';
import { AccessKeys, type PublishableKey } from '../../../src/published/access-keys.js';
import {
  type BrowserScripts,
  contentSecurityPolicy,
  embeddableBy,
  permissionsPolicy,
} from '../../../src/surfaces/embedded/content-security-policy.js';
import { type FrameOptions, serveFramePage } from '../../../src/surfaces/embedded/frame-page.js';
import type { FrameSettings } from '../../../web/contract/frame-settings.js';
import { REPORT, REQUEST, SCORE } from '../reports/harness.js';

const scripts = (processor: string, fingerprint = 'https://device.example.com/collect.js'): BrowserScripts => ({
  processor: { scriptUrl: processor, publishableKey: 'pk_example' },
  fingerprintScriptUrl: fingerprint,
});
const SCRIPTS = scripts('https://pay.example.com/v1/pay.js');
const API = 'https://api.example.com';

function directive(name: string, of: BrowserScripts, api = API, origins: readonly string[] = []): string {
  const found = contentSecurityPolicy(of, api, origins)
    .split('; ')
    .find((one) => one.startsWith(`${name} `));
  return (found ?? '').slice(name.length + 1);
}

describe('the policy of the frame', () => {
  it("allows exactly the two scripts, and allows requests and frames of the processor's origin", () => {
    expect(directive('script-src', SCRIPTS)).toBe(
      "'self' https://pay.example.com/v1/pay.js https://device.example.com/collect.js",
    );
    expect(directive('connect-src', SCRIPTS)).toBe('https://api.example.com https://pay.example.com');
    expect(directive('frame-src', SCRIPTS)).toBe('https://pay.example.com');
    const [payment, ...others] = permissionsPolicy(SCRIPTS).split(', ');
    expect(payment).toBe('payment=(self "https://pay.example.com")');
    expect(others).toEqual(expect.arrayContaining(['camera=()', 'clipboard-read=()', 'fullscreen=()', 'usb=()']));
    expect(others.filter((one) => !/^[a-z-]+=\(\)$/.test(one))).toEqual([]);
  });

  it("has the origins that Stripe's documentation requires for its library", () => {
    const stripe = scripts('https://js.stripe.com/v3/');
    expect(directive('script-src', stripe)).toBe(
      "'self' https://js.stripe.com https://*.js.stripe.com https://device.example.com/collect.js",
    );
    expect(directive('connect-src', stripe)).toBe('https://api.example.com https://api.stripe.com');
    expect(directive('frame-src', stripe)).toBe(
      'https://js.stripe.com https://*.js.stripe.com https://hooks.stripe.com',
    );
    expect(directive('script-src', scripts('https://js.stripe.com.example.com/v3/'))).toContain(
      ' https://js.stripe.com.example.com/v3/ ',
    );
  });

  it('allows calls to an API whose address has a path', () => {
    expect(directive('connect-src', SCRIPTS, 'https://example.com/api')).toBe(
      'https://example.com https://pay.example.com',
    );
  });

  it('prevents an address from ending a directive', () => {
    const odd = scripts('https://pay.example.com/a;b,c', 'https://device.example.com/;script-src%20*');
    expect(directive('script-src', odd)).toBe(
      "'self' https://pay.example.com/a%3Bb%2Cc https://device.example.com/%3Bscript-src%20*",
    );
  });

  it('allows the style of the report page', () => {
    const opened = {
      id: newId(),
      sessionId: newId(),
      score: SCORE,
      report: REPORT,
      generatedAt: '2026-03-01T12:00:00.000Z',
      expiresAt: '2026-03-31T12:00:00.000Z',
    };
    const page = reportPage(opened, REQUEST);
    const styles = [...page.matchAll(/<style>([^]*?)<\/style>/g)].map(
      ([, style]) => `'sha256-${createHash('sha256').update(style!).digest('base64')}'`,
    );
    expect(directive('style-src', SCRIPTS)).toBe(["'self'", ...styles].join(' '));
    expect(styles).toHaveLength(1);
    // A style attribute has no hash that the policy could name.
    expect(page).not.toMatch(/\sstyle=/);
  });

  it('lets no page embed the frame when the key has no origins', () => {
    expect(directive('frame-ancestors', SCRIPTS, API, ['https://a.example'])).toBe('https://a.example');
    expect(directive('frame-ancestors', SCRIPTS, API, [])).toBe("'none'");
  });

  it('accepts only origins that a header can hold unchanged', () => {
    const good = [
      'https://app.example.com',
      'http://localhost:5173',
      'https://xn--bcher-kva.example:8443',
      'http://10.0.0.7',
    ];
    const bad = [
      'https://a.example;script-src',
      "https://a.example,'unsafe-inline'",
      'https://*.example.com',
      'https://*',
      'https://a.example/',
      'https://a.example *',
      'https://a.example\r\nset-cookie:a=b',
      'https://a.example:',
      'https://a.example:123456',
      'https://',
      'https:',
      '*',
      "'self'",
      'null',
      '',
      'data:text/html',
      // A policy cannot name this origin.
      'https://[2001:db8::1]',
    ];
    expect(embeddableBy({ environment: 'test', allowedOrigins: [...good, ...bad] })).toEqual(good);
  });

  it('lets pages without TLS embed the frame for test keys only, like the token exchange', () => {
    const allowedOrigins = ['https://app.example.com', 'http://app.example.com', 'http://localhost:5173'];
    expect(embeddableBy({ environment: 'live', allowedOrigins })).toEqual(['https://app.example.com']);
    expect(embeddableBy({ environment: 'test', allowedOrigins })).toEqual(allowedOrigins);
  });
});

class OneKey extends AccessKeys {
  override isRevoked(): Promise<boolean> {
    return Promise.resolve(false);
  }

  constructor(private readonly key: Partial<PublishableKey>) {
    super();
  }

  override publishable(): Promise<PublishableKey> {
    return Promise.resolve({
      keyId: newId(),
      accountId: newId(),
      environment: 'live',
      active: true,
      allowedOrigins: ['https://app.example.com'],
      exchangesPerMinute: null,
      ...this.key,
    });
  }

  override authenticate(): never {
    throw new Error('Not asked');
  }
}

async function page(key: Partial<PublishableKey>, options: Partial<FrameOptions> = {}, query = '') {
  const path = '/embedded';
  const server = fastify();
  serveFramePage(server, path, new OneKey(key), {
    apiUrl: API,
    pdfUrl: null,
    embeddedUrl: `${API}/embedded`,
    scripts: { live: SCRIPTS, test: null },
    html: '<meta content="%SERVICE_SETTINGS%"><p>the rest</p>',
    ...options,
  });
  return server.inject(`${path}/?key=pk_live_example${query}`);
}

describe('the page of the frame', () => {
  it('is served for active keys of an environment that has scripts', async () => {
    expect((await page({})).statusCode).toBe(200);
    for (const key of [{ active: false }, { environment: 'test' as const }]) {
      const { statusCode, body, headers } = await page(key);
      expect([statusCode, body]).toEqual([404, '<!doctype html>\n']);
      expect(headers['content-security-policy']).toBe(
        "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      );
    }
  });

  it('has the scripts of the environment of its key', async () => {
    const test = scripts('https://sandbox.example.com/pay.js');
    for (const [environment, mine] of [
      ['live', SCRIPTS],
      ['test', test],
    ] as const) {
      const { body, headers } = await page({ environment }, { scripts: { live: SCRIPTS, test } });
      expect(settingsIn(body)).toMatchObject(mine);
      expect(headers['content-security-policy']).toContain(` ${mine.processor.scriptUrl} `);
    }
  });

  it("is isolated when the page asks for isolation, and always with the sandbox's processor", async () => {
    const policyOf = async (processorKey: string, query: string): Promise<unknown> => {
      const live = { ...SCRIPTS, processor: { ...SCRIPTS.processor, publishableKey: processorKey } };
      return (await page({}, { scripts: { live, test: null } }, query)).headers['cross-origin-embedder-policy'];
    };
    expect(await policyOf('pk_live_example', '')).toBeUndefined();
    expect(await policyOf('pk_live_example', '&isolated')).toBe('require-corp');
    expect(await policyOf('pk_test_sandbox_processor', '')).toBe('require-corp');
  });

  it('may fetch PDFs from their own host when one is configured', async () => {
    const sources = async (pdfUrl: string | null): Promise<unknown> =>
      /connect-src ([^;]*)/.exec(String((await page({}, { pdfUrl })).headers['content-security-policy']))?.[1];
    expect([await sources(null), await sources('https://pdf.example.com')]).toEqual([
      `${API} https://pay.example.com`,
      `${API} https://pdf.example.com https://pay.example.com`,
    ]);
  });

  it('writes its settings into an attribute that no value can end', async () => {
    const publishableKey = `"><script>alert('1')</script>&quot;&$&$\`$1`;
    const nasty = { ...SCRIPTS, processor: { ...SCRIPTS.processor, publishableKey } };
    const { body } = await page({}, { scripts: { live: nasty, test: null } });
    expect(body.match(/<|>/g)).toHaveLength(6);
    expect(settingsIn(body)).toEqual({
      apiUrl: API,
      embeddedUrl: `${API}/embedded`,
      allowedOrigins: ['https://app.example.com'],
      ...nasty,
    } satisfies FrameSettings);
  });

  it('omits an origin with extra text from the header and the settings', async () => {
    const { body, headers } = await page({ allowedOrigins: ['https://a.example;script-src *', 'https://b.example'] });
    expect(headers['content-security-policy']).toContain('frame-ancestors https://b.example;');
    expect(settingsIn(body)).toMatchObject({ allowedOrigins: ['https://b.example'] });
  });

  it('redirects to a relative path, so that a proxy may add a path of its own', async () => {
    const server = fastify();
    serveFramePage(server, '/deep/frame', new OneKey({}), {
      apiUrl: API,
      pdfUrl: null,
      embeddedUrl: `${API}/deep/frame`,
      scripts: { live: null, test: null },
      html: '',
    });
    for (const [url, location] of [
      ['/deep/frame?key=a%20b', 'frame/?key=a%20b'],
      ['/deep/frame', 'frame/'],
      ['/deep/frame?//evil.example', 'frame/?//evil.example'],
    ] as const)
      expect((await server.inject(url)).headers).toMatchObject({ location });
  });
});

/** Reads the attribute as a browser does. */
function settingsIn(body: string): unknown {
  const entities: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&amp;': '&' };
  const content = /<meta content="([^"]*)">/.exec(body)?.[1] ?? '';
  return JSON.parse(content.replace(/&(?:lt|gt|quot|#39|amp);/g, (entity) => entities[entity]!));
}
