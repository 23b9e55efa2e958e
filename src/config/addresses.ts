// Ranges of network addresses, as they are listed in environment variables.
import { BlockList, isIP } from 'node:net';

export function isAddressOrCidr(value: string): boolean {
  const [address = '', prefix, ...rest] = value.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  if (prefix === undefined) return true;
  try {
    new BlockList().addSubnet(address, Number(prefix), family === 6 ? 'ipv6' : 'ipv4');
    return /^\d+$/.test(prefix);
  } catch {
    return false;
  }
}

/** The fraction of a family's addresses that is in these ranges. IPv4 addresses in IPv6 form count as IPv4. */
export function shareOf(ranges: readonly string[], family: number): number {
  const prefixes = [...new Set(ranges)].map((range): [family: number, prefix: number] => {
    const [address = '', prefix] = range.split('/');
    if (isIP(address) === 4) return [4, Number(prefix ?? 32)];
    const bits = Number(prefix ?? 128);
    return /^::ffff:/i.test(address) && bits >= 96 ? [4, bits - 96] : [6, bits];
  });
  return prefixes.filter(([of]) => of === family).reduce((sum, [, prefix]) => sum + 2 ** -prefix, 0);
}
