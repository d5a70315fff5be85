/**
 * Translates forwarded addresses from one network to another of the same size: the prefix comes from the target, the
 * rest from the address. `192.168.10.3` becomes `10.0.1.3` by the translation of `192.168.10.0/24` to `10.0.1.0`.
 */
import { isInNetwork, parseAddress, type IpNetwork } from '#domain';

export interface AddressTranslation {
  readonly from: IpNetwork;
  readonly to: Uint8Array;
}

/** Returns undefined if they are no addresses, of different families, or shorter than the prefix. */
export function parseTranslation(
  from: string,
  to: string,
  prefixBits: number,
): AddressTranslation | undefined {
  const network = parseAddress(from);
  const target = parseAddress(to);
  if (network === undefined || target === undefined || network.length !== target.length) return undefined;
  return prefixBits > network.length * 8 ? undefined : { from: { network, prefixBits }, to: target };
}

/** Applies the first translation that contains the address; returns the address itself if none does. */
export function translateAddress(
  translations: readonly AddressTranslation[],
  address: Uint8Array,
): Uint8Array {
  const translation = translations.find(({ from }) => isInNetwork(from, address));
  if (translation === undefined) return address;
  const { from, to } = translation;
  return address.map((byte, i) => {
    const bits = Math.max(0, Math.min(8, from.prefixBits - i * 8));
    const mask = 0xff & (0xff << (8 - bits));
    return (to[i]! & mask) | (byte & ~mask & 0xff);
  });
}
