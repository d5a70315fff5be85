/** The network that an address belongs to, as people recognize where they sign in from: /24 of IPv4, /48 of IPv6. */
import { parseAddress } from './ip-network.ts';

const IPV4_BYTES = 3;
const IPV6_GROUPS = 3;

/** Returns undefined for a text that is no address. An IPv4 address that is mapped into IPv6 is one of IPv4. */
export function networkOfAddress(text: string): string | undefined {
  const bytes = parseAddress(text);
  if (bytes === undefined) return undefined;
  if (bytes.length === 4) return `${bytes.subarray(0, IPV4_BYTES).join('.')}.0/24`;
  const groups = Array.from({ length: IPV6_GROUPS }, (_, n) =>
    ((bytes[2 * n]! << 8) | bytes[2 * n + 1]!).toString(16),
  );
  return `${groups.join(':')}::/48`;
}
