/**
 * Which packets are led to the router: those to a network and a range of ports, of one protocol. They follow from the
 * configs of the services, and the rules of the machine follow from them.
 */
import { networkText, parseIpNetwork, type IpNetwork } from '#domain';
import type { InterceptConfig } from '../services/tunnel-configs.ts';

export type InterceptedProtocol = 'tcp' | 'udp';

export interface InterceptRule {
  readonly protocol: InterceptedProtocol;
  readonly family: 4 | 6;
  /** In CIDR notation. */
  readonly network: string;
  /** Inclusive. */
  readonly ports: { readonly low: number; readonly high: number };
  /** Networks of clients in CIDR notation, of the same family; empty for all clients. */
  readonly sources: readonly string[];
}

/** The addresses of a config by their kinds. */
export interface InterceptedAddresses {
  readonly networks: readonly string[];
  /** Host names and `*.domain`. */
  readonly names: readonly string[];
}

export function addressesOf({ addresses }: InterceptConfig): InterceptedAddresses {
  const networks = addresses.filter((address) => parseIpNetwork(address) !== undefined);
  return { networks, names: addresses.filter((address) => !networks.includes(address)) };
}

/**
 * Returns the rules of a config for these networks. Clients whose addresses the config does not allow are not intercepted:
 * a config that allows none of a family has no rule for it.
 */
export function rulesFor(config: InterceptConfig, networks: readonly string[]): InterceptRule[] {
  const { allowedSourceAddresses: allowed } = config;
  return networks.flatMap((text) => {
    const network = parseIpNetwork(text)!;
    const family = familyOf(network);
    const sources = (allowed ?? []).flatMap((source) => {
      const parsed = parseIpNetwork(source);
      return parsed !== undefined && familyOf(parsed) === family ? [textOfNetwork(source, parsed)] : [];
    });
    if (allowed !== undefined && sources.length === 0) return [];
    return config.protocols.flatMap((protocol) =>
      config.portRanges.map((ports): InterceptRule => {
        return { protocol, family, network: textOfNetwork(text, network), ports, sources };
      }),
    );
  });
}

/** Identifies a rule among others. */
export function keyOfRule({ protocol, network, ports, sources }: InterceptRule): string {
  return [protocol, network, `${ports.low}-${ports.high}`, ...sources].join(' ');
}

function familyOf({ network }: IpNetwork): 4 | 6 {
  return network.length === 4 ? 4 : 6;
}

/** The programs that set rules refuse bits behind the prefix in some places, and v4-mapped addresses in all. */
function textOfNetwork(text: string, network: IpNetwork): string {
  if (network.network.length === 16) return text.includes('/') ? text : `${text}/128`;
  return networkText(network);
}
