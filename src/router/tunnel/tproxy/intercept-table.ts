/** Which service an intercepted connection belongs to: the one whose address and ports describe its destination most exactly. */
import { isInNetwork, parseAddress, parseIpNetwork, type IpNetwork } from '#domain';
import { formatNamePattern, parseNamePattern } from '../dns/host-name-codec.ts';
import type { InterceptConfig } from '../services/tunnel-configs.ts';
import { addressesOf, type InterceptedProtocol } from './intercept-rule.ts';

export interface Intercept {
  readonly serviceId: string;
  readonly config: InterceptConfig;
}

export interface InterceptedPeer {
  readonly protocol: InterceptedProtocol;
  readonly sourceAddress: string;
  readonly destinationAddress: string;
  readonly destinationPort: number;
  /** Patterns of names that cover the destination, the most exact first; empty if the address is no name's. */
  readonly patterns: readonly string[];
}

interface Entry extends Intercept {
  readonly networks: readonly IpNetwork[];
  /** Networks of the clients that are intercepted; undefined for all clients. */
  readonly sources: readonly IpNetwork[] | undefined;
  /** Patterns in their normal form. */
  readonly names: readonly string[];
}

export class InterceptTable {
  readonly #entries = new Map<string, Entry>();

  set(intercept: Intercept): void {
    const { networks, names } = addressesOf(intercept.config);
    this.#entries.set(intercept.serviceId, {
      ...intercept,
      networks: networks.map((text) => parseIpNetwork(text)!),
      sources: intercept.config.allowedSourceAddresses?.flatMap((text) => parseIpNetwork(text) ?? []),
      names: names.flatMap((name) => {
        const pattern = parseNamePattern(name);
        return pattern === undefined ? [] : formatNamePattern(pattern);
      }),
    });
  }

  get(serviceId: string): Intercept | undefined {
    return this.#entries.get(serviceId);
  }

  delete(serviceId: string): void {
    this.#entries.delete(serviceId);
  }

  values(): Iterable<Intercept> {
    return this.#entries.values();
  }

  /** If two describe the destination equally well, the one with fewer ports wins, then the one that came first. */
  find(peer: InterceptedPeer): Intercept | undefined {
    const source = parseAddress(peer.sourceAddress);
    const destination = parseAddress(peer.destinationAddress);
    if (source === undefined || destination === undefined) return undefined;
    let best: { readonly entry: Entry; readonly rank: number; readonly ports: number } | undefined;
    for (const entry of this.#entries.values()) {
      const { config, sources } = entry;
      if (!config.protocols.includes(peer.protocol)) continue;
      if (sources?.some((network) => isInNetwork(network, source)) === false) continue;
      const ports = narrowestRange(config, peer.destinationPort);
      const rank = ports === undefined ? undefined : rankOf(entry, peer.patterns, destination);
      if (ports === undefined || rank === undefined) continue;
      if (best === undefined || rank > best.rank || (rank === best.rank && ports < best.ports))
        best = { entry, rank, ports };
    }
    return best?.entry;
  }
}

/** Returns the number of ports of the smallest range that has the port, or undefined if none has it. */
function narrowestRange({ portRanges }: InterceptConfig, port: number): number | undefined {
  const counts = portRanges
    .filter(({ low, high }) => low <= port && port <= high)
    .map(({ low, high }) => high - low + 1);
  return counts.length === 0 ? undefined : Math.min(...counts);
}

/** Above every prefix, so that names come before networks. */
const NAME_RANK = 1_000;

function rankOf(
  { networks, names }: Entry,
  patterns: readonly string[],
  destination: Uint8Array,
): number | undefined {
  const at = patterns.findIndex((pattern) => names.includes(pattern));
  if (at >= 0) return NAME_RANK - at;
  const prefixes = networks
    .filter((network) => isInNetwork(network, destination))
    .map(({ prefixBits }) => prefixBits);
  return prefixes.length === 0 ? undefined : Math.max(...prefixes);
}
