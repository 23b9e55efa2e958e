// Reads the environment variables one by one. Faults are collected, so that one message names every wrong variable.
import { urlIn } from '../kernel/url.js';

const HIGHEST_PORT = 65_535;
const MIN_SECRET_LENGTH = 8;
const MIN_SECRET_CHARACTERS = 4;
/** A name, an IPv4 address, or an IPv6 address in brackets. */
const HOST = /^(?:[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?|\[[0-9a-f:.]+\])$/;

/** Thrown with one message that names every wrong variable. */
export class InvalidConfig extends Error {
  override readonly name = 'InvalidConfig';
}

/** Each reader records the fault of its variable and returns a usable value. Values derived from it then cause no further faults. */
export class Variables {
  readonly production: boolean;
  /** Names of limits that differ from their defaults. */
  readonly overrides: string[] = [];
  /** Names of limits against abuse that are switched off. */
  readonly switchedOff: string[] = [];
  private readonly faults = new Map<string, string>();
  /** The names of all variables that were read. */
  private readonly known = new Set<string>();
  /** The limits against abuse are off, except those with a variable of their own. Used by tests of other subjects. */
  private readonly limitsOff: boolean;

  /** Exact names of hosts in a private network. */
  private readonly plaintextHosts: readonly string[];

  constructor(private readonly env: NodeJS.ProcessEnv) {
    this.production = this.oneOf('NODE_ENV', ['production', 'development', 'test'], 'development') === 'production';
    this.limitsOff = this.oneOf('LIMITS', ['on', 'off'], 'on') === 'off';
    if (this.production && this.limitsOff) this.fault('LIMITS', 'is for tests and must not be off in production');
    this.plaintextHosts = this.list('PLAINTEXT_HOSTS').map((host) => host.toLowerCase());
    if (!this.plaintextHosts.every((host) => HOST.test(host)))
      this.fault('PLAINTEXT_HOSTS', 'must be a comma list of exact host names, without ports and wildcards');
  }

  /** Throws InvalidConfig if any variable was wrong. */
  check(): void {
    if (this.faults.size === 0) return;
    const faults = [...this.faults].map((fault) => fault.join(' ')).join('; ');
    throw new InvalidConfig(`Configuration is not valid: ${faults}.`);
  }

  /** Records a fault for each variable with the prefix that no part of the configuration has read. */
  refuseOthers(prefix: string): void {
    for (const name of Object.keys(this.env))
      if (name.startsWith(prefix) && !this.known.has(name) && this.text(name) !== null)
        this.fault(name, 'must not be set, because no vendor has this setting');
  }

  /** Records only the first fault of a variable. `rule` never quotes the value, which may be a secret. */
  fault(name: string, rule: string): void {
    if (!this.faults.has(name)) this.faults.set(name, rule);
  }

  /** An empty variable counts as absent. */
  text(name: string): string | null {
    this.known.add(name);
    const value = this.env[name]?.trim();
    return value === undefined || value === '' ? null : value;
  }

  list(name: string): string[] {
    return listIn(this.text(name));
  }

  oneOf<Value extends string>(name: string, values: readonly Value[], fallback: Value): Value {
    const value = this.text(name) ?? fallback;
    if (!(values as readonly string[]).includes(value)) this.fault(name, `must be one of ${values.join(', ')}`);
    return value as Value;
  }

  flag(name: string, fallback: boolean): boolean {
    const value = this.text(name);
    if (value === null) return fallback;
    if (value !== 'true' && value !== 'false') this.fault(name, 'must be true or false');
    return value === 'true';
  }

  number(name: string, fallback: number, { min = 0, max = Number.MAX_SAFE_INTEGER, whole = true } = {}): number {
    const value = this.text(name);
    if (value === null) return fallback;
    const parsed = Number(value);
    if (Number.isFinite(parsed) && parsed >= min && parsed <= max && (!whole || Number.isInteger(parsed)))
      return parsed;
    this.fault(name, `must be a${whole ? ' whole' : ''} number from ${min} to ${max}`);
    return fallback;
  }

  port(name: string, fallback: number, min = 0): number {
    return this.number(name, fallback, { min, max: HIGHEST_PORT });
  }

  optionalPort(name: string): number | null {
    return this.text(name) === null ? null : this.port(name, 0);
  }

  /** The port after another port. The highest port has no successor. */
  portAfter(name: string, port: number, min: number): number {
    return this.port(name, Math.min(port + 1, HIGHEST_PORT), min);
  }

  /** A number whose default is a promise of docs/contract. A production start logs any other value. */
  limit(name: string, fallback: number, options: { min?: number; max?: number; whole?: boolean } = {}): number {
    const value = this.number(name, fallback, { whole: false, ...options });
    if (value !== fallback) this.overrides.push(name);
    return value;
  }

  /** A limit against abuse. The value 0 switches the limit off. */
  rate(name: string, fallback: number, options: { max?: number; whole?: boolean } = {}): number {
    const value = this.limit(name, this.limitsOff ? 0 : fallback, { whole: true, ...options });
    if (value === 0) this.switchedOff.push(name);
    return value;
  }

  url(name: string, fallback: string | null): string | null {
    const value = this.text(name) ?? fallback;
    if (value === null) return null;
    if (!/^https?:$/.test(urlIn(value)?.protocol ?? '')) {
      this.fault(name, 'must be an http or https URL');
      return fallback;
    }
    return value.replace(/\/+$/, '');
  }

  /** A URL over which secrets and personal data are sent. `local`: plain HTTP may be used to a program on this machine, which forwards the data. */
  secureUrl(name: string, fallback: string | null, { local = false } = {}): string | null {
    const value = this.url(name, fallback);
    if (value === null || this.text(name) === null) return value;
    const { username, password, search, hash, protocol, hostname } = new URL(value);
    if (!local && `${username}${password}${search}${hash}` !== '')
      this.fault(name, 'must be an address without user, query and fragment');
    if (this.production && protocol !== 'https:' && !(local && isLoopback(hostname)))
      this.fault(name, 'must be an https URL in production');
    return value;
  }

  /** The address of a store or of the sandbox. In production, plain HTTP is allowed only to this machine or to a host in PLAINTEXT_HOSTS. */
  storeUrl(name: string): string | null {
    const value = this.url(name, null);
    if (value !== null && new URL(value).protocol === 'http:') this.refusePlaintext(name, new URL(value).hostname);
    return value;
  }

  /** Records a fault when unencrypted data for the host would leave this machine for a network that is not private. */
  refusePlaintext(name: string, hostname: string): void {
    if (!this.production || isLoopback(hostname) || this.plaintextHosts.includes(hostname.toLowerCase())) return;
    this.fault(name, 'must use TLS in production, unless PLAINTEXT_HOSTS names its host');
  }

  /** In production, a secret that can be guessed is a fault. */
  refuseWeak(name: string, secret: string): void {
    if (this.production && (secret.length < MIN_SECRET_LENGTH || new Set(secret).size < MIN_SECRET_CHARACTERS))
      this.fault(name, `must have at least ${MIN_SECRET_LENGTH} characters, of several kinds, in production`);
  }

  /** A value that has no default in production. */
  inProduction(name: string, value: string | null): string | null {
    if (this.production && value === null) this.fault(name, 'must be set in production');
    return value;
  }
}

/** The parts of a list separated by commas. */
export function listIn(value: string | null): string[] {
  return (value ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** `hostname`: as in a URL, or as a host on which to listen. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || /^127\.\d+\.\d+\.\d+$/.test(hostname) || /^\[?::1\]?$/.test(hostname);
}
