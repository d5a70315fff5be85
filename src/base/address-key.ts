/** Keys of addresses for limits. */

/** Returns one key for each network of a client: an IPv4 address, or an IPv6 /64. */
export function addressKey(address: string): string {
  const plain = plainOf(address);
  if (!plain.includes(':')) return plain;
  return `${groupsOf(plain).slice(0, 4).join(':')}::/64`;
}

/** Returns one key for each network that one customer of a provider may have: an IPv4 /24, or an IPv6 /48. */
export function networkKey(address: string): string {
  const plain = plainOf(address);
  if (!plain.includes(':')) return `${plain.split('.').slice(0, 3).join('.')}.0/24`;
  return `${groupsOf(plain).slice(0, 3).join(':')}::/48`;
}

/** An IPv4 address that is written as IPv6 is the same client. */
function plainOf(address: string): string {
  return address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address;
}

/** The groups of an IPv6 address without its zone. */
function groupsOf(address: string): readonly string[] {
  const [head = '', tail] = address.split('%')[0]!.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const middle = Array.from(
    { length: tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length) },
    () => '0',
  );
  return [...left, ...middle, ...right];
}
