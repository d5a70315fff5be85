/**
 * Networks and ports that an operator allows by `CIDR:PORTS` entries: for an agent's targets (`--allow-target`), for
 * what the control plane fetches (`--allow-egress`). None by default. Names are resolved elsewhere and every address is
 * asked about here. An IPv4 address in IPv6 clothes is judged as IPv4.
 */
import { FrontdoorError } from '#base';

export interface AllowedNetwork {
  readonly network: Uint8Array;
  readonly prefixBits: number;
  readonly ports: readonly { readonly from: number; readonly to: number }[];
}

export type ParsedAllowedNetwork = { readonly allowed: AllowedNetwork } | { readonly problem: string };

/** `10.0.0.0/8:80,443`, `192.0.2.7:8000-8100`, `[fd00::]/8:*`. A problem names the option. */
export function parseAllowedNetwork(option: string, text: string): ParsedAllowedNetwork {
  const shown = JSON.stringify(text.slice(0, 100));
  const colon = text.lastIndexOf(':');
  const no = (what: string): ParsedAllowedNetwork => ({ problem: `${option} ${shown}: ${what}` });
  if (colon <= 0) return no('must be CIDR:PORTS, for example 10.0.0.0/8:80,443');
  const [addressText = '', prefixText, ...rest] = text.slice(0, colon).split('/');
  if (rest.length > 0) return no('must be CIDR:PORTS, for example 10.0.0.0/8:80,443');
  const network = parseAddress(addressText.replace(/^\[(.*)\]$/, '$1'));
  if (network === undefined) return no(`${JSON.stringify(addressText)} is not an IP address`);
  const bits = network.length * 8;
  let prefixBits = bits;
  if (prefixText !== undefined) {
    prefixBits = /^\d{1,3}$/.test(prefixText) ? Number(prefixText) : -1;
    if (prefixBits < 0 || prefixBits > bits) return no(`the prefix must be 0 to ${bits}`);
  }
  const ports: { from: number; to: number }[] = [];
  for (const part of text.slice(colon + 1).split(',')) {
    const match = /^(?:(\d{1,5})(?:-(\d{1,5}))?|\*)$/.exec(part);
    const from = match === null ? 0 : Number(match[1] ?? 1);
    const to = match === null ? 0 : Number(match[2] ?? match[1] ?? 65_535);
    if (from < 1 || to > 65_535 || from > to)
      return no(`${JSON.stringify(part)} is not a port, a range or *`);
    ports.push({ from, to });
  }
  return { allowed: { network, prefixBits, ports } };
}

/** Every entry of an option. @throws FrontdoorError that tells all problems at once. */
export function parseAllowedNetworks(option: string, texts: readonly string[]): readonly AllowedNetwork[] {
  const parsed = texts.map((text) => parseAllowedNetwork(option, text));
  const problems = parsed.flatMap((each) => ('problem' in each ? [each.problem] : []));
  const code = option.replace(/^--/, '');
  if (problems.length > 0) throw new FrontdoorError('invalid', code, problems.join('\n'));
  return parsed.flatMap((each) => ('allowed' in each ? [each.allowed] : []));
}

/** `address` is a literal; anything else is not allowed. */
export function isAllowedAddress(allowed: readonly AllowedNetwork[], address: string, port: number): boolean {
  const bytes = parseAddress(address);
  if (bytes === undefined) return false;
  return allowed.some(
    (entry) =>
      entry.network.length === bytes.length &&
      samePrefix(entry.network, bytes, entry.prefixBits) &&
      entry.ports.some(({ from, to }) => port >= from && port <= to),
  );
}

/** True when some address with this port could be allowed: the cheap answer for a host name. */
export function isAllowedPort(allowed: readonly AllowedNetwork[], port: number): boolean {
  return allowed.some((entry) => entry.ports.some(({ from, to }) => port >= from && port <= to));
}

function samePrefix(a: Uint8Array, b: Uint8Array, bits: number): boolean {
  const whole = bits >> 3;
  for (let i = 0; i < whole; i += 1) if (a[i] !== b[i]) return false;
  const rest = bits & 7;
  if (rest === 0) return true;
  const mask = (0xff << (8 - rest)) & 0xff;
  return ((a[whole] ?? 0) & mask) === ((b[whole] ?? 0) & mask);
}

/** 4 or 16 bytes; v4-mapped addresses become 4. Zones (`%eth0`) are no addresses here. */
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
