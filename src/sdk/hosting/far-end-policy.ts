/**
 * Decides which far end a circuit reaches: what the config fixes, and what the dialer asks for within the config's
 * limits. The texts of refusals are those of OpenZiti's tunnelers.
 */
import { addressText, isInNetwork, parseAddress } from '#domain';
import { translateAddress } from './address-translation-policy.ts';
import { grantOfName, hostNameOf, isAllowedIp, mayReach, type NameGrant } from './allowed-address-policy.ts';
import type { AllowedSource, HostProtocol, HostTarget } from './host-target.ts';

/** What the dialer sends with its circuit. All values are texts. */
export type AppData = Readonly<Record<string, unknown>>;

export interface FarEnd {
  readonly protocol: HostProtocol;
  /** An IP address or a name. */
  readonly host: string;
  readonly port: number;
  /** Decides about each address to which `host` is resolved. */
  mayReach(address: string): boolean;
}

/** The local address of the connection to the far end. The port is 0 for any. */
export interface SourceAddress {
  readonly host: string;
  readonly port: number;
}

export interface FarEndRefusal {
  readonly refused: string;
  readonly field: 'protocol' | 'address' | 'port' | 'source';
}

const PROTOCOL_KEY = 'dst_protocol';
const HOSTNAME_KEY = 'dst_hostname';
const IP_KEY = 'dst_ip';
const PORT_KEY = 'dst_port';
const SOURCE_KEY = 'source_addr';
const MAX_QUOTED_CHARS = 100;

export function farEndOf(target: HostTarget, appData: AppData): FarEnd | FarEndRefusal {
  const protocol = target.protocol ?? forwardedProtocol(target, appData);
  if (typeof protocol === 'object') return protocol;
  const address = target.address === undefined ? forwardedAddress(target, appData) : fixed(target.address);
  if ('refused' in address) return address;
  const port = target.port ?? forwardedPort(target, appData);
  if (typeof port === 'object') return port;
  return { protocol, ...address, port };
}

/** Returns undefined if the dialer asks for no source address. */
export function sourceAddressOf(
  allowed: readonly AllowedSource[],
  appData: AppData,
): SourceAddress | FarEndRefusal | undefined {
  const text = textOf(appData, SOURCE_KEY);
  if (text === undefined || text === '') return undefined;
  const match = /^(?:\[([^\]]+)\]|([^:]*)|(.*:.*:.*))(?::(\d{1,5}))?$/.exec(text);
  const host = match?.[1] ?? match?.[2] ?? match?.[3] ?? '';
  const port = Number(match?.[4] ?? 0);
  const bytes = parseAddress(host);
  if (bytes === undefined || port > 65_535)
    return { refused: `source address '${quoted(text)}' is not an address`, field: 'source' };
  if (!allowed.some(({ network }) => isInNetwork(network, bytes)))
    return {
      refused: `source address '${quoted(text)}' is not in allowed source addresses`,
      field: 'source',
    };
  return { host, port };
}

function forwardedProtocol({ allowedProtocols }: HostTarget, appData: AppData): HostProtocol | FarEndRefusal {
  const text = textOf(appData, PROTOCOL_KEY);
  if (text === undefined) return missing(PROTOCOL_KEY, 'protocol');
  return (
    allowedProtocols.find((allowed) => allowed === text) ?? {
      refused: `protocol '${quoted(text)}' is not in allowed protocols`,
      field: 'protocol',
    }
  );
}

type Reach = Pick<FarEnd, 'host' | 'mayReach'>;

/** The operator chose the address, so that a name may resolve to any. */
function fixed(host: string): Reach {
  return { host, mayReach: () => true };
}

function forwardedAddress(target: HostTarget, appData: AppData): Reach | FarEndRefusal {
  const text = textOf(appData, HOSTNAME_KEY) ?? textOf(appData, IP_KEY);
  if (text === undefined) return missing(IP_KEY, 'address');
  const { allowedAddresses: allowed, translations } = target;
  const bytes = parseAddress(text);
  if (bytes !== undefined && isAllowedIp(allowed, bytes))
    return fixed(addressText(translateAddress(translations, bytes)));
  const name = bytes === undefined ? hostNameOf(text) : undefined;
  const grant: NameGrant | undefined = name === undefined ? undefined : grantOfName(allowed, name);
  if (name === undefined || grant === undefined)
    return { refused: `address '${quoted(text)}' is not in allowed addresses`, field: 'address' };
  return { host: name, mayReach: (address) => mayReach(allowed, grant, address) };
}

function forwardedPort({ allowedPorts }: HostTarget, appData: AppData): number | FarEndRefusal {
  const text = textOf(appData, PORT_KEY);
  if (text === undefined) return missing(PORT_KEY, 'port');
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 65_536;
  if (port > 65_535) return { refused: `invalid destination port ${quoted(text)}`, field: 'port' };
  if (port > 0 && allowedPorts.some(({ low, high }) => port >= low && port <= high)) return port;
  return { refused: `port ${port} is not in allowed port ranges`, field: 'port' };
}

function missing(key: string, field: FarEndRefusal['field']): FarEndRefusal {
  return { refused: `${key} required but not provided`, field };
}

function textOf(appData: AppData, key: string): string | undefined {
  const value = Object.hasOwn(appData, key) ? appData[key] : undefined;
  return typeof value === 'string' ? value : undefined;
}

/** The text goes into logs and to the dialer. */
function quoted(text: string): string {
  return text.slice(0, MAX_QUOTED_CHARS).replaceAll(/[^\x20-\x7e]/g, '?');
}
