/** What each kind of text in the router file takes, in words and as a check. */
import { isIP, isIPv4 } from 'node:net';
import type { NetworkInterfaceInfo } from 'node:os';
import { parseAddress, type OverlayAddress } from '#wire';
import { DURATION_PATTERN, parseGoDuration } from './go-duration.ts';
import type { InterfaceBinding } from './router-config.ts';
import type { TextKind } from './schema-field.ts';

export type NetworkInterfaces = Readonly<
  Record<string, readonly Pick<NetworkInterfaceInfo, 'address'>[] | undefined>
>;

/** Every protocol that OpenZiti's routers parse; not all of them run here. */
export const ADDRESS_TYPES: readonly string[] = ['tls', 'tcp', 'udp', 'dtls', 'ws', 'wss'];

interface KindRow {
  /** Follows "must be". */
  readonly words: string;
  readonly takes: (text: string, interfaces: NetworkInterfaces) => boolean;
  /** For editors; absent: any text. */
  readonly pattern?: string;
}

const HOST_PORT = '(?:\\[[0-9a-fA-F:.]+\\]|[^:\\[\\]/]+):\\d{1,5}';
const ANY_HOST_PORT = '(?:\\[[0-9a-fA-F:.]+\\]|[^:\\[\\]/]*):\\d{1,5}';

export const TEXT_KINDS: Readonly<Record<TextKind, KindRow>> = {
  text: { words: 'a text that is not empty', takes: (text) => text !== '' },
  'any-text': { words: 'a text', takes: () => true },
  path: { words: 'a path', takes: (text) => text !== '' && !text.includes('\0') },
  duration: {
    words: 'a duration such as 5s, 1m30s or 250ms',
    takes: (text) => parseGoDuration(text) !== undefined,
    pattern: DURATION_PATTERN,
  },
  address: {
    words: 'an address <protocol>:<host>:<port> such as tls:router.example:6000',
    takes: (text) => parseFileAddress(text) !== undefined,
    pattern: `(?:${ADDRESS_TYPES.join('|')}):${ANY_HOST_PORT}`,
  },
  'host-port': {
    words: '<host>:<port>',
    takes: (text) => parseHostPort(text) !== undefined,
    pattern: HOST_PORT,
  },
  advertised: {
    words: '<host>:<port> or <protocol>:<host>:<port>',
    takes: (text) => parseHostPort(text) !== undefined || (parseFileAddress(text)?.host ?? '') !== '',
    pattern: `(?:(?:${ADDRESS_TYPES.join('|')}):)?${HOST_PORT}`,
  },
  interface: {
    words: 'a network interface of this machine, by its name or an address of it',
    takes: (text, interfaces) => findInterface(text, interfaces) !== undefined,
  },
  certificate: {
    words: 'a path, file:<path>, pem:<PEM> or PEM itself',
    takes: (text) => text !== '' && identityLocation(text) !== undefined,
  },
  key: {
    words: 'a path, file:<path>, pem:<PEM> or PEM itself (keys inside engines cannot be used)',
    takes: (text) => text !== '' && identityLocation(text) !== undefined,
  },
  cidr: { words: 'a network such as 100.64.0.1/10', takes: isCidr },
  ip: { words: 'an IP address', takes: (text) => isIP(text) !== 0 && !text.includes('%') },
  uri: { words: 'a URI', takes: (text) => URL.canParse(text) },
  resolver: {
    words: 'udp://<host>:<port>, or a hosts file as file://<path>',
    takes: (text) => isResolver(text),
  },
  upstream: {
    words: 'udp://<host>:<port> or tcp://<host>:<port>',
    takes: (text) => /^(?:udp|tcp):\/\//.test(text) && parseHostPort(text.slice(6)) !== undefined,
  },
  'tunnel-mode': {
    words: 'host, proxy, tproxy or tproxy:<path of a diverter>',
    takes: (text) => /^(?:host|proxy|tproxy(?::.+)?)$/.test(text),
    pattern: '(?:host|proxy|tproxy(?::.+)?)',
  },
  'tunnel-service': {
    words: '<service>:<port>, with :tcp or :udp after it or without',
    takes: (text) => Number(/^[^:]+:(\d{1,5})(?::(?:tcp|udp))?$/.exec(text)?.[1] ?? 65_536) <= 65_535,
    pattern: '[^:]+:\\d{1,5}(?::(?:tcp|udp))?',
  },
};

export function parseFileAddress(text: string): OverlayAddress | undefined {
  return parseAddress(text, ADDRESS_TYPES);
}

/** A host is needed; IPv6 in brackets. */
export function parseHostPort(text: string): { readonly host: string; readonly port: number } | undefined {
  const address = parseAddress(`tls:${text}`);
  return address === undefined || address.host === ''
    ? undefined
    : { host: address.host, port: address.port };
}

/** By name first: its first address is taken. */
export function findInterface(text: string, interfaces: NetworkInterfaces): InterfaceBinding | undefined {
  const named = Object.hasOwn(interfaces, text) ? interfaces[text]?.[0]?.address : undefined;
  if (named !== undefined) return { name: text, address: named };
  for (const [name, all] of Object.entries(interfaces))
    if (all?.some(({ address }) => address === text) === true) return { name, address: text };
  return undefined;
}

export function isInlinePem(text: string): boolean {
  return text.startsWith('pem:') || text.trimStart().startsWith('-----BEGIN');
}

/** PEM as it is, a `file:` form as its path; undefined for other places, such as key engines. */
export function identityLocation(text: string): string | undefined {
  if (isInlinePem(text)) return text;
  if (text.startsWith('file:')) {
    const path = text.replace(/^file:(?:\/\/(?:localhost)?(?=\/))?/, '');
    // `file://pki/cert.pem` names a host.
    if (path === '' || path.startsWith('//')) return undefined;
    try {
      return decodeURIComponent(path);
    } catch {
      return undefined;
    }
  }
  return /^[a-z][a-z0-9+.-]+:/i.test(text) ? undefined : text;
}

function isCidr(text: string): boolean {
  const [address = '', length = ''] = text.split('/');
  if (isIP(address) === 0 || !/^\d{1,3}$/.test(length) || text.split('/').length !== 2) return false;
  return Number(length) <= (isIPv4(address) ? 32 : 128);
}

function isResolver(text: string): boolean {
  if (text.startsWith('udp://')) return parseHostPort(text.slice(6).replace(/\?.*$/, '')) !== undefined;
  return text !== '' && (text.startsWith('file://') || !/^[a-z][a-z0-9+.-]*:\/\//i.test(text));
}
