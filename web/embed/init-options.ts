import { APPEARANCE_READERS, readAppearance, readLocale } from '../contract/read-values.js';
import type { InitOptions } from '../contract/options.js';
import { nameUnknown } from './console.js';
import { type REJECTIONS, rejection } from './rejections.js';
import type { Settings } from './settings.js';

const KEY = /^pk_(?:live|test)_[A-Za-z0-9_-]{16,}$/;
const LOOPBACK = /^(?:localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** The address `…/embed/v1/service.js`, even with a hash in the name. */
const SERVED_SCRIPT = /^(.*)\/embed\/v1\/(?:[\da-f]+\/)?service\.m?js$/;

/** The service's address, from the address of its script; null if another server serves the script, or if a bundler included it. */
export function serviceOf(scriptUrl: string | undefined): string | null {
  if (scriptUrl === undefined || !URL.canParse(scriptUrl)) return null;
  const { origin, pathname } = new URL(scriptUrl);
  const prefix = SERVED_SCRIPT.exec(pathname)?.[1];
  return prefix === undefined ? null : origin + prefix;
}

/** Throws the plain error with which `init` rejects. */
export function readSettings(publishableKey: unknown, given: unknown, defaultBaseUrl: string | null): Settings {
  if (!isKey(publishableKey)) throw rejection('publishableKey');
  if (typeof given !== 'object' || given === null) throw rejection('initOptions');
  const {
    baseUrl = defaultBaseUrl,
    embeddedUrl,
    sessionToken = null,
    locale = null,
    appearance = {},
    ...unknown
  } = given as {
    readonly [Name in keyof InitOptions]?: unknown;
  };
  if (baseUrl === null) throw rejection('baseUrlUnknown');
  const service = readAddress(baseUrl, 'baseUrl');
  if (!isSessionToken(sessionToken)) throw rejection('sessionToken');
  nameUnknown(Object.keys(unknown));
  return {
    publishableKey,
    baseUrl: service,
    embeddedUrl: embeddedUrl === undefined ? `${service}/embedded` : readAddress(embeddedUrl, 'embeddedUrl'),
    sessionToken,
    ...readDress(locale, appearance),
  };
}

function isKey(value: unknown): value is string {
  return typeof value === 'string' && KEY.test(value);
}

/** Throws the plain error with which `init` rejects, and which `update` throws. */
export function readDress(locale: unknown, appearance: unknown): Pick<Settings, 'locale' | 'appearance'> {
  if (locale !== null && readLocale(locale) === undefined) throw rejection('locale');
  const read = isAppearance(appearance) ? readAppearance(appearance) : undefined;
  if (read === undefined) throw rejection('appearance');
  return { locale: locale as string | null, appearance: read };
}

function isSessionToken(value: unknown): value is Settings['sessionToken'] {
  return value === null || typeof value === 'function' || isGrant(value);
}

export const isGrant = (value: unknown): value is string => typeof value === 'string' && value !== '';

function isAppearance(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(APPEARANCE_READERS).every(([name, read]) => {
    const given = (value as Record<string, unknown>)[name];
    return given === undefined || read(given) !== undefined;
  });
}

function readAddress(value: unknown, name: keyof typeof REJECTIONS): string {
  if (typeof value !== 'string' || !URL.canParse(value)) throw rejection(name);
  const url = new URL(value);
  const isSecure = url.protocol === 'https:' || (url.protocol === 'http:' && mayBePlain(url));
  if (!isSecure || url.username || url.password || url.search || url.hash) throw rejection(name);
  return url.origin + url.pathname.replace(/\/+$/, '');
}

/** A page that was loaded over TLS may use plain HTTP only to its own machine, if the browser allows this. */
const mayBePlain = ({ hostname }: URL): boolean => location.protocol !== 'https:' || LOOPBACK.test(hostname);
