/**
 * The address of a share's private service: `http://host[:port]`, `https://host[:port]`, `tcp://host:port` or
 * `udp://host:port`, and nothing else. A path, a query or credentials would change the meaning of forwarded requests, so
 * they are refused. The scheme decides the share's backend mode.
 */

import {
  BACKEND_MODE_TABLE,
  MAX_TARGET_LENGTH,
  modeOfScheme,
  type BackendMode,
} from './backend-mode-table.ts';

export interface ShareTarget {
  readonly mode: BackendMode;
  readonly scheme: string;
  /** A DNS name (lower case), an IPv4 address, or an IPv6 address without brackets. */
  readonly host: string;
  readonly port: number;
  /** The port at which clients expect the service, which do not learn `port`. */
  readonly clientPort: number;
  /** The normalised text: lower case, no trailing slash, the port as given. */
  readonly url: string;
}

const TARGET = /^([a-z]+):\/\/(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::([0-9]{1,5}))?\/?$/;
const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;
const MAX_HOST_LENGTH = 253;

/** Returns undefined if the text is not a target. */
export function parseShareTarget(text: string): ShareTarget | undefined {
  if (text.length > MAX_TARGET_LENGTH) return undefined;
  const match = TARGET.exec(text.toLowerCase());
  if (match === null) return undefined;
  const [, scheme = '', authority = '', portText] = match;
  const mode = modeOfScheme(scheme);
  if (mode === undefined) return undefined;
  const host = authority.startsWith('[') ? authority.slice(1, -1) : authority;
  if (authority.startsWith('[') ? !isIpv6(host) : !isHostName(host)) return undefined;
  const expected = BACKEND_MODE_TABLE[mode].schemes[scheme];
  const port = portText === undefined ? expected : Number(portText);
  if (port === undefined || port < 1 || port > 65_535) return undefined;
  const url = `${scheme}://${authority}${portText === undefined ? '' : `:${portText}`}`;
  return { mode, scheme, host, port, clientPort: expected ?? port, url };
}

function isHostName(host: string): boolean {
  if (host.length > MAX_HOST_LENGTH) return false;
  const labels = host.split('.');
  // A host that ends in a number must be a plain IPv4 address, because other spellings of one are misleading.
  if (/^([0-9]+|0x[0-9a-f]*)$/.test(labels.at(-1)!)) return isIpv4(host);
  return labels.every((label) => LABEL.test(label));
}

function isIpv4(text: string): boolean {
  const parts = text.split('.');
  return (
    parts.length === 4 && parts.every((part) => /^(0|[1-9][0-9]{0,2})$/.test(part) && Number(part) <= 255)
  );
}

function isIpv6(text: string): boolean {
  let rest = text;
  let groups = 0;
  const lastColon = rest.lastIndexOf(':');
  if (rest.includes('.')) {
    if (lastColon < 0 || !isIpv4(rest.slice(lastColon + 1))) return false;
    rest = `${rest.slice(0, lastColon)}:0`;
    groups = 1;
  }
  const halves = rest.split('::');
  if (halves.length > 2) return false;
  for (const half of halves) {
    if (half === '') continue;
    for (const group of half.split(':')) {
      if (!/^[0-9a-f]{1,4}$/.test(group)) return false;
      groups += 1;
    }
  }
  return halves.length === 2 ? groups <= 7 : groups === 8 && halves[0] !== '';
}
