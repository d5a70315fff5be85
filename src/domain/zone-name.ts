/** Names below which shares are served. `<token>.<zone>` and `oauth.<zone>` must be DNS names themselves. */
import { parseAddress } from './ip-network.ts';

/** Leaves room for a token of 63 characters. */
const MAX_ZONE = 253 - 64;
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Accepts two labels or more in lower or upper case; the last one is not a number. */
export function isZoneName(text: string): boolean {
  return text.includes('.') && isDomainName(text);
}

/** Like `isZoneName`, and accepts a single label, too. */
export function isDomainName(text: string): boolean {
  const labels = text.toLowerCase().split('.');
  if (text.length > MAX_ZONE || !/^[\u0021-\u007e]+$/.test(text)) return false;
  // Browsers read a name that ends in a number as an IPv4 address.
  return (
    labels.every((label) => LABEL.test(label)) &&
    !/^(?:\d+|0x[0-9a-f]*)$/.test(labels.at(-1)!) &&
    parseAddress(text) === undefined
  );
}

/** Whether the zones are equal, or one is below the other. */
export function zonesOverlap(a: string, b: string): boolean {
  return a === b || a.endsWith(`.${b}`) || b.endsWith(`.${a}`);
}
