/** The kinds of text in the router file, each with a description and a check. */
import { isIP, isIPv4 } from 'node:net';
import type { NetworkInterfaceInfo } from 'node:os';
import { parseAddress, type OverlayAddress } from '#wire';
import { DURATION_PATTERN, parseGoDuration, Secret } from '#base';

/** The network interface of outgoing connections. */
export interface InterfaceBinding {
  readonly name: string;
  readonly address: string;
}

export type NetworkInterfaces = Readonly<
  Record<string, readonly Pick<NetworkInterfaceInfo, 'address'>[] | undefined>
>;

/** All protocols that OpenZiti's routers parse. This router cannot run all of them. */
export const ADDRESS_TYPES: readonly string[] = ['tls', 'tcp', 'udp', 'dtls', 'ws', 'wss'];

interface KindRow<T> {
  /** The words that follow "must be" in a problem. */
  readonly words: string;
  /** Returns the value of the text, or undefined when it is not of this kind. */
  readonly read: (text: string, interfaces: NetworkInterfaces) => T | undefined;
  /** The regular expression for editors; undefined when any text is valid. */
  readonly pattern?: string;
}

const HOST_PORT = '(?:\\[[0-9a-fA-F:.]+\\]|[^:\\[\\]/]+):\\d{1,5}';
const ANY_HOST_PORT = '(?:\\[[0-9a-fA-F:.]+\\]|[^:\\[\\]/]*):\\d{1,5}';

/** A kind whose value is the text itself, if `takes` returns true. */
function textThat(takes: (text: string) => boolean): KindRow<string>['read'] {
  return (text) => (takes(text) ? text : undefined);
}

const readLocation = (text: string): string | undefined => (text === '' ? undefined : identityLocation(text));

function readKeyLocation(text: string): Secret | undefined {
  const location = readLocation(text);
  return location === undefined ? undefined : new Secret(location);
}

export const TEXT_KINDS = {
  text: { words: 'a text that is not empty', read: textThat((text) => text !== '') },
  'any-text': { words: 'a text', read: textThat(() => true) },
  path: { words: 'a path', read: textThat((text) => text !== '' && !text.includes('\0')) },
  duration: {
    words: 'a duration such as 5s, 1m30s or 250ms',
    read: parseGoDuration,
    pattern: DURATION_PATTERN,
  },
  address: {
    words: 'an address <protocol>:<host>:<port> such as tls:router.example:6000',
    read: parseFileAddress,
    pattern: `(?:${ADDRESS_TYPES.join('|')}):${ANY_HOST_PORT}`,
  },
  'host-port': { words: '<host>:<port>', read: parseHostPort, pattern: HOST_PORT },
  advertised: {
    words: '<host>:<port> or <protocol>:<host>:<port>',
    read: parseAdvertised,
    pattern: `(?:(?:${ADDRESS_TYPES.join('|')}):)?${HOST_PORT}`,
  },
  interface: {
    words: 'a network interface of this machine, by its name or an address of it',
    read: findInterface,
  },
  certificate: { words: 'a path, file:<path>, pem:<PEM> or PEM itself', read: readLocation },
  key: {
    words: 'a path, file:<path>, pem:<PEM> or PEM itself (keys inside engines cannot be used)',
    read: readKeyLocation,
  },
  cidr: { words: 'a network such as 100.64.0.1/10', read: textThat(isCidr) },
  ip: { words: 'an IP address', read: textThat((text) => isIP(text) !== 0 && !text.includes('%')) },
  uri: { words: 'a URI', read: textThat((text) => URL.canParse(text)) },
  resolver: {
    words: 'udp://<host>:<port>, or a hosts file as file://<path>',
    read: textThat(isResolver),
  },
  upstream: {
    words: 'udp://<host>:<port> or tcp://<host>:<port>',
    read: textThat((text) => /^(?:udp|tcp):\/\//.test(text) && parseHostPort(text.slice(6)) !== undefined),
  },
  'tunnel-mode': {
    words: 'host, proxy, tproxy or tproxy:<path of a diverter>',
    read: textThat((text) => /^(?:host|proxy|tproxy(?::.+)?)$/.test(text)),
    pattern: '(?:host|proxy|tproxy(?::.+)?)',
  },
  'tunnel-service': {
    words: '<service>:<port>, with :tcp or :udp after it or without',
    read: textThat(
      (text) => Number(/^[^:]+:(\d{1,5})(?::(?:tcp|udp))?$/.exec(text)?.[1] ?? 65_536) <= 65_535,
    ),
    pattern: '[^:]+:\\d{1,5}(?::(?:tcp|udp))?',
  },
} satisfies Record<string, KindRow<unknown>>;

/** The kinds of text in the router file. */
export type TextKind = keyof typeof TEXT_KINDS;
export type KindValue<K extends TextKind> = NonNullable<ReturnType<(typeof TEXT_KINDS)[K]['read']>>;

export function kindRow(kind: TextKind): KindRow<unknown> {
  return TEXT_KINDS[kind];
}

export function parseFileAddress(text: string): OverlayAddress | undefined {
  return parseAddress(text, ADDRESS_TYPES);
}

/** An address of datagrams. With `unixgram`, the host is the path of a socket. */
export interface DatagramAddress {
  readonly network: 'udp' | 'udp4' | 'udp6' | 'unixgram';
  /** Without brackets. May be empty (all interfaces). */
  readonly host: string;
  readonly port: number;
}

const UNIXGRAM = 'unixgram:';

/** Returns undefined if the text is no address of datagrams, such as `udp:0.0.0.0:53` or `udp6:[::1]:53`. */
export function parseDatagramAddress(text: string): DatagramAddress | undefined {
  if (text.startsWith(UNIXGRAM))
    return text === UNIXGRAM
      ? undefined
      : { network: 'unixgram', host: text.slice(UNIXGRAM.length), port: 0 };
  const network = (['udp', 'udp4', 'udp6'] as const).find((one) => text.startsWith(`${one}:`));
  if (network === undefined) return undefined;
  const address = parseAddress(`udp${text.slice(network.length)}`, ['udp']);
  return address === undefined ? undefined : { network, host: address.host, port: address.port };
}

/** Requires a host. IPv6 addresses are written in brackets. */
export function parseHostPort(text: string): { readonly host: string; readonly port: number } | undefined {
  const address = parseAddress(`tls:${text}`);
  return address === undefined || address.host === ''
    ? undefined
    : { host: address.host, port: address.port };
}

/** Without a protocol, the address has that of the router's bind address. */
function parseAdvertised(
  text: string,
): (Pick<OverlayAddress, 'host' | 'port'> & { readonly type?: string }) | undefined {
  const address = parseFileAddress(text);
  const hostPort = parseHostPort(text);
  return hostPort !== undefined || (address?.host ?? '') !== '' ? (address ?? hostPort) : undefined;
}

/**
 * Searches for an interface with this name and uses its first address; otherwise for an interface with this address.
 */
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

/** Returns PEM as it is, and a `file:` form as its path; undefined for other sources, such as key engines. */
export function identityLocation(text: string): string | undefined {
  if (isInlinePem(text)) return text;
  if (text.startsWith('file:')) {
    const path = text.replace(/^file:(?:\/\/(?:localhost)?(?=\/))?/, '');
    // The form `file://pki/cert.pem` has a host, so it is invalid.
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
