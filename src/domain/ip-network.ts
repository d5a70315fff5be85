/**
 * IP addresses and networks as bytes. An IPv4-mapped IPv6 address becomes the IPv4 address. A text with a zone
 * (`%eth0`) is not an address.
 */
export interface IpNetwork {
  /** 4 or 16 bytes. */
  readonly network: Uint8Array;
  readonly prefixBits: number;
}

/** Parses `10.0.0.0/8`, `fd00::/8`, or a single address. Bits after the prefix are ignored. */
export function parseIpNetwork(text: string): IpNetwork | undefined {
  const slash = text.indexOf('/');
  const addressText = slash === -1 ? text : text.slice(0, slash);
  const network = parseAddress(addressText);
  if (network === undefined) return undefined;
  const bits = network.length * 8;
  if (slash === -1) return { network, prefixBits: bits };
  const prefixText = text.slice(slash + 1);
  if (!/^(?:0|[1-9]\d{0,2})$/.test(prefixText)) return undefined;
  // The prefix of a v4-mapped address counts IPv6 bits.
  const prefixBits = Number(prefixText) - (bits === 32 && addressText.includes(':') ? 96 : 0);
  return prefixBits < 0 || prefixBits > bits ? undefined : { network, prefixBits };
}

export function isInNetwork({ network, prefixBits }: IpNetwork, address: Uint8Array): boolean {
  return network.length === address.length && samePrefix(network, address, prefixBits);
}

function samePrefix(a: Uint8Array, b: Uint8Array, bits: number): boolean {
  const whole = bits >> 3;
  for (let i = 0; i < whole; i += 1) if (a[i] !== b[i]) return false;
  const rest = bits & 7;
  if (rest === 0) return true;
  const mask = (0xff << (8 - rest)) & 0xff;
  return ((a[whole] ?? 0) & mask) === ((b[whole] ?? 0) & mask);
}

/** Returns 4 or 16 bytes; v4-mapped addresses become 4. Zones (`%eth0`) are not accepted. */
export function parseAddress(text: string): Uint8Array | undefined {
  if (!text.includes(':')) return parseIpv4(text);
  const bytes = parseIpv6(text);
  if (bytes === undefined) return undefined;
  const mapped =
    bytes.subarray(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff && bytes[11] === 0xff;
  return mapped ? bytes.slice(12) : bytes;
}

function parseIpv4(text: string): Uint8Array | undefined {
  const parts = text.split('.');
  if (parts.length !== 4) return undefined;
  const bytes = new Uint8Array(4);
  for (const [i, part] of parts.entries()) {
    if (!/^(0|[1-9]\d{0,2})$/.test(part) || Number(part) > 255) return undefined;
    bytes[i] = Number(part);
  }
  return bytes;
}

function parseIpv6(text: string): Uint8Array | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const head = groupsOf(halves[0] ?? '');
  const tail = halves.length === 2 ? groupsOf(halves[1] ?? '') : [];
  if (head === undefined || tail === undefined) return undefined;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  const groups = [...head, ...Array.from({ length: missing }, () => 0), ...tail];
  const bytes = new Uint8Array(16);
  for (const [i, group] of groups.entries()) {
    bytes[2 * i] = group >> 8;
    bytes[2 * i + 1] = group & 0xff;
  }
  return bytes;
}

/** Writes 4 bytes as `10.0.0.1`, and 16 bytes as eight groups. */
export function addressText(address: Uint8Array): string {
  if (address.length === 4) return address.join('.');
  const groups: string[] = [];
  for (let i = 0; i < address.length; i += 2)
    groups.push(((address[i]! << 8) | address[i + 1]!).toString(16));
  return groups.join(':');
}

/** Returns the one spelling of an address that sockets use, too (RFC 5952); undefined if the text is no address. */
export function canonicalAddress(text: string): string | undefined {
  const bytes = parseAddress(text);
  return bytes && shortAddressText(bytes);
}

/** Writes 4 or 16 bytes as sockets do: the longest run of zeros of an IPv6 address becomes `::`. */
function shortAddressText(address: Uint8Array): string {
  const text = addressText(address);
  if (address.length === 4) return text;
  const runs = text.match(/\b0(?::0)+\b/g) ?? [];
  const longest = runs.reduce((best, run) => (run.length > best.length ? run : best), '');
  if (longest === '') return text;
  const at = new RegExp(`(?:^|:)${longest}(?:$|:)`).exec(text)!;
  return `${text.slice(0, at.index)}::${text.slice(at.index + at[0].length)}`;
}

/** Writes the network in CIDR notation, without bits after the prefix. */
export function networkText({ network, prefixBits }: IpNetwork): string {
  const masked = network.map((byte, i) => {
    const bits = Math.max(0, Math.min(8, prefixBits - i * 8));
    return byte & (0xff << (8 - bits));
  });
  return `${addressText(masked)}/${prefixBits}`;
}

function groupsOf(text: string): number[] | undefined {
  if (text === '') return [];
  const groups: number[] = [];
  const parts = text.split(':');
  for (const [i, part] of parts.entries()) {
    if (i === parts.length - 1 && part.includes('.')) {
      const v4 = parseIpv4(part);
      if (v4 === undefined) return undefined;
      groups.push(((v4[0] ?? 0) << 8) | (v4[1] ?? 0), ((v4[2] ?? 0) << 8) | (v4[3] ?? 0));
    } else if (/^[0-9a-f]{1,4}$/i.test(part)) {
      groups.push(Number.parseInt(part, 16));
    } else {
      return undefined;
    }
  }
  return groups;
}
