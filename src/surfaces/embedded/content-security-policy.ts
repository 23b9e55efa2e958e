// The Content-Security-Policy of the frame's page: the sources that it may load and call, and the pages that may embed it.
import { createHash } from 'node:crypto';
import { isEmbeddable } from '../../kernel/embeddable-origin.js';
import type { PublishableKey } from '../../published/access-keys.js';
import { REPORT_STYLE } from '../platform/report-style.js';

/** Third-party scripts that the frame loads. */
export interface BrowserScripts {
  readonly processor: { readonly scriptUrl: string; readonly publishableKey: string };
  readonly fingerprintScriptUrl: string;
}

interface Sources {
  readonly script: readonly string[];
  readonly connect: readonly string[];
  readonly frame: readonly string[];
}

/** https://docs.stripe.com/security/guide#content-security-policy */
const STRIPE: Sources = {
  script: ['https://js.stripe.com', 'https://*.js.stripe.com'],
  connect: ['https://api.stripe.com'],
  frame: ['https://js.stripe.com', 'https://*.js.stripe.com', 'https://hooks.stripe.com'],
};

const REPORT_STYLE_HASH = `'sha256-${createHash('sha256').update(REPORT_STYLE).digest('base64')}'`;

/** The policy of an empty page that no other page may embed. */
export const NOTHING = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export function contentSecurityPolicy(
  scripts: BrowserScripts,
  apiUrl: string,
  allowedOrigins: readonly string[],
  pdfUrl: string | null = null,
): string {
  const processor = sourcesOf(scripts.processor.scriptUrl);
  return [
    ['default-src', "'none'"],
    ['script-src', "'self'", ...processor.script, source(scripts.fingerprintScriptUrl)],
    ['style-src', "'self'", REPORT_STYLE_HASH],
    ['img-src', "'self'", 'data:'],
    ['font-src', "'self'"],
    ['connect-src', originOf(apiUrl), ...(pdfUrl === null ? [] : [pdfUrl]), ...processor.connect],
    ['frame-src', ...processor.frame],
    ['object-src', "'none'"],
    ['base-uri', "'none'"],
    ['form-action', "'none'"],
    ['frame-ancestors', ...(allowedOrigins.length > 0 ? allowedOrigins : ["'none'"])],
    ['require-trusted-types-for', "'script'"],
    ['trusted-types', 'service-frame'],
  ]
    .map((directive) => directive.join(' '))
    .join('; ');
}

/**
 * Lists all features by name, because the header has no other way to deny them. A browser logs a complaint about unknown names. `storage-access` is
 * missing on purpose: the processor's frames may need their own cookies.
 */
const DENIED = [
  'accelerometer',
  'autoplay',
  'camera',
  'clipboard-read',
  'clipboard-write',
  'display-capture',
  'encrypted-media',
  'fullscreen',
  'gamepad',
  'geolocation',
  'gyroscope',
  'hid',
  'idle-detection',
  'local-fonts',
  'magnetometer',
  'microphone',
  'midi',
  'picture-in-picture',
  'publickey-credentials-create',
  'publickey-credentials-get',
  'screen-wake-lock',
  'serial',
  'usb',
  'xr-spatial-tracking',
];

/** Allows payment for the processor's frames and denies every other feature. */
export function permissionsPolicy({ processor }: BrowserScripts): string {
  return [`payment=(self "${originOf(processor.scriptUrl)}")`, ...DENIED.map((name) => `${name}=()`)].join(', ');
}

/** Only origins that a header can contain; for a live key only https. Keys of earlier versions may have other origins. */
export function embeddableBy({
  environment,
  allowedOrigins,
}: Pick<PublishableKey, 'environment' | 'allowedOrigins'>): string[] {
  const secure = allowedOrigins.filter((origin) => environment === 'test' || origin.startsWith('https:'));
  return secure.filter(isEmbeddable);
}

function sourcesOf(scriptUrl: string): Sources {
  const origin = originOf(scriptUrl);
  if (origin === STRIPE.script[0]) return STRIPE;
  return { script: [source(scriptUrl)], connect: [origin], frame: [origin] };
}

function originOf(url: string): string {
  return new URL(url).origin;
}

/** One address. Characters that would end the source in a policy are escaped. */
function source(url: string): string {
  return url.replaceAll(';', '%3B').replaceAll(',', '%2C');
}
