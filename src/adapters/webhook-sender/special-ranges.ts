// Tables of addresses outside the public internet. Common libraries treat some of these addresses as public. Source: the IANA special-purpose address
// registries, and the fixed addresses at which cloud providers answer their own machines.

/** Every IPv4 range that can have no receiver. */
export const SPECIAL_IPV4: readonly string[] = [
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // shared by carriers
  '127.0.0.0/8', // loopback
  '169.254.0.0/16', // link-local
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // automatic multicast tunneling
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarking
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved
  '255.255.255.255/32', // broadcast
  '100.100.100.200/32', // a cloud's metadata service, also in a range shared by carriers
  '168.63.129.16/32', // a cloud's host, inside public address space
  '169.254.169.254/32', // clouds' metadata services, also in the link-local range
];

/**
 * The only assigned IPv6 space. Addresses outside are refused without a table: loopback, IPv4-compatible and IPv4-mapped addresses, NAT64
 * (64:ff9b::/96 and 64:ff9b:1::/48), discard-only and segment routing (5f00::/16). Further refused addresses are unique local (fc00::/7, with the
 * clouds' metadata such as fd00:ec2::254), link-local, site-local and multicast.
 */
export const GLOBAL_IPV6 = '2000::/3';

/** The special ranges within the assigned IPv6 space. */
export const SPECIAL_IPV6: readonly string[] = [
  '2001::/23', // protocol assignments: Teredo (2001::/32), benchmarking, ORCHID and ORCHIDv2, AS112, drone remote identification
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4, which carries an IPv4 address
  '2620:4f:8000::/48', // AS112
  '3ffe::/16', // the former 6bone
  '3fff::/20', // documentation
];

/** Names that have a meaning only inside a machine or a network. A longer name that ends with one of them is refused too. */
export const INTERNAL_NAMES: readonly string[] = [
  'localhost',
  'localdomain',
  'local',
  'internal',
  'intranet',
  'private',
  'corp',
  'home',
  'lan',
  'svc',
  'arpa',
  'onion',
  'metadata.goog',
];
