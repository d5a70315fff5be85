/**
 * Networks and ports that an operator allows with `CIDR:PORTS` entries: for an agent's targets
 * (`--allow-target`), and for addresses that the control plane fetches (`--allow-egress`). None are allowed by
 * default. Callers resolve names and check every address here. An IPv4-mapped IPv6 address is checked as IPv4.
 */
import { FrontdoorError } from '#base';
import { isInNetwork, parseAddress, type IpNetwork } from './ip-network.ts';

export interface AllowedNetwork extends IpNetwork {
  readonly ports: readonly { readonly from: number; readonly to: number }[];
}

export type ParsedAllowedNetwork = { readonly allowed: AllowedNetwork } | { readonly problem: string };

/** Parses `10.0.0.0/8:80,443`, `192.0.2.7:8000-8100`, `[fd00::]/8:*`. A problem names the option. */
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

/** Parses every entry of an option. @throws FrontdoorError with all problems. */
export function parseAllowedNetworks(option: string, texts: readonly string[]): readonly AllowedNetwork[] {
  const parsed = texts.map((text) => parseAllowedNetwork(option, text));
  const problems = parsed.flatMap((each) => ('problem' in each ? [each.problem] : []));
  const code = option.replace(/^--/, '');
  if (problems.length > 0) throw new FrontdoorError('invalid', code, problems.join('\n'));
  return parsed.flatMap((each) => ('allowed' in each ? [each.allowed] : []));
}

/** `address` is a literal; any other text is not allowed. */
export function isAllowedAddress(allowed: readonly AllowedNetwork[], address: string, port: number): boolean {
  const bytes = parseAddress(address);
  if (bytes === undefined) return false;
  return allowed.some(
    (entry) => isInNetwork(entry, bytes) && entry.ports.some(({ from, to }) => port >= from && port <= to),
  );
}

/** Whether any address with this port could be allowed, as a cheap check of a host name. */
export function isAllowedPort(allowed: readonly AllowedNetwork[], port: number): boolean {
  return allowed.some((entry) => entry.ports.some(({ from, to }) => port >= from && port <= to));
}
