/** Names below which shares appear: `<token>.<zone>` and `oauth.<zone>` must be DNS names themselves. */
import { parseAddress } from './ip-network.ts';

/** So that a token of 63 characters fits in front. */
const MAX_ZONE = 253 - 64;
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Two labels or more; lower or upper case; the last one is no number. */
export function isZoneName(text: string): boolean {
  const labels = text.toLowerCase().split('.');
  if (text.length > MAX_ZONE || labels.length < 2 || !/^[\u0021-\u007e]+$/.test(text)) return false;
  // What ends in a number is read as an IPv4 address by browsers.
  return (
    labels.every((label) => LABEL.test(label)) &&
    !/^(?:\d+|0x[0-9a-f]*)$/.test(labels.at(-1)!) &&
    parseAddress(text) === undefined
  );
}

/** One is the other, or lies below it. */
export function zonesOverlap(a: string, b: string): boolean {
  return a === b || a.endsWith(`.${b}`) || b.endsWith(`.${a}`);
}
