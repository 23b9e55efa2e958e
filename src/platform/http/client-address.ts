import { isIPv6 } from 'node:net';
import type { FastifyRequest } from 'fastify';

/**
 * The client for which limits are counted: the address that the socket or a trusted proxy names. Only the first 64 bits of an IPv6 address are used,
 * because one subscriber can choose the other bits. An IPv4 address in IPv6 form counts as the IPv4 address.
 */
export function clientAddressOf({ ip }: Pick<FastifyRequest, 'ip'>): string {
  if (!ip.includes(':') || !isIPv6(ip)) return ip;
  // The URL parser writes an address in its single shortest form.
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
