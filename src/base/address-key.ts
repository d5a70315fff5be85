/** Keys of addresses for limits. */

/** Returns one key for each network of a client: an IPv4 address, or an IPv6 /64. */
export function addressKey(address: string): string {
  const plain = address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address;
  if (!plain.includes(':')) return plain;
  const [head = '', tail] = plain.split('%')[0]!.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const middle = Array.from(
    { length: tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length) },
    () => '0',
  );
  return `${[...left, ...middle, ...right].slice(0, 4).join(':')}::/64`;
}
