// The rules for the targets of webhooks: for the text of a URL and for the addresses of its host.
import { BlockList, isIP } from 'node:net';
import { GLOBAL_IPV6, INTERNAL_NAMES, SPECIAL_IPV4, SPECIAL_IPV6 } from './special-ranges.js';
import { urlIn } from '../../kernel/url.js';

/** A URL whose text passed the rules. */
export interface Target {
  readonly origin: string;
  readonly port: number;
  /** Path and query, as they are sent. */
  readonly path: string;
  /** A host name in lower case, or an address without brackets. */
  readonly host: string;
  /** The host is an address itself, so no name is looked up. */
  readonly literal: boolean;
}

const MAX_NAME_CHARACTERS = 253;

/** `https://` and the part before a path, a query or a fragment. */
const AUTHORITY = /^https:\/\/([^/?#]*)/i;
const UNSEEN = /[\s\p{Cc}\\]/u;

/** The reason why a person could mistake the host of the URL for another; null if the URL is clear. Checked only when a URL is set. */
export function faultOfText(url: string): string | null {
  if (UNSEEN.test(url)) return 'The URL must not hold white space, control characters or backslashes';
  const authority = AUTHORITY.exec(url)?.[1];
  if (authority === undefined) return 'The URL must begin with https://';
  if (authority === '') return 'The URL must name a host';
  return authority.includes('@') ? 'The URL must not carry credentials' : null;
}

/**
 * The target, or a sentence that explains why the URL is refused and never quotes it. Only the URL parser reads the text, here and to connect. The
 * parser turns every spelling of an address (decimal, octal, hexadecimal, short, full-width, percent-encoded) into one, which is checked.
 * `internalNames`: a name that is not public is accepted, and its addresses are checked.
 */
export function targetOf(url: string, internalNames = false): Target | string {
  const target = urlIn(url);
  if (target === null) return 'The URL cannot be read';
  const { protocol, username, password, hostname, origin, port, pathname, search } = target;
  if (protocol !== 'https:') return 'The URL must begin with https://';
  if (username !== '' || password !== '') return 'The URL must not carry credentials';
  if (port === '0') return 'The URL must not name port 0';
  const rest = { origin, port: Number(port === '' ? 443 : port), path: pathname + search };
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  if (isIP(host) !== 0) return { ...rest, host, literal: true };
  return faultOfName(host, internalNames) ?? { ...rest, host, literal: false };
}

function faultOfName(name: string, internalNames: boolean): string | null {
  if (name.length > MAX_NAME_CHARACTERS || name.endsWith('.') || name.split('.').includes(''))
    return 'The host must be a full name without a dot at its ends';
  if (internalNames) return null;
  if (!name.includes('.')) return 'The host must be a public name, with a domain';
  return INTERNAL_NAMES.some((internal) => name === internal || name.endsWith(`.${internal}`))
    ? 'The host must be a public name'
    : null;
}

/** Checks single addresses. `allow` (addresses and CIDR ranges, for tests) exempts only addresses of its own family. */
export class AddressGuard {
  /** Whether `allow` exempts any address, so that names that are not public may resolve to it. Never in production. */
  readonly exempts: boolean;
  private readonly specialIpv4 = listOf(SPECIAL_IPV4);
  private readonly globalIpv6 = listOf([GLOBAL_IPV6]);
  private readonly specialIpv6 = listOf(SPECIAL_IPV6);
  private readonly exemptIpv4: BlockList | null;
  private readonly exemptIpv6: BlockList | null;

  constructor(allow: readonly string[]) {
    this.exempts = allow.length > 0;
    const ofFamily = (family: number): readonly string[] =>
      allow.filter((range) => isIP(range.split('/', 1)[0] ?? '') === family);
    this.exemptIpv4 = listOrNull(ofFamily(4));
    this.exemptIpv6 = listOrNull(ofFamily(6));
  }

  /** Whether `allow` contains the address. */
  exempt(address: string): boolean {
    return (isIP(address) === 6 ? this.exemptIpv6?.check(address, 'ipv6') : this.exemptIpv4?.check(address)) ?? false;
  }

  /** Whether a connection to the address is permitted. A connection is never permitted for a text that is not an address or has a zone. */
  permits(address: string): boolean {
    switch (address.includes('%') ? 0 : isIP(address)) {
      case 4:
        return !this.specialIpv4.check(address) || this.exempt(address);
      case 6:
        // A block list treats a mapped address as IPv4, and would use the ranges of the other family. These lists contain no mapped addresses.
        return (
          (this.globalIpv6.check(address, 'ipv6') && !this.specialIpv6.check(address, 'ipv6')) || this.exempt(address)
        );
      default:
        return false;
    }
  }
}

function listOrNull(ranges: readonly string[]): BlockList | null {
  return ranges.length === 0 ? null : listOf(ranges);
}

function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', prefix] = range.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return list;
}
