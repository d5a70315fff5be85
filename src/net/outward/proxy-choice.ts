/**
 * Which proxy leads to a server, by `--proxy` and the variables that other programs read too: `HTTPS_PROXY`, `HTTP_PROXY`,
 * `ALL_PROXY` and `NO_PROXY`, the lower case first. This machine is reached directly. ADR 0089.
 */
import { bareHost, definedFields, formatHostPort, FrontdoorError, isLoopbackHost, Secret } from '#base';
import { isInNetwork, parseAddress, parseIpNetwork } from '#domain';

export type ProxyScheme = 'http' | 'https' | 'socks5' | 'socks5h';

export interface ProxyServer {
  readonly scheme: ProxyScheme;
  /** Without brackets. */
  readonly host: string;
  readonly port: number;
  readonly username?: string | undefined;
  readonly password?: Secret | undefined;
  /** The option or variable that names it, for messages. */
  readonly source: string;
}

/** The server of a connection. */
export interface OutwardTarget {
  /** Without brackets. */
  readonly host: string;
  readonly port: number;
  /** Plain HTTP, for which another variable counts; false by default. */
  readonly isPlain?: boolean | undefined;
}

/** Returns undefined for a server that is reached directly. */
export type ProxyChoice = (target: OutwardTarget) => ProxyServer | undefined;

export type Environment = Readonly<Record<string, string | undefined>>;

/** The value of `--proxy` for direct connections, whatever the variables say. */
const NO_PROXY_AT_ALL = 'none';
const DEFAULT_PORTS: Readonly<Record<ProxyScheme, number>> = {
  http: 80,
  https: 443,
  socks5: 1080,
  socks5h: 1080,
};
const MAX_SOCKS_TEXT_BYTES = 255;
/** More exceptions than these are not read. */
const MAX_EXCEPTIONS = 1_000;

/**
 * `option` is the value of `--proxy`, which replaces the variables with proxies. Throws `invalid` if it is no proxy. A
 * variable is read when it is needed first, and an invalid one is an error of the connections that need it.
 */
export function proxyChoiceOf(environment: Environment, option?: Secret): ProxyChoice {
  const given = option?.reveal();
  if (given === NO_PROXY_AT_ALL) return () => undefined;
  const optional = given === undefined ? undefined : parseProxy(given, '--proxy');
  const exceptions = exceptionsOf(valueOf(environment, 'no_proxy')?.[1] ?? '');
  const read = new Map<string, ProxyServer>();
  return (target) => {
    if (isLoopbackHost(target.host) || exceptions.some((exception) => exception(target))) return undefined;
    if (optional !== undefined) return optional;
    const [name, text] =
      valueOf(environment, target.isPlain === true ? 'http_proxy' : 'https_proxy') ??
      valueOf(environment, 'all_proxy') ??
      [];
    if (name === undefined || text === undefined) return undefined;
    const proxy = read.get(name) ?? parseProxy(text, name);
    read.set(name, proxy);
    return proxy;
  };
}

/** For messages and status: never with the user and the password. */
export function proxyText({ scheme, host, port }: ProxyServer): string {
  return `${scheme}://${formatHostPort(host, port)}`;
}

/** The name that is set, and its value. */
function valueOf(environment: Environment, name: string): readonly [string, string] | undefined {
  for (const variable of [name, name.toUpperCase()]) {
    const value = environment[variable]?.trim() ?? '';
    if (value !== '') return [variable, value];
  }
  return undefined;
}

/** A text without a scheme is an HTTP proxy, as for other programs. */
function parseProxy(text: string, source: string): ProxyServer {
  const url = URL.parse(text.includes('://') ? text : `http://${text}`);
  const scheme = schemeOf(url?.protocol.slice(0, -1));
  if (url === null || scheme === undefined || url.hostname === '' || !/^\/?$/.test(url.pathname))
    throw invalidProxy(source);
  const [username, password] = [url.username, url.password].map((part) => decoded(part, source));
  const isSocks = scheme.startsWith('socks');
  for (const part of [username!, password!])
    if (isSocks && Buffer.byteLength(part) > MAX_SOCKS_TEXT_BYTES) throw invalidProxy(source);
  return {
    scheme,
    host: bareHost(url.hostname),
    port: url.port === '' ? DEFAULT_PORTS[scheme] : Number(url.port),
    ...definedFields({
      username: username === '' ? undefined : username,
      password: password === '' ? undefined : new Secret(password!),
    }),
    source,
  };
}

function schemeOf(text: string | undefined): ProxyScheme | undefined {
  if (text === 'socks') return 'socks5h';
  return text !== undefined && Object.hasOwn(DEFAULT_PORTS, text) ? (text as ProxyScheme) : undefined;
}

function decoded(text: string, source: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalidProxy(source);
  }
}

/** The value may hold a password, and is not repeated. */
function invalidProxy(source: string): FrontdoorError {
  const message = `${source} is not a proxy that can be used: give http://, https://, socks5:// or socks5h:// with host and port, such as http://user:password@proxy.example:3128, with special characters of the password percent-encoded`;
  return new FrontdoorError('invalid', 'proxy-url', message);
}

function exceptionsOf(text: string): ((target: OutwardTarget) => boolean)[] {
  return text
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .slice(0, MAX_EXCEPTIONS)
    .map((entry) => exceptionOf(entry.toLowerCase()));
}

/** `*`, a network, or a host with its subdomains; each of the latter two also with a port. */
function exceptionOf(entry: string): (target: OutwardTarget) => boolean {
  if (entry === '*') return () => true;
  const network = parseIpNetwork(entry.replace(/^\[([^\]]*)\]$/, '$1'));
  if (network !== undefined) return ({ host }) => isHostIn(host, network);
  const [, bracketed, plain = '', port] = /^(?:\[([^\]]+)\]|(.*?))(?::(\d{1,5}))?$/.exec(entry) ?? [];
  const isPort = (target: OutwardTarget): boolean => port === undefined || target.port === Number(port);
  const address = parseIpNetwork(bracketed ?? plain);
  if (address !== undefined) return (target) => isPort(target) && isHostIn(target.host, address);
  const name = plain.replace(/^\*?\.|\.$/g, '');
  return (target) => {
    const host = target.host.toLowerCase().replace(/\.$/, '');
    return isPort(target) && (host === name || host.endsWith(`.${name}`));
  };
}

function isHostIn(host: string, network: NonNullable<ReturnType<typeof parseIpNetwork>>): boolean {
  const address = parseAddress(host);
  return address !== undefined && isInNetwork(network, address);
}
