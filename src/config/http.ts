import { existsSync } from 'node:fs';
import { isAddressOrCidr, shareOf } from './addresses.js';
import type { Variables } from './variables.js';

/** The ports and addresses on which the service listens, and its public addresses. This class is also the injection token. */
export abstract class HttpSettings {
  abstract readonly port: number;
  abstract readonly host: string;
  abstract readonly tls: { readonly certPath: string; readonly keyPath: string } | null;
  abstract readonly requireTls: boolean;
  /** The operator's reason for plain HTTP in production; null if production accepts only https. */
  abstract readonly plainHttpReason: string | null;
  abstract readonly trustedProxies: readonly string[];
  /** The addresses from which webhooks come, as the operator states them. Receivers read them; they change no connection. */
  abstract readonly egressIps: readonly string[];
  /** The public address of the service, without a trailing slash. */
  abstract readonly publicUrl: string;
  /** Whether PUBLIC_URL is configured. Without PUBLIC_URL, events have no report_url. */
  abstract readonly publicUrlConfigured: boolean;
  abstract readonly embeddedUrl: string;
  /** The only origin that serves PDFs. With null, the API's origin serves them. */
  abstract readonly pdfUrl: string | null;
  /** Whether `/docs` and `/openapi.json` describe the API to every caller. */
  abstract readonly servesDocs: boolean;
  /** The address to which error replies link, without a trailing slash; null if they link nowhere. */
  abstract readonly docsUrl: string | null;
  /** The port of the demo page that `npm start` serves outside production. The demo keys allow this origin. */
  abstract readonly demoPort: number;
  /** With null, `/metrics` is on the main port, and only loopback callers may read it. */
  abstract readonly metricsPort: number | null;
  abstract readonly metricsHost: string;
  /** The port for this process's own health and metrics, when several processes share the main port. A role without an API then has no other port. */
  abstract readonly probePort: number | null;
  /** With null, webhooks from vendors arrive on the main port, and only loopback callers may send them. */
  abstract readonly internalPort: number | null;
  abstract readonly internalHost: string;
}

/** The largest fraction of all addresses that may be trusted proxies: sixteen of the largest blocks with a single owner. */
const MAX_TRUSTED_SHARE = 16 * 2 ** -8;

export function readHttp(env: Variables, lowestPort: number): HttpSettings {
  const port = env.port('PORT', 3000, lowestPort);
  const publicUrl = env.inProduction('PUBLIC_URL', env.secureUrl('PUBLIC_URL', null));
  const base = publicUrl ?? `http://localhost:${port}`;
  const embeddedUrl = readEmbeddedUrl(env, base);
  const requireTls = env.flag('REQUIRE_TLS', env.production);
  const plainHttpReason = env.production && !requireTls ? env.text('ACCEPT_PLAIN_HTTP') : null;
  if (env.production && !requireTls && plainHttpReason === null)
    env.fault('REQUIRE_TLS', 'must be true in production, unless ACCEPT_PLAIN_HTTP gives the reason for plain HTTP');
  const servesDocs = env.flag('SERVE_DOCS', !env.production);
  return {
    port,
    host: env.text('HOST') ?? (env.production ? '0.0.0.0' : '127.0.0.1'),
    tls: readTls(env),
    requireTls,
    plainHttpReason,
    trustedProxies: readTrustedProxies(env),
    egressIps: readEgressIps(env),
    publicUrl: base,
    publicUrlConfigured: publicUrl !== null,
    embeddedUrl,
    pdfUrl: readPdfUrl(env, [base, embeddedUrl]),
    servesDocs,
    docsUrl: env.secureUrl('DOCS_URL', servesDocs ? `${base}/docs` : null),
    demoPort: env.port('DEMO_PORT', 5173, lowestPort),
    metricsPort: env.optionalPort('METRICS_PORT'),
    metricsHost: env.text('METRICS_HOST') ?? '127.0.0.1',
    probePort: env.optionalPort('PROBE_PORT'),
    internalPort: env.optionalPort('INTERNAL_PORT'),
    internalHost: env.text('INTERNAL_HOST') ?? '127.0.0.1',
  };
}

/** The frame must have a path of its own, because the root path of the API's origin is already used. */
function readEmbeddedUrl(env: Variables, base: string): string {
  const value = env.secureUrl('EMBEDDED_URL', `${base}/embedded`) ?? '';
  const url = new URL(value);
  if (env.text('EMBEDDED_URL') !== null && url.pathname === '/' && url.origin === new URL(base).origin)
    env.fault('EMBEDDED_URL', 'must have a path when it is on the origin of PUBLIC_URL');
  return value;
}

/** A document on that origin must not reach the other origins on any of their ports. */
function readPdfUrl(env: Variables, others: readonly string[]): string | null {
  const value = env.secureUrl('PDF_PUBLIC_URL', null);
  if (value === null) return null;
  const { pathname, origin } = new URL(value);
  const [own, ...taken] = [value, ...others].map((url) => new URL(url).hostname.replace(/\.$/, ''));
  if (pathname !== '/') env.fault('PDF_PUBLIC_URL', 'must be an origin, without a path');
  if (taken.includes(own ?? ''))
    env.fault('PDF_PUBLIC_URL', 'must have a host of its own, other than that of PUBLIC_URL and EMBEDDED_URL');
  return origin;
}

function readTls(env: Variables): HttpSettings['tls'] {
  const certPath = env.text('TLS_CERT');
  const keyPath = env.text('TLS_KEY');
  if ((certPath === null) !== (keyPath === null))
    env.fault(
      certPath === null ? 'TLS_CERT' : 'TLS_KEY',
      'must be set together with the other of TLS_CERT and TLS_KEY',
    );
  for (const [name, path] of [
    ['TLS_CERT', certPath],
    ['TLS_KEY', keyPath],
  ] as const) {
    if (path !== null && !existsSync(path)) env.fault(name, 'must name a file that exists');
  }
  return certPath !== null && keyPath !== null ? { certPath, keyPath } : null;
}

function readEgressIps(env: Variables): readonly string[] {
  const addresses = [...new Set(env.list('EGRESS_IPS'))];
  if (!addresses.every(isAddressOrCidr))
    env.fault('EGRESS_IPS', 'must be a comma list of IP addresses and CIDR ranges');
  return addresses;
}

function readTrustedProxies(env: Variables): readonly string[] {
  const proxies = env.list('TRUSTED_PROXIES');
  if (!proxies.every(isAddressOrCidr))
    env.fault('TRUSTED_PROXIES', 'must be a comma list of IP addresses and CIDR ranges');
  else if (env.production && [4, 6].some((family) => shareOf(proxies, family) > MAX_TRUSTED_SHARE))
    env.fault('TRUSTED_PROXIES', 'must name only the proxies in front of the service');
  return proxies;
}
