import { isIPv6 } from 'node:net';
import type { FastifyRequest } from 'fastify';

/**
 * The client that limits count: the address that the socket or a trusted proxy names. An IPv6 address counts by its first 64 bits, because one
 * subscriber can choose all the others. An IPv4 address in IPv6 form is the IPv4 address.
 */
export function clientAddressOf({ ip }: Pick<FastifyRequest, 'ip'>): string {
  if (!ip.includes(':') || !isIPv6(ip)) return ip;
  // The URL parser writes an address in its one shortest form.
  const [before = '', after] = new URL(`http://[${ip.split('%')[0]}]`).hostname.slice(1, -1).split('::');
  const head = before === '' ? [] : before.split(':');
  const tail = after === undefined || after === '' ? [] : after.split(':');
  const groups =
    after === undefined ? head : [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail];
  const mapped = groups.slice(0, 5).every((group) => group === '0') && groups[5] === 'ffff';
  if (!mapped) return `${groups.slice(0, 4).join(':')}::/64`;
  return groups
    .slice(6)
    .flatMap((group) => [parseInt(group, 16) >> 8, parseInt(group, 16) & 255])
    .join('.');
}
